"""The HTML report of simple-evals, with and without the data set it was made from."""

from __future__ import annotations

import time
from html.parser import HTMLParser

import pytest
from specimens import (
    CASES,
    METRICS,
    ORACLE,
    Case,
    Item,
    dataset_rows,
    differences,
    html_report,
    read,
    rubrics,
    scores,
    user,
    write_jsonl,
)

from healthbench.errors import InputRefusedError, NotAGradedRunError
from healthbench.readers import open_runs
from healthbench.readers.verdict_text import OPENBENCH, SIMPLE_EVALS, read_lines

NAME = "healthbench_hard_careful-model_20260501_120000.html"


def write(folder, text, name=NAME, encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def one_case(*items, prompt="What helps?", prompt_id="case-x", tags=("theme:hedging",)):
    return Case(prompt_id, [user(prompt)], "Rest.", list(tags), list(items))


def test_a_report_gives_examples_verdicts_and_stated_figures(tmp_path):
    run, examples = read(write(tmp_path, html_report()))
    assert list(scores(examples).values()) == [0.7, -1.6, 0.0]
    assert [e.stated_score for e in examples] == [0.7, -1.6, 0.0]
    assert (run.info.model, run.info.benchmark) == ("careful-model", "HealthBench Hard")
    assert run.info.stated == METRICS | {"score": 0.0}
    assert examples[1].prompt[-1].content == "Since noon, très mal ✓."
    assert examples[0].criteria[0].text == "Names a sign to see a doctor."  # failures first
    assert not differences(run, examples)


def test_without_a_data_set_equal_prompts_are_one_prompt_and_a_warning_says_so(tmp_path):
    other_system = html_report().replace("You are a helpful assistant.", "Be brief.")
    both = html_report(CASES * 2)
    run, examples = read(write(tmp_path, both))
    again = read(write(tmp_path, other_system, "other.html"))[1]
    assert len({e.prompt_id for e in examples}) == 3
    assert {e.prompt_id for e in examples} == {e.prompt_id for e in again}
    assert examples[0].example_tags is None
    assert any("attach the data set" in warning for warning in run.report.warnings)


def test_a_data_set_gives_ids_tags_order_and_theme(tmp_path):
    dataset = write_jsonl(tmp_path / "data.jsonl", dataset_rows())
    run, examples = read(write(tmp_path, html_report()), dataset=dataset)
    assert scores(examples) == ORACLE
    assert [c.text for c in examples[0].criteria] == [i.criterion for i in CASES[0].items]
    assert [v.met for v in examples[0].verdicts] == [True, False, False]
    assert examples[0].criteria[0].tags == ("level:example", "axis:accuracy")
    assert examples[1].example_tags[0] == "theme:emergency_referrals"
    assert (run.report.themes_from, run.report.axes_from) == ("dataset", "dataset")
    assert run.report.warnings == []
    # axis:accuracy of two examples: (1.0 - 1.6) / 2 = -0.3, clipped 0.0, as the report states.
    assert not differences(run, examples)


def test_an_ambiguous_match_is_reported_and_not_guessed(tmp_path):
    twin = dataset_rows()[0] | {"prompt_id": "twin"}
    dataset = write_jsonl(tmp_path / "data.jsonl", [*dataset_rows(), twin])
    run, examples = read(write(tmp_path, html_report()), dataset=dataset)
    assert examples[0].prompt_id.startswith("sha256:")
    assert examples[1].prompt_id == "case-2"
    assert any("1 example: several rows" in warning for warning in run.report.warnings)


def test_the_rubric_tells_rows_with_the_same_conversation_apart(tmp_path):
    twin = dataset_rows()[0] | {"prompt_id": "twin", "rubrics": rubrics(CASES[2])}
    dataset = write_jsonl(tmp_path / "data.jsonl", [twin, *dataset_rows()])
    assert read(write(tmp_path, html_report()), dataset=dataset)[1][0].prompt_id == "case-1"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (dataset_rows()[1:], "does not hold the conversation"),
        (
            [dataset_rows()[0] | {"rubrics": rubrics(CASES[2])}, *dataset_rows()[1:]],
            "with other criteria",
        ),
    ],
)
def test_what_is_not_in_the_data_set_is_counted(tmp_path, rows, reason):
    dataset = write_jsonl(tmp_path / "data.jsonl", rows)
    run, examples = read(write(tmp_path, html_report()), dataset=dataset)
    assert len(examples) == 3
    assert any(w.startswith("1 example:") and reason in w for w in run.report.warnings)


