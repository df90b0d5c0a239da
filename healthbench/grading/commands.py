"""The commands ``healthbench grade`` and ``healthbench environment``: their options; ``terminal`` does the work."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from healthbench.errors import InputRefusedError


class Preset(StrEnum):
    """The reference graders by name."""

    REFERENCE = "reference"
    PROFESSIONAL = "professional"


class BatchStep(StrEnum):
    """What is done with the provider's Batch API."""

    SUBMIT = "submit"
    POLL = "poll"
    COLLECT = "collect"


PresetOption = Annotated[
    Preset, typer.Option(help="Grader of HealthBench, or of HealthBench Professional.")
]
ModelOption = Annotated[
    str | None, typer.Option(help="Another grader model; then it is not the reference grader.")
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(
        help="OpenAI-compatible address, for example http://127.0.0.1:8000/v1; else OPENAI_BASE_URL."
    ),
]
TemplateOption = Annotated[
    Path | None, typer.Option(help="File with the grader's instructions; else the reference's.")
]


def grade(
    replies: Annotated[
        Path, typer.Argument(help="JSON lines with prompt_id, reply and, if wanted, repeat.")
    ],
    *,
    dataset: Annotated[Path, typer.Option(help="The data set the replies are for.")],
    out: Annotated[Path, typer.Option(help="The run to write, or to continue.")],
    preset: PresetOption = Preset.REFERENCE,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    template: TemplateOption = None,
    hide_points: Annotated[
        bool, typer.Option("--hide-points", help="Do not show the grader an item's points.")
    ] = False,
    reply_model: Annotated[
        str | None, typer.Option(help="The model that replied, to be kept with the run.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="US dollars that all starts of this run may cost.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Most requests at a time.")] = 32,
    resume: Annotated[
        bool, typer.Option(help="Continue a run that is there, without paying twice.")
    ] = True,
    retry_unknown: Annotated[
        bool, typer.Option("--retry-unknown", help="Ask again what stayed without a verdict.")
    ] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Print calls, tokens and price; send nothing.")
    ] = False,
    batch: Annotated[
        BatchStep | None,
        typer.Option(help="Use the provider's Batch API: cheaper, within a day, in three steps."),
    ] = None,
    give_up: Annotated[
        bool,
        typer.Option(
            "--give-up", help="With --batch collect: write what has no verdict as unknown."
        ),
    ] = False,
) -> None:
    """Grade a file of replies with a model; the conversations and replies are sent to its provider."""
    from healthbench.grading import terminal  # noqa: PLC0415 - what speaks to a provider is slow to load

    if give_up and batch is not BatchStep.COLLECT:
        raise InputRefusedError("--give-up belongs to --batch collect: give both, or leave it out.")
    job = terminal.job(
        (replies, dataset, out),
        terminal.grader(preset, model, base_url, show_points=not hide_points),
        template=template,
        model=reply_model,
        max_cost=max_cost,
        concurrency=concurrency,
        resume=resume,
        retry_unknown=retry_unknown,
    )
    if estimate or batch in {None, BatchStep.SUBMIT}:
        terminal.say_estimate(job, batch=batch is not None)
    if estimate:
        return
    if batch is None:
        terminal.grade_live(job)
    elif batch is BatchStep.SUBMIT:
        terminal.submit(job)
    elif batch is BatchStep.POLL:
        terminal.poll(job)
    else:
        terminal.collect(job, give_up=give_up)


def environment(
    *,
    dataset: Annotated[Path, typer.Option(help="The data set to serve, one task a conversation.")],
    preset: PresetOption = Preset.REFERENCE,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    template: TemplateOption = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = 8080,
) -> None:
    """Serve a data set as an OpenReward environment on this machine, until Ctrl-C."""
    from healthbench.grading import terminal  # noqa: PLC0415 - as above

    terminal.serve_environment(dataset, terminal.grader(preset, model, base_url), template, port)
