"""``healthbench reviews``: take reviews from the store to a file and back."""

from __future__ import annotations

from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations when it runs
from typing import TYPE_CHECKING, Annotated

import typer

from healthbench.config import Settings
from healthbench.errors import InputRefusedError
from healthbench.review.transfer import as_csv, as_jsonl, import_file
from healthbench.store.journal import Journal
from healthbench.store.review_file import FILE_NAME, ReviewFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from healthbench.store.journal import Event

reviews = typer.Typer(
    name="reviews",
    help="Export the reviews of the store, and merge those of other machines.",
    no_args_is_help=True,
)


class Form(StrEnum):
    """How reviews are written."""

    JSONL = "jsonl"
    CSV = "csv"


@contextmanager
def _journal() -> Iterator[Journal]:
    file = ReviewFile(Settings().home / FILE_NAME)
    try:
        yield Journal(file)
    finally:
        file.close()


def reviews_of(run: str) -> list[Event]:
    """Return the reviews of a run in the user's store; none where nobody ever reviewed."""
    if not (Settings().home / FILE_NAME).exists():
        return []
    with _journal() as journal:
        return journal.events(run)


@reviews.command()
def export(
    output: Annotated[
        Path | None, typer.Argument(help="File to write; else standard output.")
    ] = None,
    run: Annotated[str | None, typer.Option(help="Only the reviews of this run (its id).")] = None,
    form: Annotated[
        Form | None, typer.Option("--format", help="jsonl or csv; else by the file's name, jsonl.")
    ] = None,
) -> None:
    """Write every event of the journal: decisions, revisions, adjudications and undos."""
    by_name = Form.CSV if output and output.suffix.lower() == ".csv" else Form.JSONL
    with _journal() as journal:
        events = journal.events(run)
    text = as_csv(events) if (form or by_name) == Form.CSV else as_jsonl(events)
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_bytes(text.encode("utf-8"))
    except OSError as error:
        raise InputRefusedError(
            f"{output} cannot be written ({error.strerror or 'unknown fault'}): choose another place."
        ) from error
    typer.echo(f"{len(events)} events written to {output}.")


@reviews.command("import")
def import_(
    paths: Annotated[list[Path], typer.Argument(help="Files that reviews export wrote.")],
) -> None:
    """Merge reviews from files; what is known already is left out, and a bad file adds nothing."""
    refused = False
    with _journal() as journal:
        for path in paths:
            try:
                merged = import_file(journal, path)
            except InputRefusedError as error:
                refused = True
                typer.echo(str(error), err=True)
            else:
                typer.echo(
                    f"{path.name}: {merged.added} events added, {merged.known} known already."
                )
    if refused:
        raise typer.Exit(2)
