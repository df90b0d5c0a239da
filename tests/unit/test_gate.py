"""What two runs share is compared and what differs is said: other rubrics, prompts, graders, repeats."""

from __future__ import annotations

import json
from contextlib import closing

import graded
import pytest

from healthbench.cli import main
from healthbench.comparison.fingerprint import fingerprint
from healthbench.comparison.gate import Kind, gate
from healthbench.comparison.pair import compare, side, slice_prompts
from healthbench.errors import InputRefusedError
from healthbench.store.library import Library
from healthbench.store.records import ExampleFilter


@pytest.fixture
def library(tmp_path):
    with closing(Library(tmp_path / "store")) as opened:
        yield opened


@pytest.fixture
def run(library, tmp_path):
    """Import examples as a run of a model."""

    def imported(model, *examples, **more):
        path = graded.allresults(
            tmp_path / f"healthbench_{model}_20260101_120000_allresults.json", *examples, **more
        )
        (outcome,) = library.import_paths([path])
        assert outcome.run is not None, outcome.refusal
        return outcome.run.id

    return imported


def kinds(checked):
    return {finding.kind for finding in checked.findings}


def sentence(checked, kind):
    (found,) = [finding.sentence for finding in checked.findings if finding.kind is kind]
    return found


def checked_gate(library, *ids):
    return gate(*(fingerprint(library, run_id) for run_id in ids))


def simple(prompt_id, *met, points=(7, 3, -6), **more):
    """One example on three criteria, possible 10 points by default."""
    tags = ("axis:accuracy", "axis:completeness", "axis:accuracy")
    items = [
        graded.item(value, verdict, tag)
        for value, verdict, tag in zip(points, met, tags, strict=True)
    ]
    return graded.example(prompt_id, *items, **more)


def test_equal_conditions_leave_only_the_grader_to_say(library, run):
    a = run("a", simple("p1", True, False, False), simple("p2", True, True, False))
    b = run("b", simple("p1", True, True, False), simple("p2", True, True, True))
    checked = checked_gate(library, a, b)
    assert checked.kept == checked.tagged == {"p1", "p2"}
    assert kinds(checked) == {Kind.GRADER}
    assert checked.first.rubric == checked.second.rubric
    assert checked.first.prompt_set == checked.second.prompt_set
    assert checked.graders == "grader not recorded"


def test_other_points_on_one_criterion_leave_that_prompt_out(library, run):
    # p1: 7/10 = 0.7 against 10/10; p2 in a: 3/10, in b its second criterion has 4 points: left out.
    a = run("a", simple("p1", True, False, False), simple("p2", False, True, False))
    b = run(
        "b",
        simple("p1", True, True, False),
        simple("p2", False, True, False, points=(7, 4, -6)),
    )
    one, two = side(library, a), side(library, b)
    result = compare(one, two)
    assert result.gate.kept == {"p1"}
    assert result.gate.other_rubric == 1
    assert "1 prompt with another rubric" in sentence(result.gate, Kind.RUBRIC)
    assert result.overall.difference == pytest.approx(0.3)
    assert result.overall.n_prompts == 1
    # Own means: a (0.7 + 0.3) / 2 = 0.5 becomes 0.7; b (1 + 4/11) / 2 becomes 1.
    assert result.own[0].whole == pytest.approx(0.5)
    assert result.own[0].change == pytest.approx(0.2)
    assert result.own[1].change == pytest.approx(1 - (1 + 4 / 11) / 2)


