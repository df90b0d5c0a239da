"""The Grade page: what may be graded, by hand, with a model against a scripted provider, and what is kept."""

from __future__ import annotations

import json
import time

import graded
import pandas as pd
import pytest
from fake_provider import FakeProvider

MINUS = "\N{MINUS SIGN}"
KEY = "sk-key-of-the-page"
RUBRIC = "points,criterion\n7,States item-0\n3,States item-1\n-6,States item-2"


@pytest.fixture(autouse=True)
def _no_key(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def plain(text):
    return text.replace("\\", "")


def verdict(app, number):
    label = f"Verdict on criterion {number}"
    return next(group for group in app.get("button_group") if group.label == label)


def labels(app, kind="button"):
    return [plain(element.label) for element in app.get(kind)]


def press(app, start):
    next(one for one in app.button if plain(one.label).startswith(start)).click().run()
    assert not app.exception, app.exception


def write_own(app, rubric=RUBRIC, reply="A reply."):
    app.session_state["grade_source"] = "My own"
    app.session_state["grade_rubric_mode"] = "Pasted JSON or CSV"
    app.session_state["grade_pasted"] = rubric
    app.session_state["grade_text_0"] = "A question?"
    app.session_state["grade_reply_own"] = reply
    app.run()
    assert not app.exception, app.exception


def use_model(app, provider, model="gpt-4.1"):
    app.session_state["grade_tab"] = "With a model"
    app.session_state["grade_model"] = model
    app.session_state["grade_base_url"] = provider.url
    app.run()
    assert not app.exception, app.exception


def wait(app, texts, words="Receipt"):
    for _ in range(200):
        app.run()
        assert not app.exception, app.exception
        if words in plain(texts(app)):
            return
        time.sleep(0.05)
    raise AssertionError(texts(app))


def receipt(app):
    shown = next(t.value for t in app.table if "Grader" in t.value.index)
    return {name: plain(str(row.iloc[0])) for name, row in shown.iterrows()}


def test_without_a_key_the_page_opens_by_hand_and_every_verdict_moves_the_score(
    open_page, texts, one_run
):
    app = open_page("grade", one_run)
    # +7 +3 -6 of 10 possible: worst -6/10, best 10/10
    assert f"[{MINUS}0.60 … 1.00]" in texts(app)
    verdict(app, 1).set_value("met").run()
    assert "[0.10 … 1.00]" in texts(app)
    verdict(app, 2).set_value("not met").run()
    verdict(app, 3).set_value("met").run()
    assert f"(+7 {MINUS}6) / 10 = 0.10" in plain(texts(app))
    assert "Score withheld" not in texts(app)
    press(app, "Clear all")
    assert f"[{MINUS}0.60 … 1.00]" in texts(app)


def test_verdicts_by_hand_stay_when_the_page_is_left(open_page, texts, one_run):
    app = open_page("grade", one_run)
    verdict(app, 1).set_value("met").run()
    app.switch_page("app_pages/score.py").run()
    app.switch_page("app_pages/grade.py").run()
    assert "[0.10 … 1.00]" in texts(app)


def test_a_changed_reply_has_no_verdicts_until_they_are_taken_over(open_page, texts, one_run):
    app = open_page("grade", one_run)
    app.text_area[0].set_value("First.").run()
    verdict(app, 1).set_value("met").run()
    app.text_area[0].set_value("Second.").run()
    assert f"[{MINUS}0.60 … 1.00]" in texts(app)
    press(app, "Take over 1 verdict")
    assert "[0.10 … 1.00]" in texts(app)


def test_a_changed_rubric_keeps_the_verdicts_on_what_did_not_change(open_page, texts):
    app = open_page("grade")
    write_own(app)
    verdict(app, 1).set_value("met").run()
    # The first criterion's points change and another one comes before it: 9 of 12 possible, -6 open.
    write_own(app, "points,criterion\n3,States item-1\n9,States item-0\n-6,States item-2")
    assert "[0.25 … 1.00]" in texts(app)
    assert verdict(app, 2).value == "met"


@pytest.mark.parametrize(
    ("rubric", "words"),
    [
        ("", "The rubric is empty"),
        ("points,criterion\nfive,A", "criterion 1: points is text, not a number"),
        ('[{"criterion": "A", "points": 5}', "begins like JSON but is none"),
    ],
)
def test_an_unusable_rubric_is_one_sentence_and_nothing_is_graded(open_page, rubric, words):
    app = open_page("grade")
    write_own(app, rubric)
    (warning,) = app.warning
    assert words in plain(warning.value)
    assert "3 · Verdicts" not in [head.value for head in app.subheader]


def test_an_empty_turn_and_a_conversation_without_a_last_user_turn_are_named(open_page):
    app = open_page("grade")
    write_own(app)
    app.session_state["grade_text_0"] = " "
    app.run()
    assert app.warning[0].value.startswith("The conversation is empty")
    app.session_state["grade_text_0"] = "A question?"
    app.session_state["grade_role_0"] = "assistant"
    app.run()
    assert "not the user's" in plain(app.warning[0].value)
    press(app, "Add a turn")
    assert "Turn 2 is empty" in plain(app.warning[0].value)


def test_the_table_of_a_rubric_is_read_row_by_row(open_page, texts):
    app = open_page("grade")
    write_own(app)
    press(app, "Put it into the table")
    assert app.session_state["grade_rubric_kept"]["points"].tolist() == [7, 3, -6]
    assert f"[{MINUS}0.60 … 1.00]" in texts(app)
    app.session_state["grade_rubric_kept"] = pd.DataFrame(
        {"points": [4.0, None], "criterion": ["Only this", None], "axis": ["Accuracy", None]}
    )
    app.session_state["grade_rubric_round"] = 7
    app.run()
    assert "1 criterion, 0 penalties among them; 4 points possible." in texts(app)


def test_a_rubric_without_positive_points_has_no_score(open_page, texts):
    app = open_page("grade")
    write_own(app, "points,criterion\n-5,Invents a drug")
    verdict(app, 1).set_value("met").run()
    assert "no reply to it can have a score" in texts(app)
    assert "**No score:**" in texts(app)


def test_an_example_is_found_by_its_words_its_number_or_its_prompt_id(open_page, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_model-one_20260101_100000_allresults.json",
        *(
            graded.example(f"p{n}", graded.item(5, True), prompt=f"Question {word}?")
            for n, word in enumerate(("alpha", "beta", "gamma"))
        ),
    )
    app = open_page("grade", path)
    for sought, number in (("GAMMA", 3), ("2", 2), ("p0", 1)):
        app.text_input(key="grade_search").set_value(sought).run()
        assert app.selectbox(key="grade_example").value == number
        assert app.query_params["example"] == str(number)


def test_a_conversation_of_a_data_set_is_graded_beside_the_stored_replies_to_it(
    open_page, texts, tmp_path, one_run
):
    rows = [
        graded.dataset_row(row["prompt_id"], *row["rubric_items"])
        for row in graded.three_examples()
    ]
    dataset = graded.dataset(tmp_path / "data.jsonl", *rows)
    app = open_page("grade", one_run, dataset)
    app.session_state["grade_source"] = "From a data set"
    app.run()
    assert f"[{MINUS}0.60 … 1.00]" in texts(app)
    for number, word in enumerate(("met", "met", "not met"), start=1):
        verdict(app, number).set_value(word).run()
    table = next(f.value for f in app.dataframe if "reply of" in f.value)
    # 10/10 by hand beside the stored 7/10, best first
    assert table["reply of"].tolist() == ["this reply", "model-one"]
    assert table["score"].tolist() == pytest.approx([1.0, 0.7])


def test_a_reply_graded_by_hand_is_saved_as_a_run_that_opens(open_page, one_run, tmp_path):
    app = open_page("grade", one_run)
    press(app, "Take the reply of model-one")
    assert not any(label.startswith("Take the reply") for label in labels(app))
    verdict(app, 1).set_value("met").run()
    verdict(app, 3).set_value("not met").run()
    first = app.query_params["run"]
    (name,) = (field for field in app.text_input if field.label.startswith("Model that replied"))
    assert name.value == "model-one"
    name.set_value("my-edit").run()
    press(app, "Save as a run")
    (link,) = (one.proto for one in app.get("page_link") if one.proto.label == "Open my\\-edit")
    assert "example=1" in link.query_string
    assert first not in link.query_string
    (path,) = (tmp_path / "home" / "graded").iterdir()
    header, line = map(json.loads, path.read_text().splitlines())
    assert (header["model"], header["grader"]) == ("my-edit", "a person")
    assert [item["criteria_met"] for item in line["criteria"]] == [True, None, False]
    assert line["prompt_id"] == "p1"


def test_without_a_key_openai_cannot_be_asked_and_by_hand_is_offered(open_page, texts, one_run):
    app = open_page("grade", one_run)
    press(app, "Take the reply of model-one")
    app.session_state["grade_tab"] = "With a model"
    app.run()
    assert app.button(key="grade_start").disabled
    assert "Without a key, grade by hand" in texts(app)
    assert "sent to **api\\.openai\\.com**. No patient data." in texts(app)
    assert "3 calls" in texts(app)
    assert "by the prices of" in texts(app)


def test_a_key_in_the_environment_opens_the_tab_of_the_model(
    open_page, texts, one_run, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    app = open_page("grade", one_run)
    app.text_area[0].set_value("A reply.").run()
    assert "The key in OPENAI_API_KEY is used." in texts(app)
    assert not app.button(key="grade_start").disabled
    # It is meant for OpenAI and is not sent to another host.
    with FakeProvider() as provider:
        use_model(app, provider)
        assert "The key in OPENAI_API_KEY" not in texts(app)
        press(app, "Grade 3 criteria")
        wait(app, texts)
        assert "authorization" not in provider.requests[0].headers


def test_a_typed_key_leaves_its_field_is_sent_to_its_host_only_and_can_be_forgotten(
    open_page, texts
):
    app = open_page("grade")
    write_own(app)
    with FakeProvider() as provider:
        use_model(app, provider)
        app.text_input(key="grade_key_field").set_value(KEY).run()
        assert "is kept for this session alone" in texts(app)
        assert KEY not in str(app.session_state._state.filtered_state)
        press(app, "Grade 3 criteria")
        wait(app, texts)
        assert provider.requests[0].headers["authorization"] == f"Bearer {KEY}"
    press(app, "Forget it")
    assert app.text_input(key="grade_key_field").value == ""


def test_a_live_grading_fills_the_ledger_and_ends_with_a_receipt(open_page, texts):
    app = open_page("grade")
    write_own(app)
    with FakeProvider() as provider:
        use_model(app, provider)
        assert "not the reference grader (another model, another address)" in texts(app)
        press(app, "Grade 3 criteria")
        wait(app, texts)
    # item-0 and item-2 are met: 7 - 6 of 10
    assert f"(+7 {MINUS}6) / 10 = 0.10" in plain(texts(app))
    facts = receipt(app)
    assert facts["Calls"] == "3, 0 of them retries"
    assert facts["Tokens"].startswith("3,000 in (600 at the lower price), 300 out")
    # 3 * (800 * 2 + 200 * 0.5 + 100 * 8) / 1e6 dollars
    assert facts["Cost"] == "$0.0075"
    assert "not the reference grader" in facts["Grader"]
    assert "the text of the reference, sha256 2adffd51fd25" in facts["Instructions"]


def test_a_failed_criterion_stays_unknown_and_is_asked_again_alone(open_page, texts):
    app = open_page("grade")
    write_own(app)
    with FakeProvider({1: ["too_long", True]}) as provider:
        use_model(app, provider)
        press(app, "Grade 3 criteria")
        wait(app, texts)
        assert "**1 criterion without a verdict:**" in texts(app)
        # 7 - 6 of 10, and 3 more where item-1 were met
        assert "[0.10 … 0.40]" in texts(app)
        press(app, "Ask again")
        wait(app, texts, "= 0.40")
        assert len(provider.questions) == 4
    assert receipt(app)["Criteria"] == "3 with a verdict, 0 without"


def test_the_cost_cap_stops_a_grading_and_a_higher_one_goes_on(open_page, texts):
    app = open_page("grade")
    write_own(app, "points,criterion\n" + "\n".join(f"1,States item-{2 * n}" for n in range(12)))
    app.session_state["grade_cap"] = 0.03
    with FakeProvider() as provider:
        use_model(app, provider)
        press(app, "Grade 12 criteria")
        wait(app, texts)
        assert "The cost cap of $0.03 is reached" in plain(texts(app))
        assert 0 < len(provider.questions) < 12
        app.number_input(key="grade_cap").set_value(1.0).run()
        press(app, "Ask about all")
        wait(app, texts, "/ 12 = 1.00")
        assert len(provider.questions) == 12


def test_grading_again_shows_which_verdicts_flicker_and_what_hidden_points_change(open_page, texts):
    app = open_page("grade")
    write_own(app)
    with FakeProvider({0: [True, False, False], 1: [False, False, True]}) as provider:
        use_model(app, provider)
        press(app, "Grade 3 criteria")
        wait(app, texts)
        app.number_input(key="grade_times").set_value(2).run()
        press(app, "Grade 3 criteria")
        # The first grading is known, only the second is asked for.
        wait(app, texts, "1 of 3 verdicts not the same in all 3 gradings")
        assert len(provider.questions) == 6
        assert receipt(app)["From the cache"].startswith("3 verdicts")
        app.number_input(key="grade_times").set_value(1)
        app.toggle(key="grade_hide_points").set_value(True).run()
        assert "the points are hidden from it" in texts(app)
        press(app, "Grade 3 criteria")
        wait(app, texts, "2 of 3 verdicts not the same in all 4 gradings")
        assert b"[7] States" not in provider.questions[-3].body
    table = next(f.value for f in app.dataframe if "differs" in f.value)
    assert table["differs"].tolist() == ["differs", "differs", ""]
    assert any("points hidden" in name for name in table.columns)


def test_a_live_grading_is_saved_with_its_grader(open_page, texts, tmp_path):
    app = open_page("grade")
    write_own(app)
    with FakeProvider({1: ["too_long"]}) as provider:
        use_model(app, provider)
        press(app, "Grade 3 criteria")
        wait(app, texts)
    press(app, "Save as a run")
    assert any(one.proto.label.startswith("Open ") for one in app.get("page_link"))
    (path,) = (tmp_path / "home" / "graded").iterdir()
    header, line = map(json.loads, path.read_text().splitlines())
    assert header["grader"] == "gpt-4.1"
    assert header["settings"]["grader template sha256"].startswith("2adffd51")
    assert [item["criteria_met"] for item in line["criteria"]] == [True, None, True]


def test_a_changed_text_does_not_get_the_verdicts_of_the_earlier_one(open_page, texts):
    app = open_page("grade")
    write_own(app)
    with FakeProvider() as provider:
        use_model(app, provider)
        press(app, "Grade 3 criteria")
        wait(app, texts)
    app.session_state["grade_reply_own"] = "Another reply."
    app.run()
    assert "Receipt" not in texts(app)
    app.session_state["grade_reply_own"] = "A reply."
    app.run()
    assert "Receipt" in texts(app)


def test_models_of_the_gpt_5_mini_family_are_refused(open_page):
    app = open_page("grade")
    write_own(app)
    with FakeProvider() as provider:
        use_model(app, provider, model="gpt-5-mini")
    (error,) = app.error
    assert "not accepted as a grader" in plain(error.value)
    assert not any(label.startswith("Grade ") for label in labels(app))


def test_a_bad_key_stops_with_one_sentence_that_does_not_hold_it(open_page, texts):
    app = open_page("grade")
    write_own(app)
    with FakeProvider({0: ["bad_key"], 1: ["bad_key"], 2: ["bad_key"]}) as provider:
        use_model(app, provider)
        app.text_input(key="grade_key_field").set_value(KEY).run()
        press(app, "Grade 3 criteria")
        wait(app, texts)
    assert "the key was not accepted" in texts(app)
    assert KEY not in texts(app)
    assert f"[{MINUS}0.60 … 1.00]" in texts(app)
