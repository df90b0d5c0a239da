"""Comparing in a browser: gate, flips, side by side, slices, repeats, and a report that opens offline."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.browser


def open_sample(page, visit, place="compare", more=""):
    """Open a page on the first sample run, the careful one, by its link; return the run's id."""
    visit(page)
    run = re.search(r"run=([0-9a-f]+)", page.url).group(1)
    visit(page, f"/{place}?run={run}{more}")
    return run


def part(page, settled, name):
    page.get_by_role("radiogroup", name="What to see").get_by_text(name, exact=True).click()
    settled(page)


def test_what_differs_comes_first_then_the_difference(page, visit, settled):
    open_sample(page, visit)
    assert page.get_by_text("21 shared prompts").is_visible()
    assert page.get_by_text("Neither file records its grader").is_visible()
    value = page.get_by_test_id("stMetricValue").first.inner_text()
    assert re.fullmatch("[+\N{MINUS SIGN}]\\d+\\.\\d", value)
    assert "against=" in page.url

    # Turned round, the difference has the other sign.
    before = page.url
    page.get_by_role("button", name="Swap").click()
    page.wait_for_function("old => location.href !== old", arg=before)
    settled(page)
    turned = page.get_by_test_id("stMetricValue").first.inner_text()
    assert {value[0], turned[0]} == {"+", "\N{MINUS SIGN}"}
    assert value[1:] == turned[1:]


def test_a_flip_opens_both_replies_and_the_link_is_the_same_view(
    page, visit, settled, browser, watched
):
    open_sample(page, visit)
    part(page, settled, "Criteria")
    assert page.get_by_text("were fixed").is_visible()
    flips = page.locator("[aria-label='Criteria and what became of them, one a row']")
    flips.scroll_into_view_if_needed()
    page.get_by_test_id("stDataFrame").filter(has=flips).click(position={"x": 50, "y": 52})
    page.wait_for_url("**part=example**")
    settled(page)
    assert page.get_by_text("Criterion by criterion").is_visible()
    page.get_by_text("What differs in the text of the replies").click()
    difference = page.locator("div.difference")
    difference.wait_for()
    assert difference.locator("del, ins").count() >= 2

    first = page.url
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.wait_for_function("old => location.href !== old", arg=first)
    settled(page)
    link = page.url
    shown = page.get_by_text("in the other run,").inner_text()
    other = browser.new_context()
    fresh = watched(other.new_page())
    fresh.goto(link)
    settled(fresh)
    assert fresh.get_by_text("in the other run,").inner_text() == shown
    other.close()


def test_a_prompt_in_the_scatter_opens_both_replies(page, visit, settled):
    open_sample(page, visit, more="&part=prompts")
    point = page.locator(".js-plotly-plot .scatterlayer .trace .points path").nth(3)
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    page.wait_for_timeout(300)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url("**part=example**")
    settled(page)
    assert page.get_by_text("Criterion by criterion").is_visible()


def test_a_slice_is_saved_and_used_for_a_comparison(page, visit, settled):
    run = open_sample(page, visit, "examples", more="&themes=theme:hedging&min_messages=1")
    page.get_by_role("button", name="Slices").click()
    page.get_by_label("Name of the slice").fill("uncertain")
    page.get_by_label("Name of the slice").press("Enter")
    page.get_by_role("button", name="Save as a slice").click()
    page.get_by_role("button", name="uncertain", exact=True).wait_for()
    visit(page, f"/compare?run={run}")
    page.get_by_role("combobox", name="Examples counted").click()
    page.get_by_role("option", name="uncertain").click()
    page.wait_for_url("**sliced=1**")
    settled(page)
    assert page.get_by_text("3 shared prompts").is_visible()
    assert page.get_by_text("Slice: theme Responding under uncertainty").is_visible()


def test_repeats_open_the_worst_reply(page, visit, settled):
    open_sample(page, visit, "repeats")
    assert page.get_by_text("nothing was repeated").is_visible()
    page.get_by_test_id("stSidebar").get_by_role("combobox").click()
    page.get_by_role("option", name=re.compile("sample-terse.*09:45")).click()
    page.get_by_text("If the worst of k replies counted").wait_for()
    settled(page)
    assert page.get_by_text("If the worst of k replies counted").is_visible()
    listed = page.locator(
        "[aria-label='Prompts by how far their worst reply falls below their mean']"
    )
    listed.scroll_into_view_if_needed()
    page.get_by_test_id("stDataFrame").filter(has=listed).click(position={"x": 50, "y": 52})
    page.wait_for_url("**/example?**")
    settled(page)
    assert page.get_by_text("1 of 4").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_opens_offline_and_passes_axe(browser, visit, tmp_path, scheme):
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": 1440, "height": 1000}, accept_downloads=True
    )
    page = context.new_page()
    open_sample(page, visit)
    page.get_by_role("button", name="Report").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Write the report").click()
    path = tmp_path / "report.html"
    download.value.save_as(path)
    assert "sample-careful" in download.value.suggested_filename
    context.close()

    offline = browser.new_context(color_scheme=scheme, offline=True)
    report = offline.new_page()
    asked, problems = [], []
    report.on("request", lambda request: asked.append(request.url))
    report.on("console", lambda message: problems.append(message.text))
    report.on("pageerror", lambda error: problems.append(str(error)))
    report.goto(path.as_uri())
    report.wait_for_function(
        "() => document.querySelectorAll('figure').length === document.querySelectorAll('figure .main-svg:first-child').length"
    )
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert problems == []
    assert report.get_by_role("heading", name="sample-careful less").is_visible()
    found = Axe().run(report)
    assert found.violations_count == 0, found.generate_report()
    offline.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("shown", ["criteria", "prompts", "example"])
def test_axe_finds_nothing_on_the_parts(browser, visit, settled, shown, scheme):
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": 1440, "height": 1000}, reduced_motion="reduce"
    )
    page = context.new_page()
    open_sample(page, visit, more=f"&part={shown}")
    closed = page.locator("details:not([open]) > summary")
    for _ in range(closed.count()):
        closed.first.click()
    settled(page)
    for width in (1440, 800):
        page.set_viewport_size({"width": width, "height": 1000})
        settled(page)
        found = Axe().run(page)
        assert found.violations_count == 0, f"{width} pixels wide: {found.generate_report()}"
    context.close()
