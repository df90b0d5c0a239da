"""The journal: nothing acknowledged is lost, nothing is changed, and what stands follows from the events alone."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from healthbench.cli import app
from healthbench.errors import InputRefusedError, StoreError
from healthbench.review.effective import blind_decisions, decided_by, human_verdicts
from healthbench.review.transfer import as_csv, as_jsonl, from_text, import_file
from healthbench.store.journal import (
    FIELDS,
    Decision,
    Event,
    Item,
    Journal,
    Kind,
    Reviewer,
    in_order,
    standing,
)
from healthbench.store.review_file import FILE_NAME, ReviewFile

ANNA = Reviewer("Anna", "physician")
BEN = Reviewer("Ben", "nurse")
ITEM = Item("run1", 3, 0)

SCRIPT = """
import sys
from pathlib import Path
from healthbench.store.journal import Decision, Item, Journal, Reviewer
from healthbench.store.review_file import ReviewFile

path, name, start, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
journal = Journal(ReviewFile(path))
for number in range(start, start + count):
    event = journal.record(
        Item("run", number, 0), Reviewer(name, "physician"), Decision.MET, prompt_id=str(number), blind=True
    )
    print(event.id, flush=True)
"""


@pytest.fixture
def file(tmp_path):
    opened = ReviewFile(tmp_path / FILE_NAME)
    yield opened
    opened.close()


@pytest.fixture
def journal(file):
    return Journal(file)


def decide(journal, decision=Decision.MET, who=ANNA, item=ITEM, **more):
    return journal.record(item, who, decision, prompt_id="p", **more)


def start(path, name, first, count):
    command = [sys.executable, "-c", SCRIPT, str(path), name, str(first), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_decision_is_there_when_the_file_is_opened_again(tmp_path):
    first = ReviewFile(tmp_path / FILE_NAME)
    event = decide(Journal(first), note="sure", confidence="high", seconds=2.5, grader_met=False)
    first.close()
    second = ReviewFile(tmp_path / FILE_NAME)
    assert Journal(second).events() == [event]
    assert event.note == "sure"
    second.close()


def test_kill_at_ten_random_moments_loses_no_acknowledged_decision(tmp_path):
    # 200 decisions in ten goes; each go is killed after some acknowledgements and starts where those end.
    path = tmp_path / FILE_NAME
    rng = random.Random(7)
    acknowledged = []
    for go in range(10):
        child = start(path, "Anna", 20 * go, 200 - 20 * go)
        wanted = rng.randint(1, 20)
        acknowledged += [child.stdout.readline().strip() for _ in range(wanted)]
        threading.Event().wait(rng.random() / 50)
        child.send_signal(signal.SIGKILL)
        rest, _ = child.communicate()
        acknowledged += [line for line in rest.split("\n")[:-1] if line]
        assert child.returncode == -signal.SIGKILL
    reopened = ReviewFile(path)
    kept = {event.id for event in Journal(reopened).events()}
    reopened.close()
    assert len(acknowledged) >= 10
    assert set(acknowledged) <= kept
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_two_processes_writing_500_each_leave_1000_events(tmp_path):
    path = tmp_path / FILE_NAME
    children = [start(path, name, 0, 500) for name in ("Anna", "Ben")]
    acknowledged = [child.communicate()[0].split() for child in children]
    assert [child.returncode for child in children] == [0, 0]
    file = ReviewFile(path)
    events = Journal(file).events()
    file.close()
    assert len(events) == 1000
    assert {event.id for event in events} == {id_ for ids in acknowledged for id_ in ids}


def test_threads_of_one_process_share_a_journal(journal):
    def write(name):
        for number in range(50):
            decide(journal, who=Reviewer(name, "physician"), item=Item("run", number, 0))

    threads = [threading.Thread(target=write, args=(name,)) for name in "ABCD"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(journal.events("run")) == 200


def test_the_database_refuses_to_change_or_drop_an_event(file, journal):
    decide(journal)
    with sqlite3.connect(file.path) as other:
        for statement in ("UPDATE events SET decision = 'not met'", "DELETE FROM events"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                other.execute(statement)
    other.close()


def test_it_is_written_ahead_and_fully_synchronised(file):
    with file.reading() as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_revision_supersedes_and_both_are_kept(journal):
    first = decide(journal, Decision.MET, blind=True, grader_met=False)
    second = decide(journal, Decision.NOT_MET, blind=True, grader_met=False)
    assert second.supersedes == first.id
    assert (first.blind, second.blind) == (True, False)
    verdict = human_verdicts(journal.events())[ITEM]
    assert (verdict.met, verdict.event.id, verdict.overrides) == (False, second.id, False)
    assert blind_decisions(journal.events())[ITEM, "Anna"].id == first.id


def test_undo_brings_back_the_decision_before_and_then_none(journal):
    first = decide(journal, Decision.MET, blind=True)
    second = decide(journal, Decision.NOT_MET)
    undo = journal.undo(ITEM, ANNA)
    assert (undo.kind, undo.supersedes) == (Kind.UNDO, second.id)
    assert decided_by(journal.events(), "Anna")[ITEM].id == first.id
    journal.undo(ITEM, ANNA)
    assert journal.undo(ITEM, ANNA) is None
    assert human_verdicts(journal.events()) == {}
    assert len(journal.events()) == 4


def test_whoever_undid_a_blind_decision_has_seen_the_verdict(journal):
    decide(journal, Decision.MET, blind=True)
    journal.undo(ITEM, ANNA)
    again = decide(journal, Decision.NOT_MET, blind=True)
    assert not again.blind
    assert blind_decisions(journal.events()) == {}


def test_nobody_undoes_the_decision_of_another(journal):
    mine = decide(journal, who=ANNA)
    assert journal.undo(ITEM, BEN) is None
    forged = dataclasses.replace(
        mine, id="x", kind="undo", decision=None, reviewer="Ben", supersedes=mine.id
    )
    journal.merge([forged])
    assert human_verdicts(journal.events())[ITEM].met is True


def test_the_latest_verdict_counts_and_a_difference_is_contested_until_adjudicated(journal):
    decide(journal, Decision.MET, ANNA, grader_met=True)
    decide(journal, Decision.NOT_MET, BEN, grader_met=True)
    verdict = human_verdicts(journal.events())[ITEM]
    assert (verdict.met, verdict.contested, verdict.overrides) == (False, True, True)
    decide(journal, Decision.MET, Reviewer("Chris", "physician"), kind=Kind.ADJUDICATION)
    decide(journal, Decision.NOT_MET, ANNA)
    decide(journal, Decision.MET, ANNA)
    decide(journal, Decision.NOT_MET, BEN)
    verdict = human_verdicts(journal.events())[ITEM]
    assert (verdict.met, verdict.contested, verdict.differ) == (True, False, True)
    journal.undo(ITEM, Reviewer("Chris", "physician"), Kind.ADJUDICATION)
    assert human_verdicts(journal.events())[ITEM].contested


def test_cannot_judge_takes_no_verdict_away(journal):
    decide(journal, Decision.CANNOT_JUDGE, BEN)
    assert human_verdicts(journal.events())[ITEM].met is None
    decide(journal, Decision.NOT_MET, ANNA)
    decide(journal, Decision.CANNOT_JUDGE, BEN)
    verdict = human_verdicts(journal.events())[ITEM]
    assert (verdict.met, verdict.contested) == (False, False)


def test_a_clock_set_back_does_not_reorder_decisions(journal):
    first = decide(journal, Decision.MET)
    ahead = dataclasses.replace(
        first, id="ahead", at="2999-01-01T00:00:00.000000+00:00", reviewer="Ben"
    )
    journal.merge([ahead])
    later = decide(journal, Decision.NOT_MET)
    assert later.at > ahead.at
    assert human_verdicts(journal.events())[ITEM].event.id == later.id


def test_a_review_needs_a_name(journal):
    with pytest.raises(InputRefusedError, match="name"):
        decide(journal, who=Reviewer("  ", "physician"))


def test_the_version_grows_with_every_event_of_a_run(journal):
    assert journal.version("run1") == 0
    decide(journal)
    first = journal.version("run1")
    decide(journal, item=Item("run2", 0, 0))
    assert journal.version("run1") == first
    journal.undo(ITEM, ANNA)
    assert journal.version("run1") > first


def test_known_reviewers_come_latest_first_with_their_last_role(journal):
    decide(journal, who=ANNA)
    decide(journal, who=BEN)
    decide(journal, who=Reviewer("Anna", "adjudicator"))
    assert journal.reviewers() == [Reviewer("Anna", "adjudicator"), BEN]


def test_a_newer_layout_is_refused_and_left_alone(tmp_path):
    path = tmp_path / FILE_NAME
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StoreError, match="newer version"):
        ReviewFile(path)


def test_a_file_that_is_no_database_is_one_sentence(tmp_path):
    path = tmp_path / FILE_NAME
    path.write_text("not a database, but long enough to be taken for a header of one. " * 20)
    with pytest.raises(StoreError, match="reviews cannot be used"):
        ReviewFile(path)


# Export, import, merge


@pytest.mark.parametrize("write", [as_jsonl, as_csv])
def test_export_and_import_bring_back_every_field(journal, tmp_path, write):
    decide(
        journal,
        Decision.NOT_MET,
        note='two\r\nlines, "quoted"; ünïcode \U0001f600 = +1',
        reason="grader misread the reply",
        confidence="low",
        blind=True,
        grader_met=True,
        seconds=0.1 + 0.2,
        queue="q",
        chance=1 / 3,
    )
    decide(journal, Decision.CANNOT_JUDGE, BEN)
    journal.undo(ITEM, ANNA)
    path = tmp_path / "reviews"
    path.write_bytes(write(journal.events()).encode())
    other = ReviewFile(tmp_path / "other.sqlite")
    assert import_file(Journal(other), path) == (3, 0)
    assert Journal(other).events() == journal.events()
    assert import_file(Journal(other), path) == (0, 3)
    other.close()


def test_journals_of_two_machines_merge_to_the_same_either_way(tmp_path):
    files = [ReviewFile(tmp_path / f"{name}.sqlite") for name in "ab"]
    here, there = (Journal(file) for file in files)
    decide(here, Decision.MET, ANNA)
    decide(there, Decision.NOT_MET, BEN)
    decide(here, Decision.NOT_MET, ANNA)
    mine, theirs = here.events(), there.events()
    assert here.merge(theirs) == (1, 0)
    assert there.merge(mine) == (2, 0)
    assert here.events() == there.events()
    assert human_verdicts(here.events()) == human_verdicts(there.events())
    for file in files:
        file.close()


def test_an_edited_review_is_refused_and_nothing_is_added(journal):
    event = decide(journal)
    edited = dataclasses.replace(event, decision="not met")
    fresh = dataclasses.replace(event, id="fresh")
    with pytest.raises(InputRefusedError, match="other content"):
        journal.merge([fresh, edited])
    assert journal.events() == [event]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"decision": "maybe"}, "'decision' cannot be read"),
        ({"example": -1}, "'example' cannot be read"),
        ({"example": True}, "'example' cannot be read"),
        ({"example": 2**70}, "'example' cannot be read"),
        ({"at": "yesterday"}, "'at' cannot be read"),
        ({"at": "2026-01-01T00:00:00"}, "'at' cannot be read"),
        ({"chance": 0}, "'chance' cannot be read"),
        ({"grader_met": "yes"}, "'grader_met' cannot be read"),
        ({"reviewer": None}, "has no 'reviewer'"),
        ({"reviewer": ["Anna"]}, "'reviewer' cannot be read"),
        ({"kind": "undo"}, "has no decision"),
        ({"decision": None}, "needs a decision"),
        ({"reviewer": " \u200b"}, "'reviewer' cannot be read"),
        ({"id": ""}, "has no 'id'"),
        ({"note": "\ud800"}, "'note' cannot be read"),
        ({"reviewer": "\udfff"}, "'reviewer' cannot be read"),
        ({"at": "9999-12-31T23:59:59+00:00"}, "'at' cannot be read"),
    ],
)
def test_a_bad_line_is_one_sentence_with_its_place(journal, change, complaint):
    good = json.loads(as_jsonl([decide(journal)]))
    text = json.dumps(good) + "\n" + json.dumps({**good, **change})
    with pytest.raises(InputRefusedError, match=f"f.jsonl, line 2.*{complaint}"):
        from_text(text, "f.jsonl")


def test_a_file_of_something_else_is_refused(journal, tmp_path):
    with pytest.raises(InputRefusedError, match="no file of reviews"):
        from_text("prompt_id,score\na,1\n", "run.csv")
    for damaged in ('{"id": "a"\n', '{"id": ' + "[" * 200_000, '{"id": ' * 200_000):
        with pytest.raises(InputRefusedError, match="no JSON object"):
            from_text(damaged, "cut.jsonl")
    for damaged in ("x" * 200_000, '"never closed', "\0"):
        with pytest.raises(InputRefusedError, match="has no 'at'"):
            from_text(",".join(FIELDS) + "\n" + damaged, "cut.csv")
    binary = tmp_path / "run.parquet"
    binary.write_bytes(b"PAR1\xff\xfe")
    with pytest.raises(InputRefusedError, match="UTF-8"):
        import_file(journal, binary)


def test_the_command_line_exports_and_merges(journal, file, tmp_path, monkeypatch):
    decide(journal, note="kept")
    decide(journal, item=Item("run2", 0, 0))
    monkeypatch.setenv("HEALTHBENCH_HOME", str(file.path.parent))
    command = CliRunner()
    for name, run in (("all.jsonl", []), ("one.csv", ["--run", "run2"])):
        done = command.invoke(app, ["reviews", "export", str(tmp_path / name), *run])
        assert done.exit_code == 0, done.output
    assert command.invoke(app, ["reviews", "export"]).stdout == as_jsonl(journal.events())
    monkeypatch.setenv("HEALTHBENCH_HOME", str(tmp_path / "elsewhere"))
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n")
    paths = [str(tmp_path / name) for name in ("all.jsonl", "bad.csv", "one.csv")]
    done = command.invoke(app, ["reviews", "import", *paths])
    assert done.exit_code == 2
    assert "all.jsonl: 2 events added, 0 known already." in done.stdout
    assert "one.csv: 0 events added, 1 known already." in done.stdout
    assert "bad.csv is no file of reviews" in done.stderr
    elsewhere = ReviewFile(tmp_path / "elsewhere" / FILE_NAME)
    assert Journal(elsewhere).events() == journal.events()
    elsewhere.close()


events = st.builds(
    Event,
    id=st.uuids().map(lambda value: value.hex),
    at=st.datetimes(min_value=datetime(2026, 1, 1), max_value=datetime(2026, 12, 31)).map(  # noqa: DTZ001 - UTC is added
        lambda moment: moment.isoformat(timespec="microseconds") + "+00:00"
    ),
    kind=st.just("decision"),
    run=st.just("run1"),
    example=st.integers(0, 2),
    position=st.just(0),
    prompt_id=st.just("p"),
    reviewer=st.sampled_from(["Anna", "Ben"]),
    role=st.just("physician"),
    decision=st.sampled_from(["met", "not met", "cannot judge"]),
    note=st.none()
    | st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
    | st.text("'=+-@\t\r\n\", \0", min_size=1),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(events, max_size=8), st.randoms(use_true_random=False))
def test_what_stands_does_not_depend_on_the_order_of_arrival(found, rng):
    shuffled = list(found)
    rng.shuffle(shuffled)
    assert standing(shuffled) == standing(found)
    assert human_verdicts(shuffled) == human_verdicts(found)


def test_no_cell_of_a_csv_runs_in_a_spreadsheet_and_every_note_comes_back(journal, tmp_path):
    notes = ["=HYPERLINK(1)", "+1", "-1", "@a", "'=quoted", "'", "''=x", "x" * 200_000, "a\rb\nc"]
    for note in notes:
        decide(journal, who=BEN._replace(name="=cmd|' /C calc'!A0"), note=note)
    text = as_csv(journal.events())
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    path = tmp_path / "reviews.csv"
    # A spreadsheet that saves the file again writes True and False in capitals.
    path.write_bytes(text.replace('"False"', "FALSE").encode())
    assert import_file(journal, path) == (0, len(notes))


SPELLINGS = (
    "Jos\u00e9 Anna",
    "Jose\u0301 Anna",
    " Jos\u00e9\u00a0 Anna\u200b",
    "\ufeffJos\u00e9\tAnna",
)


def test_one_reviewer_in_every_spelling_of_a_name(journal):
    decide(journal, who=Reviewer(SPELLINGS[0], "nurse"), blind=True)
    for name in SPELLINGS[1:]:
        # Whoever was shown the grader's verdict is not blind for having typed the name on another keyboard.
        again = decide(journal, who=Reviewer(name, "nurse"), blind=True)
        assert (again.reviewer, again.blind) == ("Jos\u00e9 Anna", False)
        row = json.loads(as_jsonl([again])) | {"id": f"from elsewhere {name!r}", "reviewer": name}
        assert from_text(json.dumps(row), "f")[0].reviewer == "Jos\u00e9 Anna"
    assert len(journal.reviewers()) == 1
    assert journal.undo(ITEM, Reviewer(SPELLINGS[1], "nurse")) is not None
    # Half of a surrogate pair cannot be kept, and is still the same person every time.
    assert decide(journal, who=Reviewer("\ud800 Ann", "nurse"), blind=True).blind
    assert not decide(journal, who=Reviewer("\ud800 Ann", "nurse"), blind=True).blind
    with pytest.raises(InputRefusedError, match="name"):
        decide(journal, who=Reviewer("\u200b \ufeff", "nurse"))


@settings(max_examples=40, deadline=None)
@given(st.lists(events, max_size=5, unique_by=lambda event: event.id))
def test_every_export_reads_back(found):
    for write in (as_jsonl, as_csv):
        text = write(found)
        if found or write is as_csv:
            assert in_order(from_text(text, "f")) == in_order(found)
    assert as_csv([]).strip() == ",".join(FIELDS)