def test_missing_prompts_are_counted_on_each_side(library, run):
    # Shared p2, p3: a 0.3 and 0.7, b 1.0 and 0.4 -> difference (0.7 - 0.3) / 2 = 0.2.
    a = run(
        "a",
        simple("p1", True, True, True),
        simple("p2", False, True, False),
        simple("p3", True, False, False),
    )
    b = run(
        "b",
        simple("p2", True, True, False),
        simple("p3", True, True, True),
        simple("p4", True, True, True),
        simple("p5", True, True, True),
    )
    result = compare(side(library, a), side(library, b))
    assert (result.gate.only_first, result.gate.only_second) == (1, 2)
    assert sentence(result.gate, Kind.PROMPTS).startswith(
        "1 prompt only in a and 2 prompts only in b"
    )
    assert result.overall.first == pytest.approx(0.5)
    assert result.overall.second == pytest.approx(0.7)
    assert result.overall.difference == pytest.approx(0.2)
    # b over all four: (1.0 + 0.4 + 0.4 + 0.4) / 4 = 0.55; over the shared two 0.7.
    assert result.own[1].change == pytest.approx(0.15)


def test_another_grader_and_other_settings_are_said(library, run):
    a, b = (run(model, simple("p1", True, True, False, reply=model)) for model in ("a", "b"))
    checked = checked_gate(library, a, b)
    for fields, expected in (
        (({"grader": "x"}, {"grader": "y"}), "different graders"),
        (({"grader": "x"}, {"grader": None}), "one grader not recorded"),
        (({"grader": "x"}, {"grader": "x"}), "both graded by x"),
    ):
        for given, one in zip(fields, (checked.first, checked.second), strict=True):
            one.run.info.grader = given["grader"]
            one.run.info.settings = {"temperature": "0.5" if one is checked.first else "1.0"}
        again = gate(checked.first, checked.second)
        assert again.graders == expected
        assert (Kind.GRADER in kinds(again)) == (expected != "both graded by x")
        assert "temperature 0.5 and 1.0" in sentence(again, Kind.SETTINGS)


def test_repeats_on_one_side_are_averaged_by_prompt(library, run):
    # b answers p1 twice, 0.7 and 0.3: mean 0.5 against 1.0 in a. p2 is 0.7 in both.
    a = run("a", simple("p1", True, True, False), simple("p2", True, False, False))
    b = run(
        "b",
        simple("p1", True, False, False),
        simple("p1", False, True, False),
        simple("p2", True, False, False),
    )
    result = compare(side(library, a), side(library, b))
    assert "1 in a, 1 to 2 in b" in sentence(result.gate, Kind.REPEATS)
    assert result.overall.difference == pytest.approx(-0.25)
    assert (result.overall.wins, result.overall.losses, result.overall.ties) == (0, 1, 1)
    assert result.matching.unpaired_second == 1


def test_unknown_verdicts_are_said_and_their_examples_left_out(library, run):
    a = run("a", simple("p1", True, None, False), simple("p2", True, False, False))
    b = run("b", simple("p1", True, True, False), simple("p2", True, True, False))
    result = compare(side(library, a), side(library, b))
    assert "1 in a, 0 in b" in sentence(result.gate, Kind.UNKNOWN)
    assert result.overall.n_prompts == 1
    assert result.overall.difference == pytest.approx(0.3)


def test_criteria_in_another_order_are_the_same_rubric(library, run):
    items = [graded.item(7, True, "axis:accuracy"), graded.item(3, False, "axis:accuracy")]
    a = run("a", graded.example("p1", *items))
    b = run("b", graded.example("p1", *items[::-1]))
    assert checked_gate(library, a, b).other_rubric == 0


def test_other_tags_leave_axes_out_but_not_the_score(library, run):
    def tagged(axis):
        return (
            graded.example("p1", graded.item(5, True, axis, criterion="same text")),
            graded.example("p2", graded.item(5, False, "axis:accuracy")),
        )

    a, b = run("a", *tagged("axis:accuracy")), run("b", *tagged("axis:completeness"))
    result = compare(side(library, a), side(library, b))
    assert result.gate.kept == {"p1", "p2"}
    assert result.gate.tagged == {"p2"}
    assert "other tags" in sentence(result.gate, Kind.TAGS)
    assert result.overall.n_prompts == 2
    assert result.differences["axis:accuracy"].n_prompts == 1


