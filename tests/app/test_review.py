"""Review and Agreement run in process: who, which queue, blind first, what a decision does, what the figures say."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import graded
import pytest
import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "app"))

from healthbench.review.queues import Entry, Plan, QueueKind, make_queue
from healthbench.review.saved import SavedQueues
from healthbench.store.journal import Decision, Item, Journal, Reviewer
from healthbench.store.library import Library
from healthbench.store.review_file import FILE_NAME, ReviewFile

SAMPLES = Path(__file__).parents[2] / "sample_runs"
ANNA = Reviewer("Anna", "physician")
BEN = Reviewer("Ben", "nurse")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def journal(home):
    file = ReviewFile(home / FILE_NAME)
    yield Journal(file)
    file.close()


@pytest.fixture
def queues(home):
    file = ReviewFile(home / FILE_NAME)
    yield SavedQueues(file)
    file.close()


def sign_in(app, who=ANNA):
    app.session_state["reviewer_name"], app.session_state["reviewer_role"] = who
    app.run()
    assert not app.exception, app.exception
    return app


def the_run(app):
    named = app.query_params["run"]
    return named if isinstance(named, str) else named[0]


def press(app, key):
    app.button(key=f"review_{key}").click().run()
    assert not app.exception, app.exception
    return app


def shown(app):
    return "\n".join(
        str(element.value) for kind in ("markdown", "caption") for element in app.get(kind)
    )


def test_a_name_and_role_are_asked_for_first(open_page, one_run):
    app = open_page("review", one_run)
    assert [box.label for box in app.main.selectbox] == ["Name", "Role"]
    assert "queue_form" not in [button.key for button in app.button]
    app.button[0].click().run()
    assert app.error[0].value == "Give a name and a role."
    sign_in(app)
    assert "No queue is waiting for you" in app.info[0].value


def test_who_reviewed_before_can_be_chosen(open_page, one_run, journal):
    journal.record(Item("elsewhere", 0, 0), BEN, Decision.MET, prompt_id="p")
    app = open_page("review", one_run)
    assert app.selectbox(key="who_name").options == ["Ben"]


def test_an_open_dashboard_without_login_warns(open_page, one_run, monkeypatch):
    app = open_page("review", one_run)
    assert app.warning == []
    original = st.get_option
    monkeypatch.setattr(
        st, "get_option", lambda name: "0.0.0.0" if name == "server.address" else original(name)
    )
    app.run()
    assert "anybody can review under any name" in app.warning[0].value


def test_making_a_queue_opens_it(open_page, one_run):
    app = sign_in(open_page("review", one_run))
    app.button(key="make").click().run()
    assert not app.exception
    assert "**Queue 1** · 1 of" in shown(app)
    assert app.query_params["queue"]
    app.button(key="queues").click().run()
    assert "left for you" in shown(app)


@pytest.mark.parametrize("kind", [kind for kind in QueueKind if kind != QueueKind.EXAMPLE])
def test_every_kind_of_queue_can_be_made_or_says_why_not(open_page, kind):
    app = sign_in(open_page("review", SAMPLES))
    app.selectbox(key="make_kind").select(kind).run()
    app.button(key="make").click().run()
    assert not app.exception, app.exception
    assert "1 of" in shown(app) or app.error[0].value.endswith(("run.", "review."))


def test_a_precision_may_be_asked_for_in_place_of_a_size(open_page):
    app = sign_in(open_page("review", SAMPLES))
    app.selectbox(key="make_kind").select(QueueKind.LEVERAGE_SAMPLE).run()
    app.segmented_control(key="make_how_leverage sample").set_value("precision").run()
    app.number_input(key="make_within").set_value(20.0).run()
    app.button(key="make").click().run()
    assert not app.exception
    # Sum of leverages L = mean over 21 examples of all points over the positive ones, between 1 and 2:
    # n = L^2 x 0.25 x (1.96 / 0.2)^2, between 24 and 97.
    n = int(re.search(r"1 of (\d+)", shown(app))[1])
    assert 24 <= n <= 97


def example_with(met, explanation):
    return graded.example(
        "p1",
        graded.item(
            5,
            met,
            "level:example",
            "axis:accuracy",
            explanation=explanation,
            criterion="Names the dose",
        ),
        graded.item(-4, False, "level:example", "axis:accuracy", criterion="Names a wrong dose"),
    )


def protos(app):
    """Everything the page would send to a browser, without what names the run or the widgets."""
    text = "\n".join(str(node.proto) for node in app.main if hasattr(node, "proto"))
    return re.sub(r"[0-9a-f]{16,}", "#", text)


def test_before_the_decision_the_page_is_the_same_whatever_the_grader_said(
    open_page, tmp_path, queues
):
    said = {"yes": (True, "SECRETWORD it does"), "no": (False, "OTHERWORD it does not")}
    files = [
        graded.allresults(
            tmp_path / f"healthbench_{name}_20260101_100000_allresults.json",
            example_with(met, explanation),
        )
        for name, (met, explanation) in said.items()
    ]
    app = open_page("review", *files)
    library = Library(tmp_path / "home")
    pages = {}
    for run in library.runs():
        explanation = said[run.name][1]
        plan = Plan(kind=QueueKind.EXAMPLE, run=run.id, example=0)
        saved = queues.save("Blind", plan, make_queue(library, plan))
        for view, queue in (("card", saved.id), ("list", "example-1")):
            app.query_params["run"], app.query_params["queue"] = run.id, queue
            sign_in(app)
            assert "Names the dose" in protos(app)
            assert explanation not in protos(app)
            pages[view, run.name] = protos(app)
        press(app, "M")
        assert explanation in protos(app)
    assert pages["card", "yes"] == pages["card", "no"]
    assert pages["list", "yes"] == pages["list", "no"]


def test_a_decision_is_kept_and_only_then_the_grader_is_shown(open_page, tmp_path, journal):
    path = graded.allresults(
        tmp_path / "healthbench_m_20260101_100000_allresults.json", example_with(True, "It does.")
    )
    app = open_page("review", path)
    app.query_params["queue"] = "example-1"
    sign_in(app)
    run = the_run(app)
    app.text_area[0].input("I looked twice").run()
    app.selectbox(key=f"review_reason_{run}_0_0").select("grader misread the reply").run()
    assert journal.events(run) == []
    press(app, "N")
    (event,) = journal.events(run)
    assert (event.decision, event.blind, event.grader_met) == ("not met", True, True)
    assert (event.note, event.reason) == ("I looked twice", "grader misread the reply")
    assert "The grader: **met** · you: **not met**" in shown(app)
    # 5 / 5 = 1 becomes 0 / 5.
    assert "this example scores 0.000 in place of 1.000 (\N{MINUS SIGN}100.0 of 100)" in shown(app)
    # The same key again is no event; another is a revision, and a longer note is kept at once.
    press(app, "N")
    assert len(journal.events(run)) == 1
    press(app, "M")
    app.text_area[0].input("I looked three times").run()
    events = journal.events(run)
    assert [event.blind for event in events] == [True, False, False]
    assert [event.note for event in events] == [
        "I looked twice",
        "I looked twice",
        "I looked three times",
    ]
    press(app, "undo")
    assert "you: **met**" in shown(app)


def test_keys_that_arrive_late_do_not_hit_the_next_verdict(open_page, one_run, journal):
    app = open_page("review", one_run)
    app.query_params["queue"] = "example-1"
    sign_in(app)
    app.button(key="review_J").click()
    app.button(key="review_M").click().run()
    app.run()
    assert all(event.position == 0 for event in journal.events(the_run(app)))


def test_enter_before_a_decision_goes_nowhere(open_page, one_run):
    app = open_page("review", one_run)
    app.query_params["queue"] = "example-1"
    sign_in(app)
    press(app, "confirm")
    assert "1 of" in shown(app)
    assert app.toast[0].value.startswith("Decide first")


def test_agreeing_goes_on_by_itself_where_wanted(open_page, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_m_20260101_100000_allresults.json", example_with(True, "It does.")
    )
    app = open_page("review", path)
    app.query_params["queue"] = "example-1"
    app.session_state["review_goes_on"] = "Go on by itself"
    sign_in(app)
    press(app, "M")
    assert "2 of 2" in shown(app)
    press(app, "M")
    assert "you: **met**  ≠ you differ" in shown(app)


def test_each_reviewer_has_a_blind_copy(open_page, tmp_path, queues, journal):
    path = graded.allresults(
        tmp_path / "healthbench_m_20260101_100000_allresults.json", example_with(True, "SECRETWORD")
    )
    app = open_page("review", path)
    run = the_run(app)
    plan = Plan(kind=QueueKind.EXAMPLE, run=run, example=0)
    entries = make_queue(Library(tmp_path / "home"), plan)
    queue = queues.save("For two", plan, entries, ["Anna", "Ben"])
    journal.record(Item(run, 0, 0), ANNA, Decision.MET, prompt_id="p1", grader_met=True)
    sign_in(app, BEN)
    assert "2 left for you · decided: Anna 1" in shown(app)
    app.query_params["queue"] = queue.id
    app.run()
    assert "SECRETWORD" not in protos(app)
    sign_in(app, Reviewer("Chris", "physician"))
    del app.query_params["queue"]
    app.run()
    assert "No queue is waiting for you" in app.info[0].value


@pytest.mark.parametrize("page", ["review", "agreement"])
def test_pages_on_no_run_and_on_each_of_many(open_page, many_runs, page):
    assert "There is no graded run yet." in "\n".join(info.value for info in open_page(page).info)
    st.cache_resource.clear()
    app = sign_in(open_page(page, *many_runs))
    for place in range(4):
        app.sidebar.selectbox(key="run_picker").select_index(place).run()
        assert not app.exception


def test_a_queue_of_a_removed_run_says_so(open_page, many_runs, queues, tmp_path):
    app = open_page("review", *many_runs)
    library = Library(tmp_path / "home")
    run, other = (found.id for found in library.runs()[:2])
    queue = queues.save(
        "Two", Plan(kind=QueueKind.SLICE, run=run), [Entry(Item(other, 0, 0), None)]
    )
    app.query_params["run"], app.query_params["queue"] = run, queue.id
    sign_in(app)
    assert "Met" in [button.label for button in app.button]
    library.remove(other)
    app.run()
    assert not app.exception
    assert "no longer in the store" in app.info[0].value


def test_a_configured_login_is_asked_for_and_gives_the_name(
    open_page, one_run, journal, monkeypatch
):
    app = open_page("review", one_run)
    app.secrets["auth"] = {"client_id": "x"}
    app.query_params["queue"] = "example-1"
    app.run()
    assert [button.label for button in app.button] == ["Log in"]
    monkeypatch.setattr(st, "user", {"is_logged_in": True, "email": "anna@example.org"})
    app.run()
    assert [box.label for box in app.main.selectbox] == ["Role"]
    app.button[0].click().run()
    press(app, "M")
    (event,) = journal.events(the_run(app))
    assert (event.reviewer, event.role) == ("anna@example.org", "physician")


def test_a_link_to_a_queue_that_is_gone_says_so(open_page, one_run):
    app = open_page("review", one_run)
    app.query_params["queue"] = "nothing"
    sign_in(app)
    assert "names a queue that is not in this store" in app.info[0].value
    app.query_params["queue"] = "example-999"
    app.run()
    assert "names a queue that is not in this store" in app.info[0].value


# Score, ledger, agreement


@pytest.fixture
def reviewed(open_page, tmp_path, journal):
    """Two examples of two reviewers: Anna turns a verdict round, Ben agrees with the grader."""
    path = graded.allresults(
        tmp_path / "healthbench_m_20260101_100000_allresults.json",
        graded.example(
            "p1", graded.item(5, True, "axis:accuracy"), graded.item(-4, False, "axis:accuracy")
        ),
        graded.example(
            "p2", graded.item(8, True, "axis:accuracy"), graded.item(-4, True, "axis:accuracy")
        ),
    )
    app = open_page("score", path)
    run = the_run(app)
    for example, position, met in ((0, 0, True), (0, 1, False), (1, 0, True), (1, 1, True)):
        said = (
            Decision.NOT_MET
            if (example, position) == (1, 1)
            else Decision.MET
            if met
            else Decision.NOT_MET
        )
        journal.record(
            Item(run, example, position),
            ANNA,
            said,
            prompt_id=f"p{example + 1}",
            blind=True,
            grader_met=met,
            reason="grader misread the reply",
            note="Only *asked* about",
        )
    journal.record(Item(run, 1, 1), BEN, Decision.MET, prompt_id="p2", blind=True, grader_met=True)
    journal.undo(Item(run, 1, 1), BEN)
    return app


def test_the_three_numbers_stand_on_the_score_page(reviewed):
    # Grader: (5/5 + (8 - 4)/8) / 2 = 0.75; reviewed: (1 + 8/8) / 2 = 1, on both examples fully reviewed.
    app = reviewed.run()
    metrics = {metric.label: (metric.value, metric.delta) for metric in app.metric}
    assert metrics["By the grader"] == ("75.0", "2 examples")
    assert metrics["With reviews applied"] == ("100.0", "+25.0 against the grader, 2 examples")
    assert metrics["On fully reviewed examples"] == (
        "100.0",
        "+25.0 against the grader, 2 examples",
    )
    assert "4 of 4 verdicts reviewed · 1 overridden" in shown(app)


def test_the_three_numbers_stand_in_the_table_of_runs_until_undone(reviewed, journal):
    # As on the page Score: 75.0 by the grader, 100.0 with reviews and on the two fully reviewed examples.
    app = reviewed.switch_page("app_pages/runs.py").run()
    (table,) = [found.value for found in app.dataframe if "characters" in found.value]
    row = table.iloc[0]
    assert (row["score"], row["with reviews"], row["fully reviewed"]) == (0.75, 1.0, 1.0)
    assert row["n fully reviewed"] == 2
    run = the_run(app)
    for example, position in ((0, 0), (0, 1), (1, 0), (1, 1)):
        journal.undo(Item(run, example, position), ANNA)
    app.run()
    (table,) = [found.value for found in app.dataframe if "characters" in found.value]
    assert not {"with reviews", "fully reviewed", "n fully reviewed"} & set(table.columns)


def test_the_ledger_marks_an_override_with_who_and_why(reviewed):
    app = reviewed.switch_page("app_pages/example.py")
    app.query_params["example"] = "2"
    app.run()
    assert not app.exception, app.exception
    text = shown(app)
    assert "**Overridden: not met** (the grader: met) by Anna (physician)" in text
    assert "Reason: grader misread the reply" in text
    assert "**With reviews:**" in text
    assert "Confirmed by Anna" in text


def test_agreement_counts_confuses_and_lists(reviewed, journal):
    app = reviewed.switch_page("app_pages/agreement.py").run()
    assert not app.exception, app.exception
    metrics = {metric.label: metric.value for metric in app.metric}
    # Four pairs, three agree: table (2, 1, 0, 1). kappa: chance 3/4 x 2/4 + 1/4 x 2/4 = 1/2 -> (3/4 - 1/2) / (1/2) = 0.5.
    # AC1: q = (3/4 + 2/4) / 2 = 5/8, chance 2 x 5/8 x 3/8 = 15/32 -> (3/4 - 15/32) / (17/32) = 9/17 = 0.53.
    # macro F1: (4/5 + 2/3) / 2 = 0.73.
    assert metrics["Raw agreement"] == "75.0 %"
    assert metrics["Cohen's kappa"] == "0.50"
    assert metrics["Gwet's AC1"] == "0.53"
    assert metrics["Macro F1"] == "0.73"
    assert "No sample was reviewed" in "\n".join(info.value for info in app.info)
    sign_in(app)
    app.button(key="adjudicate_MET").click().run()
    assert not app.exception, app.exception
    assert journal.events(the_run(app))[-1].kind == "adjudication"
    metrics = {metric.label: metric.value for metric in app.metric}
    assert metrics["With reviews applied"] == "75.0"


def test_agreement_without_a_review_says_where_to_start(open_page, one_run):
    app = open_page("agreement", one_run)
    assert "No verdict of this run was reviewed by a person." in shown(app)
    assert app.metric == []


def test_a_reviewer_does_not_see_disagreements_on_what_waits_for_them(reviewed, queues, tmp_path):
    run = the_run(reviewed)
    plan = Plan(kind=QueueKind.EXAMPLE, run=run, example=1)
    queues.save("Waiting", plan, make_queue(Library(tmp_path / "home"), plan), ["Ben"])
    app = reviewed.switch_page("app_pages/agreement.py").run()
    assert "hidden" not in shown(app)
    sign_in(app, BEN)
    assert "1 disagreement hidden" in shown(app)
