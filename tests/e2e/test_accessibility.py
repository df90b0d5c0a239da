"""axe finds nothing on any page, in light and dark, wide and narrow."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "app"))
from page_table import PAGES

pytestmark = pytest.mark.browser


WIDE, NARROW = 1440, 800


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [entry.name for entry in PAGES])
def test_axe_finds_nothing(browser, visit, settled, name, scheme):
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": WIDE, "height": 1000}, reduced_motion="reduce"
    )
    page = context.new_page()
    visit(page, "/" if name == PAGES[0].name else f"/{name}")
    for width in (WIDE, NARROW):
        page.set_viewport_size({"width": width, "height": 1000})
        settled(page)
        found = Axe().run(page)
        assert found.violations_count == 0, f"{width} pixels wide: {found.generate_report()}"
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_what_is_chosen_and_opened(browser, visit, settled, scheme):
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": WIDE, "height": 1000}, reduced_motion="reduce"
    )
    page = context.new_page()
    visit(page)
    run = page.url.partition("?")[2]
    for place in (f"/examples?{run}&states=incurred&min_characters=10", f"/score?{run}"):
        visit(page, place)
        summaries = page.locator("details > summary")
        for place_of_summary in range(summaries.count()):
            if summaries.nth(place_of_summary).locator("xpath=..").get_attribute("open") is None:
                summaries.nth(place_of_summary).click()
        settled(page)
        found = Axe().run(page)
        assert found.violations_count == 0, f"{place}: {found.generate_report()}"
    context.close()
