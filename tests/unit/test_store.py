"""The store: what goes in comes out, whole or not at all, and its SQL counts as scoring/example.py does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import closing
from pathlib import Path

import graded
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from healthbench.errors import StoreError
from healthbench.model import Criterion, GradedExample, ImportReport, Message, RunInfo, Verdict
from healthbench.readers import RunSource
from healthbench.scoring.example import state_of
from healthbench.scoring.run_scores import from_examples
from healthbench.store.folders import PassingFolder
from healthbench.store.library import Library
from healthbench.store.records import ExampleFilter
from healthbench.store.run_folder import write_run


@pytest.fixture
def library(tmp_path):
    with closing(Library(tmp_path / "store")) as opened:
        yield opened


def imported(library, path):
    (outcome,) = library.import_paths([path])
    assert outcome.refusal is None
    return outcome.run


# What goes in comes out


def test_a_run_is_kept_with_every_text_and_verdict(library, tmp_path):
    odd = "<script>alert(1)</script> {{7*7}} ![x](http://example.invalid/x.png) \u0000 ok 🩺 مرحبا"
    path = graded.allresults(
        tmp_path / "healthbench_some-model_20260101_120000_allresults.json",
        graded.example(
            "p1",
            graded.item(7, True, "axis:accuracy", criterion=odd, explanation=odd),
            reply=odd,
            prompt=odd,
        ),
    )
    run = imported(library, path)
    view = library.example(run.id, 0)
    assert view.reply == odd
    assert view.prompt == [Message("user", odd)]
    assert view.characters == len(odd)
    line = view.ledger.iloc[0]
    assert (line["criterion"], line["explanation"], line["points"], line["met"]) == (
        odd,
        odd,
        7,
        True,
    )
    assert run.info.model == "some-model"


def test_headline_of_three_examples(library, tmp_path):
    run = imported(library, graded.allresults(tmp_path / "r.json", *graded.three_examples()))
    # 0.7, -1.6 and 0.0: mean -0.9 / 3 = -0.3, clipped once to 0; clipped one by one (0.7 + 0 + 0) / 3.
    assert run.headline.unclipped == pytest.approx(-0.3, abs=1e-12)
    assert run.headline.score == 0
    assert run.headline.early_clipped == pytest.approx(0.7 / 3, abs=1e-12)
    assert run.headline.below_zero == 1
    assert (run.n_examples, run.n_prompts, run.n_items, run.n_unknown) == (3, 3, 7, 0)


def test_the_same_content_is_one_run_whatever_its_name(library, tmp_path):
    first = graded.allresults(tmp_path / "one.json", *graded.three_examples())
    second = tmp_path / "two.json"
    second.write_bytes(first.read_bytes())
    run = imported(library, first)
    (again,) = library.import_paths([second])
    assert again.already_there
    assert again.run.id == run.id
    assert len(library.runs()) == 1


def test_repeats_of_a_prompt_are_numbered(library, tmp_path):
    rows = [
        graded.example("p1", graded.item()),
        graded.example("p2", graded.item()),
        graded.example("p1", graded.item()),
    ]
    run = imported(library, graded.allresults(tmp_path / "r.json", *rows))
    assert [library.example(run.id, row).repeat for row in range(3)] == [0, 0, 1]
    assert library.example(run.id, 2).n_repeats == 2
    assert library.run_scores(run.id).prompt.tolist() == [0, 1, 0]


def test_the_same_criterion_twice_in_an_example_keeps_two_verdicts(library, tmp_path):
    twice = [
        graded.item(5, True, criterion="Same words"),
        graded.item(5, False, criterion="Same words"),
    ]
    run = imported(library, graded.allresults(tmp_path / "r.json", graded.example("p1", *twice)))
    view = library.example(run.id, 0)
    assert view.ledger["met"].tolist() == [True, False]
    assert view.tally.score == 0.5


def test_lone_surrogates_do_not_stop_an_import(library):
    source = source_of(
        [
            GradedExample(
                "p",
                [Message("user", "\ud83d")],
                "a \ud83d b",
                [CRITERION],
                [Verdict(True, "\udc00")],
            )
        ]
    )
    written = write_run(library.home / "runs", source)
    assert library.example(written.id, 0).reply == "a ? b"


def test_a_run_removed_is_gone_and_can_be_imported_again(library, tmp_path):
    path = graded.allresults(tmp_path / "r.json", *graded.three_examples())
    run = imported(library, path)
    library.run_scores(run.id)
    library.remove(run.id)
    assert library.runs() == []
    with pytest.raises(StoreError, match="import its file again"):
        library.run_scores(run.id)
    assert imported(library, path).id == run.id
    assert library.run_scores(run.id).n_examples == 3


# Scores are defined once

CRITERION = Criterion("Says so", 5.0, ("axis:accuracy",))


def source_of(examples):
    info, report = RunInfo("made.json", "made"), ImportReport()
    return RunSource(info, report, (Path(__file__),), str(time.time_ns()), lambda: iter(examples))


tags = st.lists(
    st.sampled_from(
        [
            "axis:accuracy",
            "axis:completeness",
            "level:example",
            "level:cluster",
            "cluster:hedging_no-uncertainty_hedges",
        ]
    ),
    max_size=3,
).map(tuple)
points = st.one_of(
    st.integers(-10, 10).filter(bool).map(float),
    st.floats(-10, 10).filter(lambda value: abs(value) > 1e-3),
)
verdicts = st.builds(
    Verdict,
    st.sampled_from([True, False, None]),
    st.none(),
    st.sampled_from([None, None, None, "Failed to parse"]),
)
rubrics = st.lists(st.tuples(points, tags, verdicts), max_size=6)


@st.composite
def runs(draw):
    examples = []
    for _ in range(draw(st.integers(1, 6))):
        graded_items = draw(rubrics)
        examples.append(
            GradedExample(
                prompt_id=draw(st.sampled_from(["p1", "p2", "p3"])),
                prompt=[Message("user", "Q")],
                reply=draw(
                    st.text(max_size=5).filter(
                        lambda text: not any("\ud800" <= c <= "\udfff" for c in text)
                    )
                ),
                criteria=[
                    Criterion(f"c{place}", value, own)
                    for place, (value, own, _) in enumerate(graded_items)
                ],
                verdicts=[verdict for _, _, verdict in graded_items],
                example_tags=draw(
                    st.sampled_from([None, ("theme:hedging",), ("theme:hedging", "consult")])
                ),
            )
        )
    return examples


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(runs())
def test_the_store_counts_points_as_the_definition_does(library, examples):
    written = write_run(library.home / "runs", source_of(examples))
    ours, defined = library.run_scores(written.id), from_examples(examples)
    assert sorted(ours.metrics) == sorted(defined.metrics)
    assert ours.characters.tolist() == defined.characters.tolist()
    for name, metric in defined.metrics.items():
        stored = ours.metrics[name]
        assert stored.example.tolist() == metric.example.tolist()
        for part in ("scores", "lows", "highs"):
            np.testing.assert_allclose(
                getattr(stored, part), getattr(metric, part), rtol=0, atol=1e-9 if name else 0
            )
        assert stored.n_unknown.tolist() == metric.n_unknown.tolist()
        np.testing.assert_allclose(stored.negative, metric.negative, rtol=0, atol=1e-12)
    for row, one in enumerate(examples):
        expected = [
            state_of(c.points, v.met).value for c, v in zip(one.criteria, one.verdicts, strict=True)
        ]
        assert library.example(written.id, row).ledger["state"].tolist() == expected


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(runs())
def test_counting_failed_grades_as_the_file_does_makes_them_not_met(library, examples):
    written = write_run(library.home / "runs", source_of(examples))
    as_in_file = [
        GradedExample(
            one.prompt_id,
            one.prompt,
            one.reply,
            one.criteria,
            [Verdict(v.stored) for v in one.verdicts],
            one.example_tags,
        )
        for one in examples
    ]
    ours, defined = library.run_scores(written.id, as_stored=True), from_examples(as_in_file)
    np.testing.assert_allclose(ours.overall.scores, defined.overall.scores, rtol=0, atol=1e-9)
    assert ours.overall.n_unknown.tolist() == defined.overall.n_unknown.tolist()


# Themes


def test_themes_come_from_the_file_else_the_data_set_else_the_clusters(library, tmp_path):
    rows = graded.three_examples()
    run = imported(library, graded.allresults(tmp_path / "r.json", *rows))
    # Only p2 has a consensus cluster, so only its theme can be inferred; inferred themes are asked for by name.
    assert library.themes_from(run.id) == "inferred"
    assert "theme:hedging" not in library.run_scores(run.id).metrics
    assert library.run_scores(run.id, inferred=True).metrics["theme:hedging"].example.tolist() == [
        1
    ]
    library.attach_dataset(
        graded.dataset(
            tmp_path / "d.jsonl",
            graded.dataset_row("p1", graded.item(), tags=("theme:hedging",)),
            graded.dataset_row("p2", graded.item(), tags=("theme:emergency_referrals",)),
        )
    )
    assert library.themes_from(run.id) == "dataset"
    scores = library.run_scores(run.id)
    assert scores.metrics["theme:hedging"].example.tolist() == [0]
    assert scores.metrics["theme:emergency_referrals"].example.tolist() == [1]
    assert library.example(run.id, 1).tags == {"theme:emergency_referrals": "dataset"}


# Whole or not at all


def test_a_file_that_changes_while_it_is_read_is_refused(library, tmp_path):
    path = graded.allresults(tmp_path / "r.json", *graded.three_examples())

    def touch(progress):
        if progress.examples:
            os.utime(path, ns=(1, 1))

    (outcome,) = library.import_paths([path], progress=touch)
    assert "changed while it was read" in outcome.refusal
    assert library.runs() == []


def test_a_run_without_examples_is_refused(library, tmp_path):
    (outcome,) = library.import_paths([graded.allresults(tmp_path / "r.json")])
    assert "r.json" in outcome.refusal
    assert library.runs() == []


def test_an_import_that_is_stopped_leaves_nothing(library, tmp_path):
    class StopError(Exception):
        pass

    def stop(progress):
        if progress.examples:
            raise StopError

    with pytest.raises(StopError):
        library.import_paths(
            [graded.allresults(tmp_path / "r.json", *graded.three_examples())], progress=stop
        )
    assert list((library.home / "runs").iterdir()) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a small file system limit")
def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path):
    path = graded.allresults(
        tmp_path / "r.json",
        *[graded.example(f"p{n}", graded.item(), reply=os.urandom(4000).hex()) for n in range(300)],
    )
    script = """
        import resource, sys
        from pathlib import Path
        from healthbench.errors import StoreError
        from healthbench.store.library import Library
        library = Library(Path(sys.argv[1]))
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        try:
            library.import_paths([Path(sys.argv[2])])
        except StoreError as error:
            print(error)
    """
    store = tmp_path / "store"
    done = run_script(script, store, path)
    assert "no room on the disk" in done
    assert list((store / "runs").iterdir()) == []


def test_an_import_killed_in_the_middle_leaves_no_run_and_the_next_start_clears_it(tmp_path):
    rows = [
        graded.example(f"p{n}", *graded.three_examples()[n % 3]["rubric_items"])
        for n in range(3000)
    ]
    path = graded.allresults(tmp_path / "r.json", *rows)
    script = """
        import os, signal, sys
        from pathlib import Path
        from healthbench.store.library import Library
        def die(progress):
            if progress.examples >= 2750:
                os.kill(os.getpid(), signal.SIGKILL)
        Library(Path(sys.argv[1])).import_paths([Path(sys.argv[2])], progress=die)
    """
    store = tmp_path / "store"
    assert run_script(script, store, path, expected=-signal.SIGKILL) == ""
    assert any(entry.name.startswith(".incoming-") for entry in (store / "runs").iterdir())
    with closing(Library(store)) as library:
        assert library.runs() == []
        assert list((store / "runs").iterdir()) == []
        assert imported(library, path).n_examples == 3000


def test_what_a_killed_process_had_uploaded_is_cleared_and_what_a_living_one_has_is_not(tmp_path):
    script = """
        import os, signal, sys
        from pathlib import Path
        from healthbench.store.folders import PassingFolder
        folder = PassingFolder(Path(sys.argv[1]) / "uploads")
        (folder.path / "r.json").write_text("{}")
        os.kill(os.getpid(), signal.SIGKILL)
    """
    store = tmp_path / "store"
    run_script(script, store, expected=-signal.SIGKILL)
    assert list((store / "uploads").glob("*/r.json"))
    living = PassingFolder(store / "uploads")
    with closing(Library(store)):
        assert [path.name for path in (store / "uploads").iterdir() if path.is_dir()] == [
            living.path.name
        ]
    del living
    assert list((store / "uploads").iterdir()) == []


def test_what_another_process_is_importing_is_not_cleared(tmp_path):
    path = graded.allresults(tmp_path / "r.json", *graded.three_examples())
    store = tmp_path / "store"
    seen = []

    def open_another(_):
        with closing(Library(store)) as other:
            seen.append(other.runs())

    with closing(Library(store)) as library:
        (outcome,) = library.import_paths([path], progress=open_another)
        assert seen
        assert all(runs == [] for runs in seen)
        assert outcome.run is not None


def test_two_processes_see_each_others_runs_and_import_at_the_same_time(tmp_path):
    store = tmp_path / "store"
    files = [
        graded.allresults(
            tmp_path / f"r{n}.json",
            *graded.three_examples(),
            graded.example(f"extra{n}", graded.item()),
        )
        for n in range(6)
    ]
    script = """
        import sys
        from pathlib import Path
        from healthbench.store.library import Library
        library = Library(Path(sys.argv[1]))
        for path in sys.argv[2:]:
            (outcome,) = library.import_paths([Path(path)])
            assert library.run_scores(outcome.run.id).n_examples == 4
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(store)]
    both = [subprocess.Popen([*command, *map(str, order)]) for order in (files, files[::-1])]
    with closing(Library(store)) as library:
        assert [process.wait(120) for process in both] == [0, 0]
        assert len(library.runs()) == 6


