"""One conversation across the store: rows of data sets, and every stored reply to it."""

import graded
import pytest

from healthbench.errors import StoreError
from healthbench.model import Criterion
from healthbench.scoring.example import Bounds
from healthbench.store.library import Library
from healthbench.store.same_prompt import dataset_row, find_rows, sorted_rubric, stored_replies


@pytest.fixture
def library(tmp_path):
    store = Library(tmp_path / "home")
    yield store
    store.close()


def run_of(folder, *examples, name="one"):
    return graded.allresults(
        folder / f"healthbench_{name}_20260101_100000_allresults.json", *examples
    )


def test_every_reply_to_a_prompt_is_found_with_its_points_and_rubric(library, tmp_path):
    items = [graded.item(7, True, criterion="A"), graded.item(-3, None, criterion="B")]
    first = run_of(
        tmp_path,
        graded.example("p1", *items, reply="x"),
        graded.example("p2", graded.item(5, True)),
        graded.example("p1", graded.item(7, False, criterion="A"), reply="y"),
    )
    second = run_of(tmp_path, graded.example("p1", *items, reply="x"), name="two")
    ids = [outcome.run.id for outcome in library.import_paths([first, second])]
    found = stored_replies(library, ids, "p1")
    assert [(one.run, one.example, one.repeat, one.reply) for one in found] == [
        (ids[0], 0, 0, "x"),
        (ids[0], 2, 1, "y"),
        (ids[1], 0, 0, "x"),
    ]
    # 7 of 7, less 3 where the unknown penalty was met
    assert found[0].points.bounds == Bounds(4 / 7, 1)
    assert found[1].points.score == 0
    rubric = sorted_rubric([Criterion("B", -3, ("axis:x",)), Criterion("A", 7.0, ())])
    assert found[0].rubric == found[2].rubric == rubric
    assert found[1].rubric != rubric
    assert stored_replies(library, ids, "p9") == []


def test_rows_of_a_data_set_are_found_by_words_as_written_and_by_id(library, tmp_path):
    rows = [graded.dataset_row(f"p{n}", graded.item(5, True, "axis:accuracy")) for n in range(3)]
    for row, text in zip(rows, ('Is "it"\nbad?', "100 % sure?", "Fièvre"), strict=True):
        row["prompt"][0]["content"] = text
    summary = library.attach_dataset(graded.dataset(tmp_path / "data.jsonl", *rows))
    for sought, ids in (
        ("", ["p0", "p1", "p2"]),
        ('"IT"\nbad', ["p0"]),
        ("0 % s", ["p1"]),
        ("fièvre", ["p2"]),
        ("p1", ["p1"]),
        ("_", []),
    ):
        assert [row[0] for row in find_rows(library, summary.id, sought, 10)] == ids
    assert len(find_rows(library, summary.id, "", 2)) == 2
    row = dataset_row(library, summary.id, "p2")
    assert (row.prompt[0].content, row.example_tags) == ("Fièvre", ("theme:hedging",))
    assert row.criteria[0][1:] == (5, ("axis:accuracy",))


def test_what_is_not_there_is_one_sentence(library, tmp_path):
    summary = library.attach_dataset(
        graded.dataset(tmp_path / "data.jsonl", graded.dataset_row("p1", graded.item()))
    )
    with pytest.raises(StoreError, match="no conversation p2"):
        dataset_row(library, summary.id, "p2")
    library.detach_dataset(summary.id)
    with pytest.raises(StoreError, match="attach it again"):
        find_rows(library, summary.id, "", 5)
