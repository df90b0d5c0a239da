"""A clinician in a browser: blind first, by keyboard alone, and what it does to the numbers."""

from __future__ import annotations

import itertools
from pathlib import Path

import graded
import pytest
from axe_playwright_python.sync_playwright import Axe

from healthbench.review.queues import Entry, Plan, QueueKind, make_queue, population
from healthbench.review.saved import SavedQueues
from healthbench.store.journal import Decision, Item, Journal, Reviewer
from healthbench.store.library import Library
from healthbench.store.review_file import FILE_NAME, ReviewFile

pytestmark = pytest.mark.browser

SAMPLES = Path(__file__).parents[2] / "sample_runs"
MINUS = "\N{MINUS SIGN}"

# sample_runs/README.md: assistant -> (start of the prompt, number of the criterion) of its slips, and the unclipped mean
# with them corrected.
SLIPS = {
    "careful": ([("995dfde1", 6), ("08b0aa1e", 5)], "67.2"),
    "terse": ([("986177f4", 9), ("2c641adf", 3), ("2a8b86e7", 1)], "40.4"),
    "overconfident": ([("2aada509", 9), ("621b6a4e", 8), ("aa715fc8", 10)], f"{MINUS}6.7"),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("reviewed")


@pytest.fixture(scope="module")
def library(home):
    opened = Library(home)
    opened.import_paths([SAMPLES])
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def server(serve, home):
    with serve(home) as address:
        yield address


@pytest.fixture(scope="module")
def reviews(home):
    file = ReviewFile(home / FILE_NAME)
    yield file
    file.close()


class Clinic:
    """What every test does before it comes to its point."""

    def __init__(self, visit, settled, library, file):
        self.visit, self.settled, self.library, self.file = visit, settled, library, file
        self.journal = Journal(file)

    def run_of(self, assistant):
        return next(
            run.id
            for run in self.library.runs()
            if run.name == f"sample-{assistant}" and run.n_examples == 21
        )

    def queue(self, items, name="Queue"):
        plan = Plan(kind=QueueKind.SLICE, run=items[0].run)
        return SavedQueues(self.file).save(name, plan, [Entry(item, None) for item in items]).id

    def sign_in(self, page, name="Anna"):
        page.get_by_label("Name").click()
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Start").click()
        page.get_by_role("button", name="Start").wait_for(state="detached")
        self.settled(page)

    def open(self, page, run, queue, name="Anna"):
        self.visit(page, f"/review?run={run}&queue={queue}")
        self.sign_in(page, name)

    def follow(self, page, name):
        """Follow a link of the sidebar."""
        page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()
        page.wait_for_url(f"**/{name.lower()}**")
        self.settled(page)


@pytest.fixture
def clinic(visit, settled, library, reviews):
    return Clinic(visit, settled, library, reviews)


def rows_by_prompt(library, run):
    with library.cursor(run) as cursor:
        found = cursor.execute("SELECT prompt_id, example FROM examples").fetchall()
    return {prompt_id[:8]: example for prompt_id, example in found}


def decide(page, key, wait="[class*=st-key-review_grader]"):
    page.keyboard.press(key)
    page.locator(wait).first.wait_for()


def go_on(page, place, n):
    page.keyboard.press("Enter")
    page.get_by_text(f"{place} of {n}").wait_for()
    page.locator("[class*=st-key-review_grader]").wait_for(state="detached")


def cells(page, label):
    """Return a table's rows; what its canvas shows stands inside for screen readers."""
    table = page.locator(f"[aria-label='{label}']").first
    table.locator("[role=gridcell]").first.wait_for(state="attached")
    rows = table.locator("[role=row]").all()
    found = [[cell.inner_text() for cell in row.locator("[role=gridcell]").all()] for row in rows]
    return [row for row in found if row]


def metric(page, label):
    found = page.get_by_test_id("stMetric").filter(has_text=label)
    return found.get_by_test_id("stMetricValue").inner_text()


@pytest.mark.parametrize("assistant", SLIPS)
def test_a_reviewer_finds_the_slips(page, clinic, assistant):
    """The reviewer judges each slip and the two criteria before it: right where the file is right."""
    run = clinic.run_of(assistant)
    slips, corrected = SLIPS[assistant]
    rows = rows_by_prompt(clinic.library, run)
    wrong = {(rows[start], number - 1) for start, number in slips}
    items = [
        Item(run, example, place)
        for example, position in sorted(wrong)
        for place in range(max(0, position - 2), position + 1)
    ]
    stored = population(clinic.library, run).set_index(["example", "position"])["met"]
    clinic.open(page, run, clinic.queue(items), "Finder")
    for place, item in enumerate(items, 1):
        met = bool(stored[item.example, item.position]) ^ ((item.example, item.position) in wrong)
        decide(page, "m" if met else "n")
        page.get_by_text("you differ" if tuple(item[1:]) in wrong else "you agree").wait_for()
        if place < len(items):
            go_on(page, place + 1, len(items))
    clinic.follow(page, "Agreement")
    page.get_by_text("Disagreements", exact=True).wait_for()
    listed = cells(
        page, "Verdicts on which reviewers differ among themselves or from the grader, one a row"
    )
    assert {(int(row[0]) - 1, int(row[1]) - 1) for row in listed} == wrong
    shown = page.get_by_test_id("stMetric").filter(has_text="With reviews applied")
    if corrected.startswith(MINUS):
        assert metric(page, "With reviews applied") == "0.0"
        assert page.get_by_text(f"unclipped {corrected}").is_visible()
    else:
        assert shown.get_by_test_id("stMetricValue").inner_text() == corrected


def test_one_override_moves_every_number_by_hand_and_undo_restores_them(page, clinic, tmp_path):
    # Two examples, theme by their cluster. p1: (5 + 8 - 3) / 13; p2: 4 / 4. Turning the met penalty of p1 to not met:
    # example 13/13 = 1; run (1 + 1) / 2 = 1; before (10/13 + 1) / 2 = 23/26.
    # Axis accuracy holds +5 and -3 of p1 and +4 of p2: before (2/5 + 1) / 2 = 0.7, after 1.
    cluster = "cluster:hedging_no-uncertainty_accurate"
    path = graded.allresults(
        tmp_path / "healthbench_by-hand_20260101_100000_allresults.json",
        graded.example(
            "p1",
            graded.item(5, True, "level:cluster", cluster, "axis:accuracy"),
            graded.item(8, True, "level:example", "axis:completeness"),
            graded.item(-3, True, "level:example", "axis:accuracy"),
        ),
        graded.example("p2", graded.item(4, True, "level:cluster", cluster, "axis:accuracy")),
    )
    run = clinic.library.import_paths([path])[0].run.id
    clinic.open(page, run, "example-1")
    page.keyboard.press("j")
    page.get_by_text("2 of 3").wait_for()
    page.keyboard.press("j")
    page.get_by_text("3 of 3").wait_for()
    decide(page, "n")
    page.get_by_text("this example scores 1.000 in place of 0.769 (+23.1 of 100)").wait_for()

    def numbers():
        clinic.follow(page, "Score")
        page.get_by_text("Themes and axes with reviews").click()
        label = "Unclipped means of themes and axes by the grader, with reviews and on fully reviewed examples"
        table = {row[0]: [float(value) for value in row[1:3]] for row in cells(page, label)}
        return metric(page, "By the grader"), metric(page, "With reviews applied"), table

    before, after, table = numbers()
    assert (before, after) == ("88.5", "100.0")
    assert table["Accuracy"] == [0.7, 1]
    assert table["Responding under uncertainty"] == pytest.approx([23 / 26, 1], abs=1e-6)
    assert table["Completeness"] == [1, 1]

    clinic.follow(page, "Review")
    page.locator(".st-key-review_to_2 button").click()
    page.get_by_text("3 of 3").wait_for()
    page.keyboard.press("z")
    page.get_by_text("your decision was taken back").wait_for()
    clinic.follow(page, "Score")
    assert page.get_by_text("No verdict of this run was reviewed by a person.").is_visible()
    scores = clinic.library.run_scores(run, inferred=True).overall.scores.tolist()
    assert scores == [10 / 13, 1.0]


def test_before_a_decision_nothing_of_the_grader_is_sent(page, clinic, tmp_path):
    marks = [f"ZEBRA{number}STRIPES" for number in range(3)]
    path = graded.allresults(
        tmp_path / "healthbench_blind_20260101_100000_allresults.json",
        graded.example(
            "p1",
            *(
                graded.item(
                    5, place != 1, "axis:accuracy", criterion=f"Criterion {place}", explanation=mark
                )
                for place, mark in enumerate(marks)
            ),
        ),
    )
    run = clinic.library.import_paths([path])[0].run.id
    received = []
    page.on(
        "websocket",
        lambda socket: socket.on(
            "framereceived",
            lambda payload: received.append(
                payload if isinstance(payload, bytes) else payload.encode()
            ),
        ),
    )
    items = [Item(run, 0, place) for place in range(3)]
    clinic.open(page, run, clinic.queue(items), "Blind")

    def sent():
        return b"".join(received) + page.content().encode()

    seen = 0
    for place, mark in enumerate(marks):
        assert f"Criterion {place}".encode() in sent()
        assert mark.encode() not in sent()
        assert b"The grader:" not in b"".join(received[seen:])
        decide(page, "m")
        page.get_by_text(mark).wait_for()
        assert mark.encode() in sent()
        if place < 2:
            seen = len(received)
            go_on(page, place + 2, 3)
    # In the list of a whole example, too, only what was decided is told.
    received.clear()
    clinic.open(page, run, "example-1", "Other")
    decide(page, "m")
    page.get_by_text(marks[0]).wait_for()
    assert not any(mark.encode() in sent() for mark in marks[1:])


def tab_to(page, test):
    for _ in range(60):
        if page.evaluate(f"(() => {{ const node = document.activeElement; return {test} }})()"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab never came to: {test}")


def test_twenty_decisions_by_keyboard_alone(page, clinic, visit, settled):
    run = clinic.run_of("careful")
    entries = make_queue(clinic.library, Plan(kind=QueueKind.RANDOM, run=run, size=20, seed=1))
    queue = SavedQueues(clinic.file).save(
        "By keyboard", Plan(kind=QueueKind.RANDOM, run=run), entries, ["Keys"]
    )
    visit(page, f"/review?run={run}")
    tab_to(
        page, "node.getAttribute('aria-label') === 'Name' || node.labels?.[0]?.innerText === 'Name'"
    )
    page.keyboard.type("Keys")
    page.keyboard.press("Enter")
    tab_to(page, "node.innerText === 'Start'")
    page.keyboard.press("Enter")
    page.get_by_text("By keyboard").wait_for()
    settled(page)
    tab_to(page, f"node.closest('.st-key-open_{queue.id}') !== null")
    page.keyboard.press("Enter")
    page.get_by_text("1 of 20").wait_for()
    settled(page)

    page.keyboard.press("?")
    page.get_by_text("cannot judge", exact=False).last.wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    page.keyboard.type("Mun, nothing decided yet")
    page.keyboard.press("Escape")
    settled(page)
    assert [event for event in clinic.journal.events(run) if event.reviewer == "Keys"] == []

    keys = itertools.cycle("mnu")
    for place, key in zip(range(1, 21), keys, strict=False):
        decide(page, key)
        if place < 20:
            go_on(page, place + 1, 20)
    page.get_by_text("20 decided · 0 left").wait_for()
    events = [event for event in clinic.journal.events(run) if event.reviewer == "Keys"]
    assert [event.decision for event in events] == [
        {"m": "met", "n": "not met", "u": "cannot judge"}[key]
        for key, _ in zip(itertools.cycle("mnu"), range(20), strict=False)
    ]
    assert [event.item for event in events] == [entry.item for entry in entries]
    assert all(event.blind and event.seconds is not None for event in events)
    assert events[0].note == "Mun, nothing decided yet"
    assert {event.chance for event in events} == {entry.chance for entry in entries}


def test_dashboards_on_two_ports_share_one_store(page, browser, clinic, serve, home):
    run = clinic.run_of("terse")
    queue = clinic.queue([Item(run, 0, place) for place in range(4)], "Shared")
    clinic.open(page, run, queue, "Here")
    with serve(home) as address:
        context = browser.new_context()
        other = context.new_page()
        clinic.visit(other, f"{address}/review?run={run}&queue={queue}")
        clinic.sign_in(other, "There")
        for window in (page, other):
            decide(window, "m")
        page.keyboard.press("Enter")
        other.keyboard.press("Enter")
        for window in (page, other):
            window.get_by_text("2 of 4").wait_for()
            decide(window, "n")
        mine = [
            event for event in clinic.journal.events(run) if event.reviewer in ("Here", "There")
        ]
        assert len(mine) == 4
        page.get_by_role("button", name="All queues").click()
        page.get_by_text("Shared").wait_for()
        context.close()


@pytest.mark.parametrize("width", [1440, 800])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_while_reviewing(browser, clinic, settled, scheme, width):
    run, journal = clinic.run_of("overconfident"), clinic.journal
    journal.record(Item(run, 0, 0), Reviewer("A", "nurse"), Decision.MET, prompt_id="p", blind=True)
    journal.record(
        Item(run, 0, 0), Reviewer("B", "nurse"), Decision.NOT_MET, prompt_id="p", blind=True
    )
    queue = clinic.queue([Item(run, 1, 0), Item(run, 1, 1)], "Axe")
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 1000}, reduced_motion="reduce"
    )
    page = context.new_page()

    def clean():
        page.wait_for_timeout(500)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()

    clinic.visit(page, f"/review?run={run}&queue={queue}")
    clean()
    clinic.sign_in(page, f"{scheme}{width}")
    clean()
    decide(page, "m")
    clean()
    page.get_by_role("button", name="All queues").click()
    settled(page)
    page.get_by_text("Make a queue").click()
    settled(page)
    clean()
    clinic.follow(page, "Agreement")
    page.get_by_text("Disagreements", exact=True).wait_for()
    page.get_by_text("Adjudicate", exact=True).click()
    settled(page)
    clean()
    clinic.follow(page, "Example")
    page.get_by_test_id("stMain").get_by_role("link", name="Review", exact=True).click()
    page.get_by_text("All criteria of example").wait_for()
    settled(page)
    decide(page, "u")
    clean()
    context.close()