def test_an_unknown_layout_says_import_again_and_hides_no_other_run(library, tmp_path):
    run = imported(library, graded.allresults(tmp_path / "r.json", *graded.three_examples()))
    other = imported(
        library, graded.allresults(tmp_path / "s.json", graded.example("p", graded.item()))
    )
    record = library.home / "runs" / run.id / "run.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"schema_version": 999}))
    assert [known.id for known in library.runs()] == [other.id]
    (unreadable,) = library.unreadable()
    assert "import its file again" in unreadable.reason
    with pytest.raises(StoreError, match="another version"):
        library.summary(run.id)


def test_a_damaged_record_is_a_sentence(library, tmp_path):
    run = imported(library, graded.allresults(tmp_path / "r.json", *graded.three_examples()))
    (library.home / "runs" / run.id / "run.json").write_text("{")
    assert library.runs() == []
    assert "damaged" in library.unreadable()[0].reason


def run_script(script, *arguments, expected=0):
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == expected, done.stderr
    return done.stdout.strip()


# Filters


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        (ExampleFilter(), [0, 1, 2]),
        (ExampleFilter(axes=("axis:accuracy",)), [0, 1]),
        (ExampleFilter(axes=("axis:accuracy",), states=("incurred",)), [1]),
        # p1 has an accuracy criterion and a missed one, but no accuracy criterion that is missed.
        (ExampleFilter(axes=("axis:accuracy",), states=("missed",)), [1]),
        (ExampleFilter(states=("avoided",)), [0, 2]),
        (ExampleFilter(min_points=-10, max_points=-8), [1]),
        (ExampleFilter(min_score=0), [0, 2]),
        (ExampleFilter(max_score=-0.5), [1]),
        (ExampleFilter(min_characters=1000), [0, 1]),
        (ExampleFilter(text="EARNS 10"), [2]),
        (ExampleFilter(text="xxx", text_in="reply"), [0]),
        (ExampleFilter(text="question", text_in="conversation"), [0, 1, 2]),
        (ExampleFilter(text="%", text_in="reply"), []),
        (ExampleFilter(text="because", text_in="explanation"), [0, 1, 2]),
        (ExampleFilter(prompt_ids=("p2", "p3")), [1, 2]),
        (ExampleFilter(withheld=True), []),
    ],
)
def test_filters(library, tmp_path, wanted, rows):
    run = imported(library, graded.allresults(tmp_path / "r.json", *graded.three_examples()))
    assert library.example_rows(run.id, wanted) == rows
    page, total = library.examples(run.id, wanted)
    assert page["example"].tolist() == rows
    assert total == len(rows)


def test_a_page_of_examples_is_sorted_and_cut_in_sql(library, tmp_path):
    run = imported(library, graded.allresults(tmp_path / "r.json", *graded.three_examples()))
    page, total = library.examples(run.id, order="score", limit=2, offset=1)
    assert total == 3
    assert page["score"].tolist() == [0.0, 0.7]
    assert page["snippet"].tolist() == ["A question?", "A question?"]
