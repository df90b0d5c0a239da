"""Grading at the terminal: progress on stderr, the receipt on stdout, Ctrl-C at any moment."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import typer

from healthbench.config import ProviderSettings, Settings
from healthbench.formatting import count
from healthbench.grading.batch import collect_batch, poll_batch, submit_batch
from healthbench.grading.bulk import BulkJob, estimate_file, grade_file
from healthbench.grading.cache import FILE_NAME as CACHE
from healthbench.grading.cache import GradeCache
from healthbench.grading.choice import choose, standing
from healthbench.grading.cost import FILE_NAME as PRICES
from healthbench.grading.cost import load_prices
from healthbench.grading.in_words import dollars, estimate_in_words, outcome_in_words
from healthbench.grading.settings import OPENAI_URL
from healthbench.grading.template import load_template

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import SecretStr

    from healthbench.grading.bulk import BulkOutcome, Progress
    from healthbench.grading.settings import GraderSettings

_INTERRUPTED = 130
_EVERY = 0.2
_EVERY_IN_A_LOG = 10.0


def grader(
    preset: str, model: str | None, base_url: str | None, *, show_points: bool = True
) -> GraderSettings:
    """Return the grader that a command's options name; OPENAI_BASE_URL is the address where none is given.

    Raises:
        GradingError: It cannot be used.
    """
    address = base_url or ProviderSettings().openai_base_url
    return choose(preset, model=model, base_url=address, show_points=show_points)


def job(
    files: tuple[Path, Path, Path], settings: GraderSettings, template: Path | None, **more: Any
) -> BulkJob:
    """Describe a bulk grading that keeps its verdicts in the user's store.

    Args:
        files: The replies, their data set, and the run to write.
        settings: The grader.
        template: A file with its instructions; None finds the reference's.
        more: Further fields of the job.

    Raises:
        GradingError: The instructions or the price table cannot be used.
    """
    replies, dataset, out = files
    home = Settings().home
    return BulkJob(
        replies=replies,
        dataset=dataset,
        out=out,
        settings=settings,
        template=load_template(template),
        cache=home / CACHE,
        prices=load_prices(home / PRICES),
        **more,
    )


def key() -> SecretStr | None:
    """Return the key in OPENAI_API_KEY, None where there is none."""
    found = ProviderSettings().openai_api_key
    return found if found is not None and found.get_secret_value().strip() else None


def say_estimate(job: BulkJob, *, batch: bool) -> None:
    """Print what a job is expected to take, and with which grader."""
    expected = estimate_file(job, batch=batch)
    typer.echo(estimate_in_words(expected, job.settings, job.prices), err=True)
    typer.echo(
        f"Grader: {job.settings.model} at {job.settings.host}, {standing(job.settings, job.template)}.",
        err=True,
    )


def grade_live(job: BulkJob) -> None:
    """Grade a file and print the receipt.

    Raises:
        HealthBenchError: It cannot start.
        Exit: It was interrupted or stopped early.
    """
    line = _ProgressLine()
    try:
        outcome = grade_file(job, key(), line.show)
    except KeyboardInterrupt:
        line.end()
        typer.echo(
            f"Interrupted. What came is kept; the same command continues {job.out.name}.", err=True
        )
        raise typer.Exit(_INTERRUPTED) from None
    finally:
        line.end()
    _finish(outcome, job)


def submit(job: BulkJob) -> None:
    """Send what has no verdict in batches."""
    sent = submit_batch(job, key())
    typer.echo(
        f"{count(sent.requests)} requests were sent in {count(sent.batches)} batches; ask with --batch poll, then take the"
        " verdicts with --batch collect."
    )


def poll(job: BulkJob) -> None:
    """Print how far the batches are."""
    waiting = poll_batch(job, key())
    for part in waiting:
        typer.echo(
            f"batch {part.part} ({part.batch}): {part.status}, {count(part.completed)} of {count(part.total)} answered,"
            f" {count(part.failed)} failed"
        )
    if all(part.ended for part in waiting):
        typer.echo("All batches have ended: take the verdicts with --batch collect.")


def collect(job: BulkJob, *, give_up: bool) -> None:
    """Take the verdicts of the batches that have ended and print the receipt."""
    _finish(collect_batch(job, key(), give_up=give_up), job)


def serve_environment(
    dataset: Path, settings: GraderSettings, template: Path | None, port: int
) -> None:
    """Serve a data set as an OpenReward environment until Ctrl-C.

    Raises:
        HealthBenchError: The SDK is not installed, or the data set cannot be used.
    """
    from healthbench.environment import KEY_NAME, serve  # noqa: PLC0415 - an optional extra

    instructions, found = load_template(template), key()
    if found is None and settings.base_url == OPENAI_URL:
        typer.echo(
            f"{KEY_NAME} is not set: every session has to bring it as a secret of its own.",
            err=True,
        )
    typer.echo(
        f"Serving {dataset.name} at http://127.0.0.1:{port}, graded by {settings.model}, "
        f"{standing(settings, instructions)} (stop it with Ctrl-C).",
        err=True,
    )
    cache = GradeCache(Settings().home / CACHE)
    serve(dataset, key=found, settings=settings, template=instructions, cache=cache, port=port)


def _finish(outcome: BulkOutcome, job: BulkJob) -> None:
    """Print what a grading took; one that stopped early ends with status 1."""
    typer.echo(outcome_in_words(outcome, job))
    if outcome.stopped is not None:
        typer.echo(outcome.stopped, err=True)
        raise typer.Exit(1)


class _ProgressLine:
    """One line on stderr that is rewritten on a screen, and written now and then into a log."""

    def __init__(self) -> None:
        self._screen = sys.stderr.isatty()
        self._next = time.monotonic() + (0 if self._screen else _EVERY_IN_A_LOG)
        self._shown = False

    def show(self, progress: Progress) -> None:
        """Write how far a grading is, unless it was written a moment ago."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (_EVERY if self._screen else _EVERY_IN_A_LOG)
        left = progress.seconds_left
        words = [
            f"{count(progress.examples_done)} of {count(progress.examples)} replies",
            f"{count(progress.criteria_done)} of {count(progress.criteria)} criteria",
            f"{progress.rate:.1f} a second",
            dollars(progress.receipt.cost),
            *([] if left is None else [f"{left / 60:.0f} min left"]),
        ]
        line = ", ".join(words)
        typer.echo(f"\r\x1b[K{line}" if self._screen else line, nl=not self._screen, err=True)
        self._shown = True

    def end(self) -> None:
        """Leave the line, so that what follows begins on its own."""
        if self._screen and self._shown:
            typer.echo(err=True)
            self._shown = False
