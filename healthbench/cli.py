"""The command line: open the dashboard, score files, and what later commands add.

Exit status: 0 done, 2 the input was refused (one sentence on stderr), 1 a fault of ours.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from healthbench.config import Settings, bundled
from healthbench.errors import HealthBenchError, InputRefusedError
from healthbench.export_command import export
from healthbench.grading.commands import environment, grade
from healthbench.readers.reading import refusing
from healthbench.review.commands import reviews, reviews_of
from healthbench.run_figures import as_json as figures_json
from healthbench.run_figures import in_words, run_figures
from healthbench.scoring.aggregate import RULES
from healthbench.scoring.length import PRESETS, parse_adjustment
from healthbench.store.opening import opened, passing_library

if TYPE_CHECKING:
    from healthbench.store.records import ImportOutcome

app = typer.Typer(
    name="healthbench",
    help="See what a HealthBench score is made of. Without a command: the dashboard on the sample runs.",
    add_completion=False,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
)

# Paths are not checked by typer (readable=False): what cannot be read is refused in one sentence of ours, not in its box.
_DATASET_HELP = "Benchmark JSONL that gives the themes by prompt_id."
_FIRST_PORT = 8501
_PORTS = 50
_STARTING_TRIES = 120
_STARTING_WAIT = 0.25


@app.callback(invoke_without_command=True)
def _start(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        open_dashboard([])


@app.command("app")
def _app(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Run files, data sets, or folders of them.", readable=False),
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port; else the first free one from 8501.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the browser where there is a screen.")] = True,
) -> None:
    """Open the dashboard on your files (without any: on the sample runs)."""
    open_dashboard(paths or [], port, browser=browser)


def open_dashboard(paths: list[Path], port: int | None = None, *, browser: bool = True) -> None:
    """Start Streamlit on 127.0.0.1 with the given files to import, and wait until it ends.

    Where there is a screen, the browser is opened on it too.

    Raises:
        InputRefusedError: A path does not exist, or no port is free.
    """
    for path in paths:
        with refusing(str(path)):
            path.stat()
    place = bundled("app").parent
    chosen = port or _free_port()
    environment = {
        # One thread for each matrix product: sessions share the cores, and waiting threads of BLAS would fight over them.
        "OPENBLAS_NUM_THREADS": "1",
        **os.environ,
        "HEALTHBENCH_OPEN": json.dumps([str(path.resolve()) for path in paths]),
    }
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(place / "app" / "main.py"),
        "--server.port",
        str(chosen),
    ]
    address = f"http://127.0.0.1:{chosen}"
    typer.echo(f"The dashboard opens at {address} (stop it with Ctrl-C).")
    if browser:
        threading.Thread(target=_show_when_ready, args=(address,), daemon=True).start()
    # Whoever ends this process, by Ctrl-C or by its id, ends the dashboard with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with subprocess.Popen(command, cwd=place, env=environment) as dashboard:  # noqa: S603 - our own command
        try:
            raise typer.Exit(dashboard.wait())
        except KeyboardInterrupt:
            raise typer.Exit(0) from None
        finally:
            dashboard.terminate()


@app.command()
def score(
    paths: Annotated[
        list[Path], typer.Argument(help="Run files, or folders of them.", readable=False)
    ],
    dataset: Annotated[Path | None, typer.Option(help=_DATASET_HELP, readable=False)] = None,
    rule: Annotated[
        str, typer.Option(help=f"Aggregation rule: {', '.join(RULES)}.")
    ] = "simple-evals",
    length: Annotated[
        str | None,
        typer.Option(help=f"Length adjustment: {', '.join(PRESETS)}, or CENTER,PENALTY."),
    ] = None,
    as_stored: Annotated[
        bool, typer.Option("--as-stored", help="Count failed grades as the file does, as not met.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every figure as JSON.")] = False,
) -> None:
    """Score files and print the figures; nothing is kept."""
    if rule not in RULES:
        raise InputRefusedError(f"There is no rule {rule!r}: choose one of {', '.join(RULES)}.")
    adjustment = parse_adjustment(length) if length else None
    refused = False
    elements = []
    with passing_library(Settings().home) as library:
        if dataset:
            library.attach_dataset(dataset)
        for outcome in library.import_paths(paths, dataset):
            if outcome.run is not None:
                figures = run_figures(
                    library, outcome.run.id, rule, adjustment, as_stored=as_stored
                )
                elements.append((str(outcome.path), figures))
            elif outcome.refusal is not None or outcome.path in paths:
                refused = True
                typer.echo(_refusal(outcome), err=True)
    if as_json:
        typer.echo(
            json.dumps(
                [figures_json(figures, path) for path, figures in elements],
                indent=1,
                allow_nan=False,
            )
        )
    else:
        for name, figures in elements:
            typer.echo(in_words(figures, name))
    if refused:
        raise typer.Exit(2)


@app.command()
def compare(
    first: Annotated[str, typer.Argument(help="Run file, or id of a run in your store.")],
    second: Annotated[str, typer.Argument(help="The run that is asked to be better.")],
    dataset: Annotated[Path | None, typer.Option(help=_DATASET_HELP, readable=False)] = None,
    length: Annotated[
        str | None,
        typer.Option(help=f"Price of length: {', '.join(PRESETS)}, or CENTER,PENALTY."),
    ] = None,
    as_stored: Annotated[
        bool, typer.Option("--as-stored", help="Count failed grades as the files do, as not met.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every figure as JSON.")] = False,
) -> None:
    """Compare two runs on the prompts they share: the second less the first; nothing is kept."""
    from healthbench.comparison.commands import compare_in_words  # noqa: PLC0415 - pandas and plotly are slow to load

    adjustment = parse_adjustment(length) if length else None
    with opened([first, second], Settings().home, dataset) as (library, ids):
        typer.echo(
            compare_in_words(
                library, ids[0], ids[1], adjustment, as_json=as_json, as_stored=as_stored
            )
        )


@app.command()
def report(
    run: Annotated[str, typer.Argument(help="Run file, or id of a run in your store.")],
    against: Annotated[
        str | None, typer.Option(help="Compare: the report shows RUN less this run.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write; else one named after the run, here.")
    ] = None,
    dataset: Annotated[Path | None, typer.Option(help=_DATASET_HELP, readable=False)] = None,
    texts: Annotated[
        bool, typer.Option("--texts", help="Show conversations, replies and criteria too.")
    ] = False,
) -> None:
    """Write one self-contained HTML file about a run; without texts unless asked."""
    from healthbench.report import report as write_report  # noqa: PLC0415 - as above
    from healthbench.report import save_report, suggested_name  # noqa: PLC0415 - as above

    names = [run] if against is None else [run, against]
    with opened(names, Settings().home, dataset) as (library, ids):
        html = write_report(library, *ids, texts=texts, events=reviews_of(ids[0]))
        path = out or Path(suggested_name(library.summary(ids[0])))
    save_report(html, path)
    typer.echo(f"The report is in {path}.")


app.command()(export)
app.command()(grade)
app.command()(environment)
app.add_typer(reviews)


def _refusal(outcome: ImportOutcome) -> str:
    if outcome.dataset is not None:
        return f"{outcome.path.name} is a data set, not a graded run: give it with --dataset."
    return outcome.refusal or f"{outcome.path.name} could not be read: check the file."


def _show_when_ready(address: str) -> None:
    has_screen = (
        sys.platform in ("darwin", "win32")
        or os.environ.get("DISPLAY")
        or os.environ.get("WAYLAND_DISPLAY")
    )
    if not has_screen or os.environ.get("CI"):
        return
    port = int(address.rpartition(":")[2])
    for _ in range(_STARTING_TRIES):
        with socket.socket() as probe:
            probe.settimeout(_STARTING_WAIT)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                webbrowser.open(address)
                return
        threading.Event().wait(_STARTING_WAIT)


def _free_port() -> int:
    for port in range(_FIRST_PORT, _FIRST_PORT + _PORTS):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise InputRefusedError(
        f"No port from {_FIRST_PORT} to {_FIRST_PORT + _PORTS - 1} is free: give one with healthbench app --port."
    )


def main() -> None:
    """Run the command line; whatever goes wrong is one sentence on stderr."""
    try:
        app()
    except HealthBenchError as error:
        typer.echo(str(error), err=True)
        sys.exit(2 if isinstance(error, InputRefusedError) else 1)
    except Exception as error:
        if os.environ.get("HEALTHBENCH_DEBUG"):
            raise
        typer.echo(
            f"A fault of ours ({type(error).__name__}): run again with HEALTHBENCH_DEBUG=1 and report what it prints.",
            err=True,
        )
        sys.exit(1)