def test_another_conversation_is_said(library, run):
    a = run("a", simple("p1", True, True, False, prompt="A question?"))
    b = run("b", simple("p1", True, True, False, prompt="Another question?"))
    assert Kind.CONVERSATION in kinds(checked_gate(library, a, b))


def test_nothing_to_compare_is_one_sentence(library, run):
    a = run("a", simple("p1", True, True, False))
    b = run("b", simple("p2", True, True, False))
    c = run("c", simple("p1", True, True, False, points=(1, 2, -3)))
    d = run("d", simple("p1", True, None, False))
    with pytest.raises(InputRefusedError, match="a and b share no prompt"):
        checked_gate(library, a, b)
    with pytest.raises(InputRefusedError, match="graded on another rubric"):
        checked_gate(library, a, c)
    with pytest.raises(InputRefusedError, match="different runs"):
        checked_gate(library, a, a)
    with pytest.raises(InputRefusedError, match="No compared prompt has a score"):
        compare(side(library, a), side(library, d))


def test_a_slice_takes_prompts_that_meet_it_in_either_run(library, run):
    a = run(
        "a",
        simple("p1", True, True, True),
        simple("p2", True, True, False),
        simple("p3", True, True, False),
    )
    b = run(
        "b",
        simple("p1", True, True, False),
        simple("p2", True, True, True),
        simple("p3", True, True, False),
    )
    one, two = side(library, a), side(library, b)
    incurred = ExampleFilter(states=("incurred",))
    within = slice_prompts(library, [(a, one.prompt_ids), (b, two.prompt_ids)], incurred)
    assert within == {"p1", "p2"}
    result = compare(one, two, within)
    # p1 0.4 -> 1.0, p2 1.0 -> 0.4: no difference in the mean.
    assert result.overall.difference == pytest.approx(0)
    assert result.gate.outside_slice == 1
    with pytest.raises(InputRefusedError, match="slice"):
        compare(one, two, frozenset())


def test_themes_of_one_file_hold_for_the_prompts_of_both(library, run, tmp_path):
    a = run("a", simple("p1", True, True, False), simple("p2", True, False, False))
    b = run("b", simple("p1", True, False, False), simple("p2", True, False, False))
    library.attach_dataset(
        graded.dataset(tmp_path / "data.jsonl", graded.dataset_row("p1", graded.item(7)))
    )
    result = compare(side(library, a), side(library, b))
    assert result.differences["theme:hedging"].difference == pytest.approx(-0.3)
    assert result.differences["theme:hedging"].n_prompts == 1


# The command


def compare_json(capsys, *arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["healthbench", "compare", *arguments])
        try:
            main()
            status = 0
        except SystemExit as exit_:
            status = exit_.code or 0
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_command_compares_a_file_with_a_stored_run(library, run, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HEALTHBENCH_HOME", str(library.home))
    a = run("a", simple("p1", True, False, False), simple("p2", True, True, False))
    file = graded.allresults(
        tmp_path / "healthbench_b_20260101_120000_allresults.json",
        simple("p1", True, True, False),
        simple("p2", True, True, True),
    )
    status, out, err = compare_json(capsys, a, str(file), "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    # p1 0.7 -> 1.0, p2 1.0 -> 0.4: mean difference (0.3 - 0.6) / 2.
    assert found["overall"]["difference"] == pytest.approx(-0.15)
    assert found["flips"]["fixed"] == found["flips"]["regressed"] == 1
    assert found["gate"]["n_prompts_compared"] == 2
    assert [run.id for run in library.runs()] == [a]
    status, out, _ = compare_json(capsys, a, str(file))
    assert status == 0
    assert "b less a" in out


def test_command_refuses_with_a_sentence(library, monkeypatch, capsys):
    monkeypatch.setenv("HEALTHBENCH_HOME", str(library.home))
    status, out, err = compare_json(capsys, "nowhere", "../elsewhere")
    assert (status, out) == (2, "")
    assert "neither a file nor the id of a run" in err
