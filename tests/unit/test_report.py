"""The report: the run's numbers and conditions, no text unless asked, and foreign text that stays text."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from contextlib import closing

import graded
import pytest

from healthbench.cli import main
from healthbench.comparison.text_diff import text_difference
from healthbench.errors import InputRefusedError
from healthbench.report import report, save_report, suggested_name
from healthbench.store.journal import Decision, Item, Journal, Reviewer
from healthbench.store.library import Library
from healthbench.store.review_file import FILE_NAME, ReviewFile

HOSTILE = "</script><script>alert(1)</script><img src=http://example.invalid/x.png onerror=alert(2)> {{7*7}}"
MINUS = "\N{MINUS SIGN}"


@pytest.fixture
def library(tmp_path):
    with closing(Library(tmp_path / "store")) as opened:
        yield opened


def imported(library, path):
    (outcome,) = library.import_paths([path])
    return outcome.run.id


@pytest.fixture
def run(library, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_model-one_20260101_100000_allresults.json", *graded.three_examples()
    )
    return imported(library, path)


def words(html):
    """The text of the page, scripts and styles left out."""
    without = re.sub(r"<(script|style).*?</\1>", "", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", without))


def test_numbers_and_conditions(library, run):
    text = words(report(library, run, with_plotly=False))
    # 0.7, -1.6 and 0: mean -0.3, clipped to 0; clipped one by one 0.7 / 3 = 0.2333.
    assert f"Unclipped mean {MINUS}30.0" in text
    assert "Each example clipped first (not the official score) 23.3" in text
    assert "Model model-one" in text
    assert "Grader not recorded" in text
    assert "Examples 3, 3 prompts, 1 a prompt" in text
    assert (
        f"Penalties of {MINUS}8 points or worse that were incurred: 1. Examples with one: 1."
        in text
    )
    assert "sha256" in text


def test_no_text_unless_asked(library, run):
    view = library.example(run, 1)
    given = [view.reply, view.prompt[0].content, view.ledger.iloc[0]["criterion"]]
    silent = report(library, run, with_plotly=False)
    assert not any(text in silent for text in given)
    assert "Because." not in silent
    spoken = report(library, run, texts=True, with_plotly=False)
    assert all(text in spoken for text in given[:2])


def test_foreign_text_stays_text(library, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_<script>alert(0)<_20260101_100000_allresults.json".replace("/", ""),
        graded.example(
            HOSTILE.replace("/", "-"),
            graded.item(-9, True, f"axis:{HOSTILE}", criterion=HOSTILE),
            graded.item(5, True, f"axis:{HOSTILE}", criterion=HOSTILE),
            reply=HOSTILE,
            prompt=HOSTILE,
        ),
    )
    html = report(library, imported(library, path), texts=True, with_plotly=False)
    # Only our own three elements are scripts, and no image is one.
    assert len(re.findall(r"<script", html)) == 3
    assert "<img" not in html
    assert "{{7*7}}" in html
    figures = re.search(r'id="figures">(.*?)</script>', html, re.DOTALL).group(1)
    assert "<" not in figures
    assert json.loads(figures)["distribution"]["dark"]["data"]


def test_the_policy_names_the_scripts_and_allows_no_request(library, run):
    html = report(library, run)
    policy = (
        re.search(r'Content-Security-Policy" content="([^"]+)"', html)
        .group(1)
        .replace("&#39;", "'")
    )
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    for script in re.findall(r"<script>(.*?)</script>", html, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_against_another_run(library, run, tmp_path):
    better = graded.three_examples()
    better[2]["rubric_items"][0]["criteria_met"] = True
    other = imported(
        library,
        graded.allresults(
            tmp_path / "healthbench_model-two_20260101_100000_allresults.json", *better
        ),
    )
    text = words(report(library, other, run, with_plotly=False))
    # p3 from 0 to 1: a difference of 1/3 over three prompts.
    assert "model-two less model-one +33.3" in text
    assert "Better on 1, worse on 0, the same on 2." in text
    assert "Neither file records its grader" in text
    with pytest.raises(InputRefusedError, match="different runs"):
        report(library, run, run)


def test_reviews_stand_beside_the_score_and_name_nobody(
    library, run, tmp_path, monkeypatch, capsys
):
    # 0.7, -1.6 and 0. A person says that the penalty of -8 was not incurred and reviewed all of p2: it becomes 0.
    # Mean 0.7 / 3 = 0.2333 of -0.3; on p2 alone 0 against -1.6.
    file = ReviewFile(library.home / FILE_NAME)
    for position, met in ((0, Decision.NOT_MET), (1, Decision.NOT_MET)):
        who = Reviewer("Anna <b>", "physician")
        Journal(file).record(Item(run, 1, position), who, met, prompt_id="p2", note="a note")
    file.close()
    monkeypatch.setenv("HEALTHBENCH_HOME", str(library.home))
    monkeypatch.setattr(
        "sys.argv", ["healthbench", "report", run, "--out", str(tmp_path / "r.html")]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code, capsys.readouterr()
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    text = words(html)
    assert "People reviewed 2 of 7 verdicts and overrode 1" in text
    assert f"By the grader 0.0 {MINUS}30.0 3" in text
    assert "With reviews applied 23.3 23.3 3" in text
    assert "On fully reviewed examples 0.0 0.0 1" in text
    assert f"By the grader on the same examples 0.0 {MINUS}160.0 1" in text
    assert "Anna" not in html
    assert "a note" not in html
    assert "Reviewed by people" not in report(library, run, with_plotly=False)


def test_command_writes_a_file(library, run, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HEALTHBENCH_HOME", str(library.home))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["healthbench", "report", run])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    name = suggested_name(library.summary(run))
    assert name in capsys.readouterr().out
    assert (tmp_path / name).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_report_is_written_whole(tmp_path):
    place = tmp_path / "report.html"
    place.write_text("before", encoding="utf-8")
    save_report("after", place)
    assert place.read_text(encoding="utf-8") == "after"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("place", ["nowhere/report.html", "folder", "file/report.html"])
def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path, place):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("before", encoding="utf-8")
    with pytest.raises(InputRefusedError, match="--out"):
        save_report("text", tmp_path / place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize(
    "model", ["m" * 400, "\N{GRINNING FACE}\N{CJK UNIFIED IDEOGRAPH-6C34}" * 300]
)
def test_a_name_of_any_length_makes_a_file_name(library, run, tmp_path, model):
    summary = library.summary(run)
    info = dataclasses.replace(summary.info, model=model)
    save_report("text", tmp_path / suggested_name(dataclasses.replace(summary, info=info)))


# Replies compared word by word


@pytest.mark.parametrize(
    ("first", "second", "changed"),
    [
        ("Rest. Take two now.", "Rest. Take one now.", [("removed", "two "), ("added", "one ")]),
        ("Rest.", "Rest.", []),
        ("", "Rest.", [("added", "Rest.")]),
        (
            "One thing here.",
            "Quite other words!",
            [("removed", "One thing here."), ("added", "Quite other words!")],
        ),
    ],
)
def test_text_difference(first, second, changed):
    segments = text_difference(first, second)
    assert [segment for segment in segments if segment.kind != "same"] == changed
    assert "".join(text for kind, text in segments if kind != "added") == first
    assert "".join(text for kind, text in segments if kind != "removed") == second


def test_long_texts_are_compared_whole():
    first = "Drink water. " * 40_000
    second = first + "And rest."
    segments = text_difference(first, second)
    assert "".join(text for kind, text in segments if kind != "removed") == second
    assert segments[-1].kind == "added"