NASTY = one_case(
    Item(
        "Says\n\n[False] [4] is no item\nnor <b>this</b> {{7*7}} &amp; BP <120/80",
        5,
        ["axis:accuracy"],
        True,
        "Quotes a </p> tag.",
    ),
    Item("Asks\tback", 3, [], False, "In its words:\n\n[True] [9] all is well\n\nand <hr> more."),
    Item("Lies", -8, [], True, "<script>alert(1)</script>"),
)


@pytest.mark.parametrize("with_data", [False, True])
def test_unescaped_text_survives_as_it_was(tmp_path, with_data):
    dataset = write_jsonl(tmp_path / "data.jsonl", dataset_rows([NASTY])) if with_data else None
    _, (example,) = read(write(tmp_path, html_report([NASTY])), dataset=dataset)
    found = {
        (c.text, c.points, v.met, v.explanation)
        for c, v in zip(example.criteria, example.verdicts, strict=True)
    }
    assert found == {(i.criterion, i.points, i.met, i.explanation) for i in NASTY.items}


def test_lookalikes_are_doubtful_only_where_nothing_tells_them_apart():
    text = (
        "[True] [5] A\n\tExplanation: so\n\n[True] [2] quoted\n\n[True] [3] B\n\tExplanation: yes"
    )
    # Both readings keep the order and give (5 + 2) / 7 = (5 + 3) / 8 = 1, so the score cannot tell.
    assert read_lines(text, SIMPLE_EVALS, stated_score=1.0).doubtful
    # With a failure among the points the score tells: (5 + 3) / 18 against (5 + 2) / 17.
    text = "[False] [10] Z\n\tExplanation: no\n\n" + text
    reading = read_lines(text, SIMPLE_EVALS, stated_score=8 / 18)
    assert not reading.doubtful
    assert [line.points for line in reading.lines] == [10, 5, 3]


def test_a_whole_item_quoted_in_an_explanation_is_found_out_by_the_score():
    text = (
        "[False] [10] Z\n\tExplanation: like this:\n\n[False] [4] quoted\n\tExplanation: no\n\n"
        "[True] [5] A\n\tExplanation: so"
    )
    # 5 / 15 without the quoted item, 5 / 19 with it.
    assert [line.points for line in read_lines(text, SIMPLE_EVALS, stated_score=5 / 15).lines] == [
        10,
        5,
    ]


@pytest.mark.parametrize("grammar", [SIMPLE_EVALS, OPENBENCH])
@pytest.mark.parametrize("text", ["", "\n\n", "[Maybe] [3] x", "[True] [x] y", "words"])
def test_text_of_another_form_has_no_items(grammar, text):
    assert read_lines(text, grammar).lines == []


def test_the_same_criterion_twice_keeps_the_score_and_says_what_is_unclear(tmp_path):
    case = one_case(
        Item("Is kind", 5, ["axis:accuracy"], True),
        Item("Is kind", 5, ["axis:completeness"], False),
    )
    dataset = write_jsonl(tmp_path / "data.jsonl", dataset_rows([case]))
    run, examples = read(write(tmp_path, html_report([case])), dataset=dataset)
    assert scores(examples) == {"case-x": 0.5}
    assert any("twice with different verdicts" in warning for warning in run.report.warnings)


def test_a_report_written_on_windows_is_read(tmp_path):
    case = one_case(Item("Says “rest”… at once", 5, [], True), prompt="Où est-ce… là?")
    text = html_report([case]).replace("\n", "\r\n")
    _, (example,) = read(write(tmp_path, text, encoding="cp1252"))
    assert example.prompt[-1].content == "Où est-ce… là?"
    assert example.criteria[0].text == "Says “rest”… at once"


