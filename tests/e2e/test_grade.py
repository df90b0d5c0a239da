"""Grading in a browser: by hand, with a slow scripted grader, and the key that appears nowhere."""

from __future__ import annotations

import json
import re
import time
from itertools import pairwise

import pytest
from axe_playwright_python.sync_playwright import Axe
from fake_provider import FakeProvider

pytestmark = pytest.mark.browser

MINUS = "\N{MINUS SIGN}"
KEY = "sk-never-to-be-seen-anywhere-42"
SLOW = 2.0


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("grading")


@pytest.fixture(scope="module")
def dashboard(serve, home):
    """A dashboard on a store of its own, started without a key."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            patch.delenv(name, raising=False)
        with serve(home) as address:
            yield address


def rubric(n, points=1):
    return json.dumps(
        [{"criterion": f"States item-{place}.", "points": points} for place in range(n)]
    )


def write_own(page, settled, criteria):
    """Type a conversation, paste a rubric and write a reply; the fields are never left."""
    page.get_by_text("My own", exact=True).click()
    page.get_by_text("Pasted JSON or CSV", exact=True).click()
    page.get_by_label("Turn 1", exact=True).fill("What helps against a cough?")
    page.get_by_text("The rubric is empty").wait_for()
    page.get_by_label("Rubric as JSON or CSV").fill(criteria)
    page.get_by_text("3 · Verdicts").wait_for()
    page.get_by_label("The reply to grade").fill("Honey, for adults and older children.")
    page.get_by_text("37 characters").wait_for()
    settled(page)


def use_provider(page, settled, provider, key=KEY):
    page.get_by_role("tab", name="With a model").click()
    page.get_by_text("Another model, address or wording").click()
    page.get_by_role("textbox", name="Model", exact=True).fill("gpt-4.1")
    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Base URL").fill(provider.url)
    page.keyboard.press("Enter")
    page.get_by_text("another model, another address").wait_for()
    if key:
        page.get_by_label("API key for").fill(key)
        page.keyboard.press("Enter")
        page.get_by_text("is kept for this session alone").wait_for()
    settled(page)


def begin(page):
    page.get_by_role("button", name="Grade ", exact=False).and_(
        page.locator(".st-key-grade_start button")
    ).click()
    page.get_by_role("button", name="Cancel").wait_for()


def heading(page):
    """The band over the ledger as (worst, best); equal where there is a score."""
    text = page.locator(".st-key-grade_result h3").first.inner_text().replace(MINUS, "-")
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d+", text)]
    return numbers[0], numbers[-1]


def test_without_a_key_by_hand_is_open_and_the_score_moves_at_once(page, visit, settled, dashboard):
    visit(page, f"{dashboard}/grade")
    assert page.get_by_role("tab", name="By hand").get_attribute("aria-selected") == "true"
    page.get_by_role("button", name="Take the reply of").click()
    settled(page)
    # The first sample: 9 5 8 6 5 4 -9 -8 -6, so 37 points possible.
    page.get_by_text(f"[{MINUS}0.62 … 1.00]").wait_for()
    groups = page.get_by_role("radiogroup", name=re.compile("Verdict on criterion"))
    assert groups.count() == 9
    for number in range(9):
        word = "met" if number in {0, 6} else "not met"
        groups.nth(number).get_by_text(word, exact=True).click()
        settled(page)
    page.get_by_text(f"(+9 {MINUS}9) / 37 = 0.00").wait_for()
    page.get_by_role("textbox", name="Model that replied").fill("edited by hand")
    page.keyboard.press("Enter")
    settled(page)
    page.get_by_role("button", name="Save as a run").click()
    page.get_by_role("link", name="Open edited by hand").click()
    page.wait_for_url("**/example?**")
    settled(page)
    page.get_by_role("link", name="graded by a person").wait_for()
    page.get_by_text(f"(+9 {MINUS}9) / 37 = 0.00").wait_for()


def test_with_a_model_but_no_key_nothing_can_be_sent_and_by_hand_is_offered(
    page, visit, settled, dashboard
):
    visit(page, f"{dashboard}/grade")
    page.get_by_role("button", name="Take the reply of").click()
    settled(page)
    page.get_by_role("tab", name="With a model").click()
    page.get_by_text("Without a key, grade by hand").wait_for()
    assert page.locator(".st-key-grade_start button").is_disabled()
    assert page.get_by_text("No patient data.").is_visible()


def test_a_slow_grading_narrows_its_band_and_is_cancelled_at_once(page, visit, settled, dashboard):
    visit(page, f"{dashboard}/grade")
    write_own(page, settled, rubric(40))
    with FakeProvider(latency=SLOW) as provider:
        use_provider(page, settled, provider, key=None)
        begin(page)
        bands = []
        until = time.monotonic() + 60
        # 40 calls, 8 at a time: five rounds; two of them are waited for.
        while len(provider.questions) < 24 and time.monotonic() < until:
            bands.append(heading(page))
            page.wait_for_timeout(150)
        page.get_by_role("button", name="Cancel").click()
        clicked = time.monotonic()
        page.get_by_text("Cancelled. The verdicts that came are kept.").wait_for(timeout=10_000)
        took = time.monotonic() - clicked
        settled(page)
        asked = len(provider.questions)
        page.wait_for_timeout(int(2 * SLOW * 1000))
        assert len(provider.questions) == asked < 40
    assert bands[0] == (0, 1)
    assert all(a[0] <= b[0] and a[1] >= b[1] for a, b in pairwise(bands))
    assert len(set(bands)) >= 2
    low, high = heading(page)
    assert 0 < low < high < 1
    decided = int(re.search(r"(\d+) of 40 criteria decided", page.inner_text("body"))[1])
    # Items with an even number are met, so half of what came counts.
    assert 8 <= decided < 40
    assert round(high - low, 2) == round((40 - decided) / 40, 2)
    # One redraw of the page on a busy machine is not the grading's doing.
    page.get_by_role("button", name="Ask again").first.scroll_into_view_if_needed()
    redraw = time.monotonic()
    page.get_by_role("tab", name="By hand").click()
    page.get_by_text("Say for each criterion whether").wait_for()
    settled(page)
    redraw = time.monotonic() - redraw
    assert took < 1 + redraw


def test_one_failed_criterion_is_asked_again_alone(page, visit, settled, dashboard):
    visit(page, f"{dashboard}/grade")
    write_own(page, settled, rubric(3, points=2))
    with FakeProvider({1: ["too_long", True]}) as provider:
        use_provider(page, settled, provider, key=None)
        page.locator(".st-key-grade_start button").click()
        page.get_by_text("1 criterion without a verdict:").wait_for()
        settled(page)
        # 4 of 6 points, 6 of 6 where item-1 were met
        assert heading(page) == (0.67, 1.0)
        page.get_by_role("button", name="Ask again").click()
        page.get_by_text("(+2 +2 +2) / 6 = 1.00").wait_for()
        settled(page)
        assert len(provider.questions) == 4
    assert page.get_by_text("without a verdict:").count() == 0


def test_the_cost_cap_stops_a_grading(page, visit, settled, dashboard):
    visit(page, f"{dashboard}/grade")
    write_own(page, settled, rubric(30, points=3))
    with FakeProvider() as provider:
        use_provider(page, settled, provider, key=None)
        cap = page.get_by_role("spinbutton", name="Cost cap")
        cap.fill("0.03")
        page.keyboard.press("Enter")
        settled(page)
        page.locator(".st-key-grade_start button").click()
        page.get_by_text("The cost cap of $0.03 is reached").wait_for()
        settled(page)
        # A request costs 0.0025 dollars.
        assert 0 < len(provider.questions) <= 12
    assert page.get_by_text("Receipt", exact=True).is_visible()


def test_the_key_appears_nowhere(page, visit, settled, dashboard, home):
    visit(page, f"{dashboard}/grade")
    write_own(page, settled, rubric(5, points=5))
    with FakeProvider({2: ["bad_key"]}, latency=0.1) as provider:
        use_provider(page, settled, provider)
        seen = [page.content()]
        page.locator(".st-key-grade_start button").click()
        page.get_by_text("the key was not accepted").wait_for()
        settled(page)
        seen.append(page.content())
        assert provider.requests[0].headers["authorization"] == f"Bearer {KEY}"
        provider.script[2] = [True]
        page.get_by_role("button", name="Ask about all").or_(
            page.get_by_role("button", name="Ask again")
        ).first.click()
        page.get_by_text("(+5 +5 +5) / 25 = 0.60").wait_for()
        settled(page)
        page.get_by_role("button", name="Save as a run").click()
        page.get_by_role("link", name=re.compile("Open ")).wait_for()
        settled(page)
    for summary in page.locator(".st-key-grade_result details > summary").all():
        summary.click()
    settled(page)
    seen += [page.content(), page.url, json.dumps(page.context.storage_state())]
    assert not any(KEY in text for text in seen)
    files = [path for path in home.rglob("*") if path.is_file()]
    assert {"grades.sqlite", "run.json"} <= {path.name for path in files}
    assert any(path.suffix == ".log" for path in files)
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    page.get_by_role("button", name="Forget it").click()
    field = page.get_by_label("API key for")
    field.wait_for()
    assert field.input_value() == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_state_of_a_grading(browser, visit, settled, dashboard, scheme):
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": 1440, "height": 1000}, reduced_motion="reduce"
    )
    page = context.new_page()

    def check(state):
        for width in (1440, 800):
            page.set_viewport_size({"width": width, "height": 1000})
            settled(page)
            found = Axe().run(page)
            assert found.violations_count == 0, f"{state}, {width}: {found.generate_report()}"

    visit(page, f"{dashboard}/grade")
    page.get_by_text("My own", exact=True).click()
    settled(page)
    check("an empty rubric")
    page.set_viewport_size({"width": 1440, "height": 1000})
    write_own(page, settled, rubric(4))
    check("by hand")
    with FakeProvider({1: ["too_long"]}, latency=0.1) as provider:
        use_provider(page, settled, provider)
        check("before the start")
        for _ in range(2):
            page.locator(".st-key-grade_start button").click()
            page.get_by_text("without a verdict:").wait_for()
            settled(page)
        for summary in page.locator("[data-testid=stMain] details > summary").all():
            if summary.locator("xpath=..").get_attribute("open") is None:
                summary.click()
        check("after a second grading")
    context.close()
