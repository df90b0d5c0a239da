"""What is made to do harm, or was damaged, ends in a run or in one sentence, in every form and in bounded memory."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile

import openpyxl
import pytest
from forms import READ
from specimens import CASES, write_zip

from healthbench.errors import InputRefusedError
from healthbench.readers import find_runs, guard
from healthbench.readers.guard import is_too_deep
from healthbench.readers.members import ZipMembers

REPLY = CASES[0].reply.encode()
LIMITS = {
    "head.LINE_LIMIT": 100_000,
    "head._LARGEST_WHOLE": 400_000,
    "tables.LINE_LIMIT": 100_000,
    "guard.LONGEST_TEXT": 100_000,
    "members.LARGEST_MEMBER": 100_000,
    "simple_evals_html._LARGEST": 100_000,
}
TEXT_FORMS = [name for name in READ if "Inspect" not in name]
JSON_FORMS = [name for name in READ if not name.startswith(("table", "simple-evals HTML"))]


def files_of(path):
    return [file for file in sorted(path.rglob("*")) if file.is_file()] if path.is_dir() else [path]


def edit(path, *changes):
    """Replace bytes in every file below a path, in the members of an archive too; tell whether anything changed."""
    changed = False
    for file in files_of(path):
        before = file.read_bytes()
        if zipfile.is_zipfile(file):
            archive = ZipMembers(file)
            contents = {name: archive.read(name) for name in archive.names}
            for name, data in contents.items():
                for old, new in changes:
                    changed |= old in data
                    contents[name] = contents[name].replace(old, new)
            write_zip(file, contents)
            continue
        after = before
        for old, new in changes:
            after = after.replace(old, new)
        changed |= after != before
        file.write_bytes(after)
    return changed


def outcomes(path):
    """What became of each run: its examples, or the sentence."""
    found = []
    for one in find_runs([path]):
        if one.refused is not None:
            found.append(str(one.refused))
        for run in one.runs:
            try:
                found.append(list(run.examples()))
            except InputRefusedError as error:
                found.append(str(error))
    for said in found:
        if isinstance(said, str):
            assert said.endswith(".")
            assert "\n" not in said
    return found


@pytest.mark.parametrize("name", JSON_FORMS)
@pytest.mark.parametrize("key", ["", "k" * 150, "]]}}" + "k" * 150])
def test_deep_nesting(tmp_path, name, key):
    """ijson would hold 60,000 levels of 150 characters each: 60,000^2 * 150 / 2 bytes, 270 GB."""
    path = READ[name](tmp_path)
    opened, closed = (f'{{"{key}":', "}") if key else ("[", "]")
    deep = (opened * 60_000 + "1" + closed * 60_000).encode()
    tokens = [b'"' + REPLY + b'"', b'"case-1"']
    assert any(edit(path, (token, deep)) for token in tokens)
    found = outcomes(path)
    assert found
    assert all(isinstance(said, str) or len(said) < len(CASES) for said in found)


def test_memory_stays_bounded_on_a_nest_of_long_keys(tmp_path):
    path = tmp_path / "graded.json"
    row = '{"prompt_id": "p", "rubrics": [{"criterion": "c", "points": 1, "criteria_met": true}], "x": DEEP}'
    deep = f'{{"{"k" * 200}":' * 100_000 + "1" + "}" * 100_000
    path.write_text(
        "[" + ", ".join([row.replace("DEEP", "1")] * 3000 + [row]).replace("DEEP", deep) + "]"
    )
    script = """
        import resource, sys
        from pathlib import Path
        from healthbench.errors import InputRefusedError
        from healthbench.readers import find_runs
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for found in find_runs([Path(sys.argv[1])]):
            assert "nested too deeply" in str(found.refused), found
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    lines = "\n".join(line[8:] for line in script.splitlines())
    done = subprocess.run(
        [sys.executable, "-c", lines, str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * unit < 150_000_000


@pytest.mark.parametrize("name", READ)
def test_a_line_or_text_without_end(tmp_path, monkeypatch, name):
    """Two gigabytes, made small: every limit is lowered, and one text is three times as long."""
    for place, limit in LIMITS.items():
        monkeypatch.setattr(f"healthbench.readers.{place}", limit)
    path = READ[name](tmp_path)
    token = CASES[0].items[0].explanation.encode()
    if not edit(path, (token, b"x" * 300_000)):
        assert edit(path, (b"case-1", b"x" * 300_000))
    found = outcomes(path)
    assert found
    assert any(isinstance(said, str) for said in found)


@pytest.mark.parametrize("name", TEXT_FORMS)
def test_two_encodings_in_one_file(tmp_path, name):
    path = READ[name](tmp_path)
    third = CASES[2].reply.encode()
    if not edit(
        path, (b'"' + REPLY, '"Ruhe für alle'.encode()), (b'"' + third, b'"Ja, f\xfcr alle')
    ):
        edit(path, (b"," + REPLY, ",Ruhe für alle".encode()), (b"," + third, b",Ja, f\xfcr alle"))
    for found in outcomes(path):
        replies = [] if isinstance(found, str) else [example.reply for example in found]
        for said in replies:
            assert "\ufffd" not in said
            assert "Ã" not in said


@pytest.mark.parametrize("cut", [1, 100, 2_000])
@pytest.mark.parametrize("name", READ)
def test_a_file_that_was_cut_off_is_never_half_a_run(tmp_path, name, cut):
    path = READ[name](tmp_path)
    for file in files_of(path):
        data = file.read_bytes()
        file.write_bytes(data[: max(0, len(data) - cut - 1)])
    for found in outcomes(path):
        assert isinstance(found, str) or len(found) <= len(CASES)


def test_nesting_is_measured_outside_texts_and_across_pieces(monkeypatch):
    class Bytes:
        def __init__(self, text):
            self.data = text if isinstance(text, bytes) else text.encode()

        def read(self, size=-1):
            piece, self.data = self.data[:size], self.data[size:]
            return piece

    texts = ["[" * 500, "\\" * 7, '"' * 3, "]}" * 300, "\\u005b"]
    flat = json.dumps([{"a": [text, {"b": texts}]} for text in texts] * 3)
    for size in (1, 3, 1000, 1 << 16):
        monkeypatch.setattr(guard, "PIECE", size)
        assert not is_too_deep(Bytes(flat))
        assert not is_too_deep(Bytes("[" * 90 + "]" * 90))
        assert is_too_deep(Bytes("[" * 110 + "]" * 110))
        assert is_too_deep(Bytes('{"]]": ' * 110 + "1" + "}" * 110))


def test_many_values_without_depth_pass_however_large_the_document(tmp_path, monkeypatch):
    """A document that only looks suspicious, because nothing comes out for long, is measured once and then read."""
    monkeypatch.setattr(guard, "_SUSPICIOUS", 1)
    for number, name in enumerate(JSON_FORMS):
        (tmp_path / str(number)).mkdir()
        path = READ[name](tmp_path / str(number))
        found = outcomes(path)
        assert any(not isinstance(said, str) or "attach the data set" in said for said in found), (
            name
        )


# Archives and workbooks


@pytest.mark.parametrize("member", ["../evil.json", "/evil.json", "a/../../evil", "C:\\evil.json"])
def test_a_workbook_with_names_that_point_outside_writes_nothing(tmp_path, member):
    inside = tmp_path / "inside"
    inside.mkdir()
    book = openpyxl.Workbook()
    for row in (["prompt_id", "criterion", "points", "met"], ["p", "c", 5, True]):
        book.active.append(row)
    path = inside / "run.xlsx"
    book.save(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(member, "{}")
    ((one,),) = outcomes(path)
    assert one.criteria[0].points == 5
    assert [file.name for file in files_of(tmp_path)] == ["run.xlsx"]


def test_a_zip_of_anything_else_is_named(tmp_path):
    path = tmp_path / "runs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../evil.json", "{}")
    assert outcomes(path) == [
        "runs.zip is a zip archive that holds no Inspect log; unpack it and give its files."
    ]


def test_a_workbook_whose_directory_lies_about_sizes_is_refused(tmp_path):
    book = openpyxl.Workbook()
    for row in [["prompt_id", "criterion", "points", "met"], *[["p", "c", 5, True]] * 500]:
        book.active.append(row)
    path = tmp_path / "run.xlsx"
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        contents = {info.filename: archive.read(info) for info in archive.infolist()}
    write_zip(path, contents, 8, size=10)
    (said,) = outcomes(path)
    assert "run.xlsx" in said


@pytest.mark.parametrize(
    "cell", ["__import__('os').getcwd()", "[{'criteria_met': open('x')}]", "[" * 5000, "[{1: 2}, {"]
)
def test_a_cell_that_is_no_literal_is_never_run(tmp_path, cell):
    book = openpyxl.Workbook()
    for row in (["prompt_id", "rubric_items"], ["p", cell]):
        book.active.append(row)
    path = tmp_path / "run.xlsx"
    book.save(path)
    (said,) = outcomes(path)
    assert "without columns of a graded run" in said
