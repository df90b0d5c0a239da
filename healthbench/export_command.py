"""``healthbench export``: write a run as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from healthbench.config import Settings
from healthbench.export import SUFFIXES, Exported, export_run
from healthbench.formatting import count
from healthbench.store.opening import opened


def export(
    run: Annotated[str, typer.Argument(help="Run file, or id of a run in your store.")],
    form: Annotated[
        str,
        typer.Option(
            "--format", help=f"{', '.join(SUFFIXES)}; jsonl keeps everything that is known."
        ),
    ] = "jsonl",
    texts: Annotated[
        bool | None,
        typer.Option(
            "--texts/--no-texts",
            help="Write prompts, replies, criteria and explanations or leave them out; else they are left out where the"
            " benchmark's canary was seen.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File or folder to write to; else a file named after the run, here."),
    ] = None,
    dataset: Annotated[
        Path | None, typer.Option(help="Benchmark JSONL that gives the themes by prompt_id.")
    ] = None,
) -> None:
    """Write a run as one file: our own lines, simple-evals' allresults, or a table with a row a criterion."""
    with opened([run], Settings().home, dataset) as (library, ids):
        source = Path(run) if Path(run).exists() else None
        exported = export_run(library, ids[0], out or Path(), form, texts=texts, source=source)
    typer.echo(in_words(exported))


def in_words(exported: Exported) -> str:
    """Say what was written, and what was left out and why."""
    said = f"{count(exported.n_examples)} examples are in {exported.path}"
    if exported.texts:
        return f"{said}, with texts{' and the canary' if exported.canary else ''}."
    reason = ", because the benchmark's canary was seen (--texts writes them)"
    return f"{said}, without texts{reason if exported.canary else ''}."