def test_two_encodings_in_one_report_are_both_read(tmp_path):
    text = html_report()
    assert "très mal ✓" in text
    latin = one_case(Item("Is kind", 5, [], True), prompt="Où est-ce… là?")
    path = tmp_path / NAME
    middle = html_report([latin]).partition("<h1>Examples</h1>")[2].partition("</body>")[0]
    head, _, tail = text.rpartition("</body>")
    path.write_bytes(head.encode() + middle.encode("cp1252") + b"</body>" + tail.encode())
    prompts = [e.prompt[-1].content for e in read(path)[1]]
    assert prompts[1::2] == ["Since noon, très mal ✓.", "Où est-ce… là?"]


def test_a_million_characters_of_reply_are_read(tmp_path):
    case = CASES[0]._replace(reply="é" * 1_000_000)
    _, (example,) = read(write(tmp_path, html_report([case])))
    assert len(example.reply) == 1_000_000


def test_a_length_adjusted_report_is_known_as_professional(tmp_path):
    metrics = METRICS | {"overall_score_length_adjusted": 0.0, "red_teaming": 0.7}
    run, _ = read(write(tmp_path, html_report(metrics=metrics)))
    assert run.info.benchmark == "HealthBench Professional"
    assert any("by tag are raw" in warning for warning in run.report.warnings)


def test_verdicts_attached_to_the_wrong_criteria_are_warned_of(tmp_path):
    texts = [
        "Recommends resting the injured ankle overnight",
        "Mentions swelling together with numbness somewhere",
        "Avoids prescribing strong opioid tablets blindly",
        "Explains compression bandages using simple language",
    ]

    def case(shift):
        return one_case(
            *(
                Item(
                    text, 5, [], False, f"The answer fails here: {texts[(n + shift) % 4].lower()}."
                )
                for n, text in enumerate(texts)
            )
        )

    right, _ = read(write(tmp_path, html_report([case(0)]), "right.html"))
    wrong, _ = read(write(tmp_path, html_report([case(1)]), "wrong.html"))
    assert not any("wrong criteria" in warning for warning in right.report.warnings)
    assert any("4 of 4 explanations" in warning for warning in wrong.report.warnings)


@pytest.mark.parametrize("cut", [0.5, 0.75, 0.93, 0.995])
def test_a_cut_off_report_is_refused_whole(tmp_path, cut):
    text = html_report()
    with pytest.raises(InputRefusedError, match=r"cut off|missing"):
        read(write(tmp_path, text[: int(len(text) * cut)]))


def test_points_beyond_the_scale_name_their_example(tmp_path):
    text = html_report().replace("[7]", "[70000]")
    with pytest.raises(InputRefusedError, match="example 1: points is 70000"):
        read(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (html_report([]), "without graded rubrics"),
        (
            html_report().replace("<p>Rubrics with grades:", "<p>Correct Answer: B</p>"),
            "another evaluation",
        ),
        (html_report([], {"pairwise_model_f1_balanced": 0.7}), "meta-evaluation"),
        ("<html><body>hello</body></html>", "no simple-evals report"),
    ],
)
def test_other_pages_are_named_and_refused(tmp_path, text, words):
    with pytest.raises(NotAGradedRunError, match=words):
        open_runs([write(tmp_path, text)])


def test_reading_costs_less_than_three_times_pythons_own_parser(tmp_path):
    items = [
        Item(f"Criterion {n} " + "with some words " * 10, n + 1, [], n % 2 == 0, "Because. " * 30)
        for n in range(11)
    ]
    cases = [
        Case(f"p{n}", [user(f"Question {n}? " + "More. " * 80)], "An answer. " * 150, [], items)
        for n in range(200)
    ]
    path = write(tmp_path, html_report(cases))
    dataset = write_jsonl(tmp_path / "data.jsonl", dataset_rows(cases))

    def seconds(work):
        begin = time.process_time()
        work()
        return time.process_time() - begin

    parser = min(
        seconds(lambda: HTMLParser().feed(path.read_text(encoding="utf-8"))) for _ in range(4)
    )
    ours = min(seconds(lambda: read(path, dataset=dataset)) for _ in range(4))
    assert ours < 3 * parser
