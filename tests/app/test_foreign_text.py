"""Text of models, graders, data sets and file names is shown as text wherever it appears, on every page.

Every message to the browser is searched: foreign text may stand as it is only in fields that are shown as plain text.
What reads Markdown (labels, help, captions), and what reads a little HTML (charts), must have its signs escaped.
"""

from __future__ import annotations

import json
from pathlib import Path

import graded
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path.stem for path in (ROOT / "app" / "app_pages").glob("*.py"))
ODD = (
    "%{y}<b>x</b>![i](http://h.invalid/i.png) [l](http://h.invalid) {{7*7}} :red[r] :material/home: $a$ **b** "
    '<img src="http://h.invalid/s.png"><script>fetch("http://h.invalid")</script>'
)
IN_NAME = ODD.replace("/", "_").replace(":", "_")[:80]
SIGNS = ("![i](", "%{y}<b>", "<b>x</b>")
PLAIN = {
    "Selectbox/options",
    "Selectbox/raw_value",
    "Selectbox/default",
    "MultiSelect/options",
    "TextInput/default",
    "TextInput/value",
    "TextArea/default",
    "TextArea/value",
    "BidiComponent/json",
    "Code/code_text",
    "Dataframe/alt",
    "PlotlyChart/alt",
    "DownloadButton/url",
}
"""Fields that the browser shows as plain text, or not at all."""


def hostile(number, verdicts=(True, False, True)):
    items = [
        graded.item(
            points,
            met,
            f"axis:{ODD}",
            f"level:{ODD}",
            ODD,
            criterion=f"{ODD} {place}",
            explanation=ODD,
        )
        for place, (points, met) in enumerate(zip((7, 5, -8), verdicts, strict=True))
    ]
    one = graded.example(
        f"{ODD} {number}", *items, reply=ODD, prompt=ODD, error=ODD, completion_id=ODD, score=0.1
    )
    one["prompt"].insert(0, {"role": ODD, "content": ODD})
    one["example_tags"] = [f"theme:{ODD}", f"physician_agreed_category:{ODD}", ODD]
    return one


@pytest.fixture
def files(tmp_path):
    """Two runs of one name, one with repeats and unknown verdicts, and a data set."""
    made = []
    runs = (
        [hostile(0), hostile(1), hostile(1)],
        [hostile(0, (True, None, False)), hostile(1, (False, True, True))],
    )
    for number, examples in enumerate(runs):
        (tmp_path / str(number)).mkdir()
        made.append(
            graded.allresults(
                tmp_path / str(number) / f"healthbench_{IN_NAME}_20260101_100000_allresults.json",
                *examples,
                metrics={"overall_score": 0.9, f"axis:{ODD}": 0.5, f"theme:{ODD}": 0.25, ODD: 0.5},
            )
        )
    row = graded.dataset_row(
        f"{ODD} 0", graded.item(5, True, ODD, criterion=ODD), tags=(f"theme:{ODD}",)
    )
    return [*made, graded.dataset(tmp_path / f"{IN_NAME}.jsonl", row)]


def strings(message, path):
    for field, value in message.ListFields():
        name = f"{path}/{field.name}"
        for one in value if field.is_repeated else [value]:
            if field.type == field.TYPE_STRING:
                yield name, one
            elif field.type == field.TYPE_MESSAGE:
                if field.message_type.GetOptions().map_entry:
                    yield name, str(one)
                else:
                    yield from strings(one, name)


def messages(block):
    for child in block.children.values():
        if getattr(child, "proto", None) is not None:
            yield child.proto
        if hasattr(child, "children"):
            yield from messages(child)


def reads_more_than_text(text):
    """Markdown makes links of addresses, too, whether their signs are escaped or not."""
    return any(sign in text for sign in SIGNS) or "http://h.invalid" in text.replace("\\", "")


def leaks(app):
    """Name the fields in which a sign of the foreign text stands unescaped."""
    found = set()
    for message in messages(app._tree):
        kind = type(message).__name__
        for name, text in strings(message, kind):
            if name == "PlotlyChart/spec":
                found |= {f"{name}{place}" for place in chart_leaks(json.loads(text), "")}
            elif name not in PLAIN and not name.endswith("/id") and reads_more_than_text(text):
                found.add(f"{name}: {text[:200]}")
    return found


def chart_leaks(value, path):
    """Custom data is never drawn; every other text of a figure is read as a little HTML, hover templates as templates."""
    if path.endswith(("/customdata", "/ids", "/uid")):
        return
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from chart_leaks(one, f"{path}/{key}")
    elif isinstance(value, str) and (
        "<b>x" in value or (path.endswith("template") and "%{y}&lt;" in value)
    ):
        yield f"{path}: {value[:200]}"


@pytest.mark.parametrize("page", PAGES)
def test_foreign_text_is_nowhere_read_as_anything_else(open_page, files, page):
    app = open_page(page, *files)
    assert leaks(app) == set()


@pytest.mark.parametrize("run", [0, 1])
@pytest.mark.parametrize("page", ["score", "example", "examples", "runs", "coverage"])
def test_nor_with_everything_switched_on(open_page, files, page, run):
    app = open_page(page, *files)
    app.sidebar.selectbox(key="run_picker").select_index(run).run()
    for toggle in list(app.toggle):
        toggle.set_value(not toggle.value)
    app.run()
    assert not app.exception
    rendered = {leak for leak in leaks(app) if not leak.startswith("Markdown/body: %{y}<b>")}
    assert rendered == set()


def test_rendered_markdown_loads_no_image(open_page, files):
    """A reader who asks for Markdown gets Markdown, without what would be fetched."""
    app = open_page("example", *files)
    app.toggle(key="rendered").set_value(True).run()
    shown = [str(markdown.value) for markdown in app.markdown if "h.invalid" in str(markdown.value)]
    assert shown
    assert not any("![i](" in text for text in shown)
    assert not any(markdown.proto.allow_html for markdown in app.markdown)


def test_the_refusal_of_a_file_shows_its_name_as_text(open_page, tmp_path):
    path = tmp_path / f"{IN_NAME}.json"
    path.write_text('{"score": ')
    app = open_page("runs")
    app.file_uploader[0].upload(path.name, path.read_bytes())
    app.run()
    assert any("![i](" in str(error.value).replace("\\", "") for error in app.error)
    assert leaks(app) == set()
