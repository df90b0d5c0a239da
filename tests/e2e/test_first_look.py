"""The main job in a browser: first look, filter, open, step, link, upload."""

from __future__ import annotations

import graded
import pytest

pytestmark = pytest.mark.browser


def canvas_button(page, row):
    """Click the button in the first column of a table's row (rows are 35 px high, below a 35 px head)."""
    page.get_by_test_id("stDataFrame").first.click(position={"x": 35, "y": 35 + 35 * row + 17})


def go_to(page, title):
    """Follow a link of the sidebar."""
    links = page.get_by_test_id("stSidebar").get_by_role("link")
    links.filter(has=page.get_by_text(title, exact=True)).click()
    page.wait_for_url(f"**/{title.lower()}?**")


def upload(page, path):
    page.get_by_role("button", name="Import").first.click()
    page.locator("input[type=file]").set_input_files(path)


def test_first_open_shows_the_sample_runs(page, visit):
    visit(page)
    # A table is drawn on a canvas; what it shows stands inside for screen readers.
    cells = page.locator("[aria-label='Runs in the store, one a row'] [role=gridcell]")
    assert cells.get_by_text("sample-careful", exact=True).count() == 1
    assert cells.get_by_text("SYNTHETIC SAMPLE").count() == 4
    assert "run=" in page.url


def test_open_a_run_filter_open_step_and_follow_the_link(page, visit, settled, browser, watched):
    visit(page)
    canvas_button(page, 0)
    page.wait_for_url("**/score?**")
    settled(page)
    assert page.get_by_text("SYNTHETIC SAMPLE").is_visible()

    go_to(page, "Examples")
    settled(page)
    page.get_by_label("State of a criterion").click()
    page.get_by_role("option", name="missed").click()
    page.wait_for_url("**states=missed**")
    settled(page)

    canvas_button(page, 0)
    page.wait_for_url("**/example?**example=**")
    settled(page)
    first = page.url
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.wait_for_function("old => location.href !== old", arg=first)
    settled(page)
    assert "states=missed" in page.url
    second = page.get_by_test_id("stCaptionContainer").filter(has_text="prompt").first.inner_text()

    page.get_by_role("button", name="Copy link").click()
    link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()
    assert link == page.url

    other = browser.new_context()
    fresh = watched(other.new_page())
    fresh.goto(link)
    settled(fresh)
    assert fresh.url == link
    assert (
        fresh.get_by_test_id("stCaptionContainer").filter(has_text="prompt").first.inner_text()
        == second
    )
    other.close()

    page.keyboard.press("Escape")
    page.keyboard.press("k")
    page.wait_for_function("old => location.href !== old", arg=link)
    settled(page)
    assert page.url == first
    page.go_back()
    page.wait_for_function("old => location.href !== old", arg=first)
    settled(page)
    assert page.url == link


def test_upload_a_results_file_and_see_it_scored(page, visit, settled, tmp_path):
    path = graded.allresults(
        tmp_path / "healthbench_uploaded_20260101_100000_allresults.json", *graded.three_examples()
    )
    visit(page)
    upload(page, path)
    page.get_by_text("imported: uploaded, 3 examples.").wait_for()
    settled(page)
    go_to(page, "Score")
    settled(page)
    metric = page.get_by_test_id("stMetricValue")
    # (0.7 - 1.6 + 0) / 3 = -0.3, clipped to 0
    assert metric.inner_text() == "0.0"
    assert page.get_by_text("\N{MINUS SIGN}30.0 (\N{MINUS SIGN}0.3000)").is_visible()


def test_what_cannot_be_imported_is_one_sentence(page, visit, tmp_path):
    path = tmp_path / "notes.json"
    path.write_text('{"half": ')
    visit(page)
    upload(page, path)
    alert = page.get_by_test_id("stAlert").filter(has_text="notes.json")
    alert.wait_for()
    assert "Traceback" not in alert.inner_text()


def test_foreign_text_is_text_and_asks_nothing_of_the_network(page, visit, settled, tmp_path):
    bad = "<script>document.title='ran'</script> {{7*7}} ![x](http://192.0.2.1/x.png) <img src=http://192.0.2.1/y.png>"
    diagram = '```mermaid\ngraph TD; A["<img src=http://192.0.2.1/z.png>"]\n```'
    path = graded.allresults(
        tmp_path / "healthbench_<b>bad_20260101_100000_allresults.json",
        graded.example(
            "p1",
            graded.item(5, True, "axis:accuracy", bad, criterion=bad, explanation=bad),
            reply="مرحبا بكم\n" + bad + "\n" + diagram,
            prompt=bad,
        ),
    )
    visit(page)
    upload(page, path)
    page.get_by_test_id("stAlert").filter(has_text="imported").wait_for()
    settled(page)
    for name in ("Score", "Examples", "Example"):
        go_to(page, name)
        settled(page)
        page.wait_for_timeout(500)
    shown = page.locator("p[dir=auto]", has_text="{{7*7}}")
    assert shown.count() >= 3
    assert bad in shown.first.inner_text()
    arabic = page.locator("p[dir=auto]", has_text="مرحبا").first
    assert arabic.evaluate("node => getComputedStyle(node).direction") == "rtl"
    page.get_by_text("Render Markdown").click()
    settled(page)
    page.wait_for_timeout(1000)
    assert page.title() != "ran"
    assert page.locator("img[src*='192.0.2.1']").count() == 0
