"""Tables, in every container, with a row a criterion or a row an example."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import duckdb
import openpyxl
import pytest

from healthbench.errors import InputRefusedError, NotAGradedRunError
from healthbench.model import Message
from healthbench.readers import find_runs, open_runs
from healthbench.readers.aliases import ColumnMapping, match_columns
from healthbench.readers.tables import table_columns

COLUMNS = [
    "Prompt ID",
    "Question",
    "Response",
    "Criterion",
    "Points",
    "Criteria Met",
    "Explanation",
    "Axis",
    "Theme",
    "Model",
]
# Points 7, 3, -6 with met, not met, met: (7 - 6) / 10 = 0.1.
ROWS = [
    [
        "p1",
        "What helps?",
        "Rest,\nand drink.",
        "Says rest.",
        7,
        True,
        "It does.",
        "Accuracy",
        "hedging",
        "m",
    ],
    [
        "p1",
        "What helps?",
        "Rest,\nand drink.",
        "Asks how long.",
        3,
        False,
        "It does not.",
        "completeness",
        "hedging",
        "m",
    ],
    [
        "p1",
        "What helps?",
        "Rest,\nand drink.",
        "Guesses.",
        -6,
        True,
        "500 mg.",
        "axis:accuracy",
        "hedging",
        "m",
    ],
]


def delimited(
    tmp_path, rows=ROWS, columns=COLUMNS, *, name="run.csv", delimiter=",", encoding="utf-8"
):
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter).writerows([columns, *rows])
    path = tmp_path / name
    path.write_bytes(buffer.getvalue().encode(encoding))
    return path


def workbook(tmp_path, rows=ROWS, columns=COLUMNS, before=()):
    book = openpyxl.Workbook()
    for title in before:
        book.active.title = title
        book.active.append(["a note"])
        book.create_sheet("data")
    for row in [columns, *rows]:
        book.worksheets[-1].append(row)
    path = tmp_path / "run.xlsx"
    book.save(path)
    return path


def parquet(tmp_path, rows=ROWS, columns=COLUMNS):
    path = tmp_path / "run.parquet"
    lines = tmp_path / "rows.jsonl"
    lines.write_text("\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in rows))
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM read_json('{lines}')) TO '{path}' (FORMAT parquet)")
    lines.unlink()
    return path


def read(path, **arguments):
    (run,) = open_runs([path], **arguments)
    return run, list(run.examples())


@pytest.mark.parametrize(
    "make",
    [
        delimited,
        lambda folder: delimited(folder, delimiter=";"),
        lambda folder: delimited(folder, delimiter="\t", name="run.tsv"),
        lambda folder: delimited(folder, encoding="utf-8-sig"),
        lambda folder: delimited(folder, encoding="utf-16"),
        workbook,
        lambda folder: workbook(folder, before=["about"]),
        parquet,
    ],
    ids=["csv", "semicolon", "tsv", "mark", "utf-16", "xlsx", "xlsx second sheet", "parquet"],
)
def test_a_row_a_criterion(tmp_path, make):
    run, (one,) = read(make(tmp_path))
    assert [c.text for c in one.criteria] == ["Says rest.", "Asks how long.", "Guesses."]
    assert [c.points for c in one.criteria] == [7, 3, -6]
    assert [c.tags for c in one.criteria] == [
        ("axis:accuracy",),
        ("axis:completeness",),
        ("axis:accuracy",),
    ]
    assert [v.met for v in one.verdicts] == [True, False, True]
    assert [v.explanation for v in one.verdicts] == ["It does.", "It does not.", "500 mg."]
    assert one.prompt == [Message("user", "What helps?")]
    assert one.reply == "Rest,\nand drink."
    assert one.example_tags == ("theme:hedging",)
    assert run.info.model == "m"
    assert run.info.format.endswith(" table")
    assert (run.report.axes_from, run.report.themes_from) == ("file", "file")


@pytest.mark.parametrize(
    ("cells", "kinds"),
    [
        ((1, 0, 1), {"0/1": 3}),
        (("TRUE", "False", "met"), {"string": 3}),
        (("1", "0.0", "1.0"), {"0/1": 3}),
        (("True", "", "n/a"), {"string": 1, "null": 1, "unreadable": 1}),
    ],
)
def test_verdicts_in_text(tmp_path, cells, kinds):
    rows = [[*row[:5], cell, *row[6:]] for row, cell in zip(ROWS, cells, strict=True)]
    run, _ = read(delimited(tmp_path, rows))
    assert dict(run.report.verdicts) == kinds


@pytest.mark.parametrize("make", [delimited, workbook, parquet])
def test_a_row_an_example_with_a_list_in_a_cell(tmp_path, make):
    items = [{"criterion": row[3], "points": row[4], "criteria_met": row[5]} for row in ROWS]
    cell = json.dumps(items) if make is not delimited else str(items)  # a Python literal in the CSV
    rows = [["p1", "Q", "A", cell, "50.00%"], ["p2", "Q", "B", cell, "0.5"]]
    _, read_rows = read(
        make(tmp_path, rows, ["prompt_id", "prompt", "response", "rubric_items", "score"])
    )
    assert [[v.met for v in one.verdicts] for one in read_rows] == [[True, False, True]] * 2
    assert [one.stated_score for one in read_rows] == [0.5, 0.5]


def test_several_models_are_several_runs(tmp_path):
    rows = ROWS + [[*row[:5], not row[5], *row[6:9], "other"] for row in ROWS]
    runs = open_runs([delimited(tmp_path, rows)])
    assert [(run.info.model, run.part) for run in runs] == [("m", "m"), ("other", "other")]
    met = [[v.met for v in next(run.examples()).verdicts] for run in runs]
    assert met == [[True, False, True], [False, True, False]]


def test_repeats_by_column_by_reply_or_by_count(tmp_path):
    numbered = [[*row, n] for n in (1, 2) for row in ROWS]
    assert len(read(delimited(tmp_path, numbered, [*COLUMNS, "rollout_index"]))[1]) == 2
    other = ROWS + [[*row[:2], "Another reply", *row[3:]] for row in ROWS]
    assert len(read(delimited(tmp_path, other))[1]) == 2
    run, rows = read(delimited(tmp_path, ROWS * 3))
    assert [len(one.criteria) for one in rows] == [3, 3, 3]
    assert run.report.duplicates == [
        "1 conversation answered 3 times: each row is kept as a repeat of its prompt."
    ]


def test_the_same_criterion_twice_in_one_reply_is_kept_and_said(tmp_path):
    run, (one,) = read(delimited(tmp_path, [*ROWS, ROWS[0]]))
    assert len(one.criteria) == 4
    assert any("stands more than once" in warning for warning in run.report.warnings)


def test_a_mapping_where_names_say_nothing(tmp_path):
    columns = [
        "fall",
        "frage",
        "antwort",
        "kriterium",
        "gewicht",
        "erfuellt",
        "grund",
        "achse",
        "thema",
        "modell",
    ]
    path = delimited(tmp_path, columns=columns)
    with pytest.raises(NotAGradedRunError, match="without columns of a graded run"):
        read(path)
    offered = table_columns(path, n_preview=2)
    assert offered.names == tuple(columns)
    assert offered.matched == ColumnMapping({})
    assert offered.preview[0][:2] == ("p1", "What helps?")
    assert len(offered.preview) == 2
    mapping = ColumnMapping(
        {
            "prompt_id": "fall",
            "reply": "antwort",
            "criterion": "kriterium",
            "points": "gewicht",
            "verdict": "erfuellt",
        }
    )
    run, (one,) = read(path, mappings=[ColumnMapping({"points": "no such column"}), mapping])
    assert [v.met for v in one.verdicts] == [True, False, True]
    assert "points in gewicht" in run.report.recognised_by


def test_a_mapping_goes_before_the_names(tmp_path):
    path = delimited(tmp_path, [[*row, not row[5]] for row in ROWS], [*COLUMNS, "second judge"])
    mapping = ColumnMapping(
        {
            "prompt_id": "Prompt ID",
            "criterion": "Criterion",
            "points": "Points",
            "verdict": "second judge",
        }
    )
    _, (one,) = read(path, mappings=[mapping])
    assert [v.met for v in one.verdicts] == [False, True, False]


def test_matching_says_which_column_is_what():
    matched = match_columns(["ID", "criteria-met", "Rubric", "Points", "judge model", "notes"])
    assert matched == ColumnMapping(
        {
            "criterion": "Rubric",
            "points": "Points",
            "verdict": "criteria-met",
            "prompt_id": "ID",
            "grader": "judge model",
        }
    )
    assert matched.complete
    assert not match_columns(["id", "score"]).complete


def test_formulas_are_never_evaluated(tmp_path):
    rows = [[*row[:4], "=1+1", *row[5:]] for row in ROWS]
    with pytest.raises(InputRefusedError, match="example 1, criterion 1: points is missing"):
        read(workbook(tmp_path, rows))
    with pytest.raises(InputRefusedError, match="points is text, not a number"):
        read(delimited(tmp_path, rows))


def test_cells_of_several_encodings(tmp_path):
    path = delimited(tmp_path, [[*ROWS[0][:2], "für", *ROWS[0][3:]]])
    path.write_bytes(path.read_bytes() + b"p2,Q,f\xfcr,Says rest.,7,TRUE,,,,m\r\n")
    _, rows = read(path)
    assert [one.reply for one in rows] == ["für", "für"]


@pytest.mark.parametrize(
    ("tail", "said"),
    [
        (b'p2,"never closed', "line 8, is no proper row"),
        (
            b"p2,Q,A,T,5,TRUE,x,a,t,m,too,many\n",
            "example 4: the row has 12 cells, but there are 10 columns",
        ),
        (b"p2,Q,A,T,five,TRUE,x,a,t,m\n", "criterion 1: points is text, not a number"),
    ],
)
def test_bad_rows(tmp_path, tail, said):
    path = delimited(tmp_path)
    path.write_bytes(path.read_bytes() + tail)
    with pytest.raises(InputRefusedError, match=said):
        read(path)


def test_a_criterion_without_text(tmp_path):
    path = delimited(tmp_path, [["p2", "Q", "A", "", 5, True, "x", "a", "t", "m"]])
    _, (one,) = read(path)
    assert one.criteria[0].text == "Criterion 1 (its text is not in the file)"


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        (["model", "overall_score"], [["a", 0.5]]),
        (["question", "option_a", "answer"], [["Q", "x", "a"]]),
        (["id", "rubrics"], [["1", "[]"]]),
        (COLUMNS, []),
    ],
)
def test_tables_that_are_no_graded_run(tmp_path, columns, rows):
    with pytest.raises(NotAGradedRunError):
        read(delimited(tmp_path, rows, columns))


@pytest.mark.parametrize("make", [workbook, parquet])
def test_damaged_containers(tmp_path, make):
    path = make(tmp_path)
    data = path.read_bytes()
    for cut in (10, len(data) // 2, len(data) - 5):
        path.write_bytes(data[:cut])
        with pytest.raises(InputRefusedError):
            read(path)


def test_a_workbook_that_unpacks_to_gigabytes_is_refused(tmp_path, monkeypatch):
    path = workbook(tmp_path)
    monkeypatch.setattr("healthbench.readers.tables._WORKBOOK_LIMIT", 100)
    with pytest.raises(InputRefusedError, match="unpacks to more than 1 GB"):
        read(path)


def test_a_workbook_with_a_damaged_sheet(tmp_path):
    path = workbook(tmp_path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/worksheets/sheet1.xml"] = parts["xl/worksheets/sheet1.xml"][:-200]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    with pytest.raises(InputRefusedError, match="damaged workbook"):
        read(path)


def test_a_folder_of_tables(tmp_path):
    delimited(tmp_path, name="a.csv")
    delimited(tmp_path, [[*row[:9], "n"] for row in ROWS], name="b.csv")
    (tmp_path / "README.md").write_text("Runs, and how\nthey were made")
    found = find_runs([tmp_path])
    assert [run.info.model for one in found for run in one.runs] == ["m", "n"]
    assert all(one.refused is None for one in found)
