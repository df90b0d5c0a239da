"""Coverage, clipping and length in a browser: what is clicked, chosen and edited answers at once."""

from __future__ import annotations

import graded
import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.browser

MINUS = "\N{MINUS SIGN}"


def choose_run(page, settled, name):
    page.get_by_label("Run", exact=True).click()
    page.get_by_role("option", name=name, exact=True).click()
    settled(page)


def open_page(page, settled, title):
    links = page.get_by_test_id("stSidebar").get_by_role("link")
    links.filter(has=page.get_by_text(title, exact=True)).click()
    page.wait_for_url(f"**/{title.lower()}?**")
    settled(page)


def imported(page, visit, settled, *paths):
    """Import files and open nothing yet."""
    visit(page)
    page.get_by_role("button", name="Import").first.click()
    page.locator("input[type=file]").set_input_files(list(paths))
    page.get_by_text("imported: ").first.wait_for()
    settled(page)


def axe_is_content(page):
    # To the empty edge, because the hint of what was clicked would lie over the page.
    page.mouse.move(1435, 700)
    page.wait_for_timeout(800)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_a_square_of_the_grid_opens_its_criteria(page, visit, settled):
    visit(page, "/coverage")
    squares = page.locator(".st-key-grid .scatterlayer .point")
    squares.first.wait_for()
    squares.first.scroll_into_view_if_needed()
    squares.first.click(force=True)
    listed = page.get_by_text("different criteria")
    listed.wait_for()
    settled(page)
    assert "Emergency referrals" in listed.inner_text()
    page.locator("[aria-label^='Criteria of Emergency referrals'] [role=gridcell]").first.wait_for(
        state="attached"
    )
    # The first button of the list opens the examples with that criterion.
    table = page.get_by_test_id("stDataFrame").filter(
        has=page.locator("[aria-label^='Criteria of']")
    )
    table.click(position={"x": 40, "y": 52})
    page.wait_for_url("**/examples?**criterion=**")
    settled(page)


def test_the_preset_moves_the_score_and_the_link_carries_it(page, visit, settled):
    visit(page, "/length")
    result = page.locator(".st-key-calculator_result").get_by_test_id("stMetricValue")
    page.get_by_role("radio", name="Professional").or_(
        page.get_by_role("button", name="Professional", exact=True)
    ).first.click()
    page.wait_for_url("**length=professional**")
    settled(page)
    assert result.inner_text() == "57.06 points"
    adjusted = page.get_by_test_id("stMetric").filter(
        has=page.get_by_text("Adjusted score", exact=True)
    )
    before = adjusted.inner_text()
    page.get_by_role("radio", name="Hard").or_(
        page.get_by_role("button", name="Hard", exact=True)
    ).first.click()
    page.wait_for_url("**length=hard**")
    settled(page)
    # 0.60 - 0.0392 * 2
    assert result.inner_text() == "52.16 points"
    assert adjusted.inner_text() != before


def test_the_sandbox_follows_an_edited_score(page, visit):
    visit(page, "/clipping")
    editor = page.locator(".st-key-sandbox_0").get_by_test_id("stDataFrame")
    editor.scroll_into_view_if_needed()
    values = page.locator(".st-key-sandbox_result").get_by_test_id("stMetricValue")
    assert values.all_inner_texts() == ["0.0", "23.3", f"{MINUS}30.0"]
    # The second row, -1.6, becomes -0.4: mean (0.7 - 0.4 + 0) / 3 = 0.1.
    editor.click(position={"x": 200, "y": 35 + 35 + 17})
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    page.keyboard.press("Control+a")
    page.keyboard.type("-0.4", delay=60)
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => document.querySelector('.st-key-sandbox_result [data-testid=stMetricValue]').innerText === '10.0'"
    )
    assert values.all_inner_texts() == ["10.0", "23.3", "10.0"]


def test_a_number_seen_elsewhere_is_found_on_a_run_below_zero(page, visit, settled):
    visit(page, "/clipping")
    choose_run(page, settled, "sample-overconfident")
    gap = page.locator(".st-key-gap").get_by_test_id("stMetricValue").all_inner_texts()
    assert gap[0] == "0.0"
    assert gap[3].startswith(MINUS)
    seen = page.get_by_role("textbox", name="I saw the number")
    seen.fill(gap[1])
    seen.press("Enter")
    answer = page.get_by_test_id("stAlert").filter(has_text="is what")
    answer.wait_for()
    assert "Early clip" in answer.inner_text()
    axe_is_content(page)


def test_a_run_without_tags_and_themes_is_explained(page, visit, settled, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_untagged_20260101_100000_allresults.json",
        *(
            graded.example(f"p{number}", graded.item(5, number > 0), graded.item(-9, number == 0))
            for number in range(3)
        ),
    )
    imported(page, visit, settled, path)
    open_page(page, settled, "Coverage")
    assert page.get_by_text("does not say which theme a conversation has").is_visible()
    assert page.get_by_text("No criterion of this run carries an axis.").is_visible()
    axe_is_content(page)
    for title in ("Clipping", "Length"):
        open_page(page, settled, title)
        axe_is_content(page)


def test_a_professional_run_shows_its_own_tags(page, visit, settled, tmp_path):
    tags = (
        ("consult", "good_faith", "typical", "Cardiology"),
        ("research", "red_teaming", "difficult", "Neurology"),
    )
    path = graded.allresults(
        tmp_path / "healthbench_professional_20260101_100000_allresults.json",
        *(
            graded.example(f"pro{number}", graded.item(5), graded.item(-3, False))
            for number in range(len(tags))
        ),
    )
    rows = graded.dataset(
        tmp_path / "professional.jsonl",
        *(
            graded.dataset_row(f"pro{number}", graded.item(5), tags=tag)
            for number, tag in enumerate(tags)
        ),
    )
    imported(page, visit, settled, path, rows)
    open_page(page, settled, "Coverage")
    assert page.get_by_text("this benchmark has no themes").is_visible()
    page.get_by_text("specialty", exact=True).click()
    settled(page)
    assert page.locator(".st-key-tags").get_by_text("Cardiology").first.is_visible()
    axe_is_content(page)
    open_page(page, settled, "Length")
    assert page.get_by_text("By tag").is_visible()
