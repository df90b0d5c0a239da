"""axe finds nothing on any page, in light and dark, wide and narrow."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "app"))
from page_table import PAGES

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1440, 800])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [entry.name for entry in PAGES])
def test_axe_finds_nothing(browser, visit, name, scheme, width):
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 1000}, reduced_motion="reduce"
    )
    page = context.new_page()
    visit(page, "/" if name == PAGES[0].name else f"/{name}")
    page.wait_for_timeout(600)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    context.close()
