"""In a browser: map the columns of a table, import many files under one bar, stop an import, export what was imported."""

from __future__ import annotations

import csv
import json

import graded
import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.browser

COLUMNS = ["fall", "antwort", "kriterium", "gewicht", "erfuellt"]
# Points 7, 3, -6 with met, not met, met: (7 - 6) / 10 = 0.1.
ROWS = [
    ["p1", "Ruhe.", "Says rest.", 7, "true"],
    ["p1", "Ruhe.", "Asks how long.", 3, "false"],
    ["p1", "Ruhe.", "Guesses.", -6, "true"],
]


def table(path, rows=ROWS):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    return path


def upload(page, paths):
    page.get_by_role("button", name="Import").first.click()
    page.locator("input[type=file]").set_input_files(paths)


def alert(page, text):
    found = page.get_by_test_id("stAlert").filter(has_text=text)
    found.wait_for(timeout=60_000)
    return found


def choose(page, label, column):
    box = page.get_by_label(label)
    box.scroll_into_view_if_needed()
    page.wait_for_timeout(300)  # a list that is open while the page scrolls closes
    box.click()
    page.get_by_role("option", name=column, exact=True).click()


def assert_accessible(page):
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_map_columns_read_the_report_and_export(page, visit, settled, tmp_path):
    visit(page)
    upload(page, table(tmp_path / "wards.csv"))
    alert(page, "map its columns")
    page.keyboard.press("Escape")
    settled(page)
    preview = page.locator("[aria-label='The first rows of the table'] [role=gridcell]")
    assert preview.get_by_text("Asks how long.").count() == 1

    page.get_by_text("What else the table holds").click()
    settled(page)
    assert_accessible(page)
    page.get_by_text("What else the table holds").click()
    page.get_by_role("button", name="Import by this mapping").click()
    alert(page, "Choose the columns of points and of verdicts")
    settled(page)

    for label, column in (
        ("Conversation: its id", "fall"),
        ("Criterion: its text", "kriterium"),
        ("Points, with their sign", "gewicht"),
        ("Verdict: met or not met", "erfuellt"),
    ):
        choose(page, label, column)
    page.get_by_role("button", name="Import by this mapping").click()
    alert(page, "wards.csv imported: wards.csv, 1 example.")
    settled(page)

    report = page.get_by_test_id("stExpander").filter(has_text="Import report of wards.csv")
    for said in ("points in gewicht", "3 string; 0 unknown", "The producer clips", "none stated"):
        assert report.get_by_text(said).first.is_visible(), said

    report.get_by_role("button", name="Export this run").click()
    settled(page)
    assert_accessible(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON lines").click()
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert [c["points"] for c in json.loads(lines[1])["criteria"]] == [7, 3, -6]
    page.keyboard.press("Escape")

    # The next table of the same columns is read without a question.
    upload(page, table(tmp_path / "more.csv", [*ROWS, ["p2", "Eile.", "Says rest.", 7, "true"]]))
    alert(page, "more.csv imported: more.csv, 2 examples.")


def test_a_folder_of_forty_files_under_one_bar(page, visit, settled, tmp_path):
    for number in range(40):
        path = tmp_path / f"healthbench_forty{number:02}_20260101_100000_allresults.json"
        rows = [graded.example(f"p{number}-{n}", graded.item(5, True)) for n in range(50)]
        graded.allresults(path, *rows)
        if number == 17:
            path.write_bytes(path.read_bytes()[:-60])
    visit(page)
    page.get_by_role("button", name="Import").first.click()
    field = page.get_by_label("or name a file or folder on this computer")
    field.fill(str(tmp_path))
    field.press("Enter")
    bars = page.get_by_test_id("stProgress")
    page.get_by_text(" of 40 done").wait_for(timeout=60_000)
    assert bars.count() == 1
    alert(page, "39 runs imported.")
    refused = page.get_by_test_id("stAlert").filter(has_text="forty17")
    assert refused.count() == 1
    settled(page)
    assert bars.count() == 0


def test_an_import_can_be_stopped_and_leaves_whole_runs_only(page, visit, settled, tmp_path):
    small = graded.allresults(
        tmp_path / "healthbench_small_20260101_100000_allresults.json",
        graded.example("p", graded.item(5, True)),
    )
    rows = [graded.example(f"p{n}", *[graded.item(5, True)] * 12) for n in range(20_000)]
    large = graded.allresults(
        tmp_path / "healthbench_stopped_20260101_100000_allresults.json", *rows
    )
    visit(page)
    page.get_by_role("button", name="Import").first.click()
    field = page.get_by_label("or name a file or folder on this computer")
    field.fill(str(tmp_path))
    field.press("Enter")
    page.get_by_text("1 of 2 done").wait_for(timeout=60_000)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop the import").click()
    alert(page, "The import was stopped")
    settled(page)
    assert page.get_by_test_id("stAlert").filter(has_text="imported: small, 1 example.").count()
    cells = page.locator("[aria-label='Runs in the store, one a row'] [role=gridcell]")
    assert cells.get_by_text("stopped", exact=True).count() == 0
    assert small.exists()
    assert large.exists()
