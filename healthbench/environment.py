"""HealthBench as an OpenReward environment: one task a conversation, one reply, one reward.

The reward is the example score of the reply, unclipped, so it can be below 0. A reply that could not be graded whole has
no reward: the tool raises. Rubrics stay with the server; a task names its row only. Needs the extra ``openreward``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, SecretStr

from healthbench.errors import GradingError
from healthbench.grading.cost import PriceTable, load_prices
from healthbench.grading.grader import Grader, ItemGrade, Receipt, grade_all
from healthbench.grading.provider import Provider
from healthbench.grading.settings import PRESETS, GraderSettings
from healthbench.grading.template import Template, conversation_text, load_template
from healthbench.readers.dataset import DatasetRow, read_dataset
from healthbench.scoring.example import state_of, tally

try:
    from openreward.environments import Environment, Server, TextBlock, ToolOutput, terminal, tool
except ModuleNotFoundError as error:
    raise GradingError(
        "The OpenReward environment needs its SDK; install it with: pip install 'healthbench[openreward]'"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from healthbench.grading.cache import GradeCache

SPLIT = "test"
KEY_NAME = "OPENAI_API_KEY"
INSTRUCTION = "Continue this conversation: write the assistant's answer to the last user message."


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """What an environment grades, and with what.

    Attributes:
        rows: The data set.
        settings: The grader.
        template: Its instructions.
        prices: The price table, for the receipts.
        key: The provider's API key; None where each session brings its own, or the server needs none.
        cache: Where verdicts are looked up and kept; None asks anew for every reply.
        concurrency: Most requests at a time for one reply.
    """

    rows: Sequence[DatasetRow]
    settings: GraderSettings = PRESETS["reference"]
    template: Template = field(default_factory=load_template)
    prices: PriceTable = field(default_factory=load_prices)
    key: SecretStr | None = None
    cache: GradeCache | None = None
    concurrency: int = 16


class Answer(BaseModel):
    """The reply that ends a task."""

    reply: str


class HealthBench(Environment):  # type: ignore[misc] # the SDK carries no types
    """One conversation of the benchmark; subclasses made by ``environment_for`` carry the data set."""

    bench: ClassVar[Bench]

    def __init__(
        self,
        task_spec: Mapping[str, Any] | None = None,
        secrets: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(dict(task_spec or {}))
        secret = (secrets or {}).get(KEY_NAME)
        self._key = SecretStr(secret) if secret else self.bench.key
        self._row = self._row_of(self.task_spec)

    @classmethod
    def name(cls) -> str:
        """Name of the environment in its address."""
        return "healthbench"

    @classmethod
    def list_splits(cls) -> list[str]:
        """The benchmark is one test set."""
        return [SPLIT]

    @classmethod
    def list_tasks(cls, split: str) -> list[dict[str, Any]]:
        """Name every row of the data set, in its order.

        Raises:
            ValueError: There is no such split.
        """
        if split != SPLIT:
            raise ValueError(f"list_tasks: unknown split {split!r}; expected {SPLIT!r}")
        return [
            {"index": index, "prompt_id": row.prompt_id} for index, row in enumerate(cls.bench.rows)
        ]

    @classmethod
    def _row_of(cls, task: Mapping[str, Any]) -> DatasetRow:
        index, rows = task.get("index"), cls.bench.rows
        if not isinstance(index, int) or not 0 <= index < len(rows):
            raise GradingError(
                "The task names no row of the data set; take a task from the list of tasks."
            )
        if task.get("prompt_id") != rows[index].prompt_id:
            raise GradingError("The task is for another data set than the one that is served.")
        return rows[index]

    def setup(self) -> None:
        """Check that the reply can be graded before anything is written.

        Raises:
            GradingError: There is no key.
        """
        if self._key is None and self.bench.settings.host == PRESETS["reference"].host:
            raise GradingError(
                f"HealthBench replies are graded by {self.bench.settings.model}, which needs {KEY_NAME}; give it as a"
                " secret of the session, or set it where the environment is served."
            )

    def get_prompt(self) -> list[TextBlock]:
        """The single message as it is, or the turns as ``role: content`` below a short instruction."""
        turns = self._row.prompt
        if len(turns) == 1:
            return [TextBlock(text=turns[0].content)]
        text = "\n\n".join(f"{turn.role}: {turn.content}" for turn in turns)
        return [TextBlock(text=f"{INSTRUCTION}\n\n{text}")]

    @terminal  # type: ignore[untyped-decorator] # the SDK carries no types
    @tool  # type: ignore[untyped-decorator]
    async def submit(self, answer: Answer) -> ToolOutput:
        """Grade the reply against the conversation's rubric.

        Raises:
            GradingError: A criterion got no verdict within the allowed attempts, so there is no reward.
        """
        bench, row = self.bench, self._row
        grader = Grader(
            bench.settings,
            bench.template,
            Provider(bench.settings, self._key, bench.concurrency),
            cache=bench.cache,
            prices=bench.prices,
            concurrency=bench.concurrency,
        )
        async with grader:
            grades = await grade_all(grader, row.prompt, answer.reply, row.criteria)
        score = tally(
            [criterion.points for criterion in row.criteria], [grade.met for grade in grades]
        ).score
        unknown = sum(grade.met is None for grade in grades)
        if score is None:
            raise GradingError(
                f"{unknown} of {len(grades)} criteria got no verdict within {bench.settings.attempts} attempts, so"
                " the reply has no reward; call again."
            )
        return ToolOutput(
            blocks=[TextBlock(text=f"Graded on {len(grades)} criteria: {score:.4f}")],
            metadata=_metadata(bench, row, answer.reply, grades, score),
            reward=score,
            finished=True,
        )


def _metadata(
    bench: Bench, row: DatasetRow, reply: str, grades: Sequence[ItemGrade], score: float
) -> dict[str, Any]:
    """Write the ledger of a reply, the transcript that was graded, and what the grading took."""
    receipt = Receipt()
    ledger, running = [], 0.0
    for criterion, grade in zip(row.criteria, grades, strict=True):
        receipt.add(grade)
        running += criterion.points if grade.met else 0.0
        ledger.append(
            {
                "criterion": criterion.text,
                "points": criterion.points,
                "tags": list(criterion.tags),
                "criteria_met": grade.met,
                "state": state_of(criterion.points, grade.met).value,
                "running": running,
                "explanation": grade.explanation,
            }
        )
    return {
        "prompt_id": row.prompt_id,
        "score": score,
        "ledger": ledger,
        "transcript": conversation_text(row.prompt, reply),
        "grader": bench.settings.parameters(),
        "template_sha256": bench.template.sha256,
        "receipt": receipt.figures(),
    }


def environment_for(bench: Bench) -> type[HealthBench]:
    """Make the environment of a data set.

    Raises:
        GradingError: A row has no positive points, so no reply to it could have a reward.
    """
    for row in bench.rows:
        if not any(criterion.points > 0 for criterion in row.criteria):
            raise GradingError(
                f"The row {row.prompt_id} has no criterion with positive points, so no reply to it has a score;"
                " remove it from the data set."
            )
    return type("HealthBenchOfDataSet", (HealthBench,), {"bench": bench})


def serve(
    dataset: Path,
    *,
    key: SecretStr | None,
    settings: GraderSettings = PRESETS["reference"],
    template: Template | None = None,
    cache: GradeCache | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
) -> None:
    """Serve a data set as an environment until interrupted.

    Args:
        dataset: A HealthBench or HealthBench Professional data set.
        key: The grader's API key; None where each session brings its own.
        settings: The grader.
        template: Its instructions; None finds the reference's.
        cache: Where verdicts are looked up and kept.
        host: Address to listen on; only this machine by default.
        port: Port to listen on.

    Raises:
        InputRefusedError: The data set cannot be used.
    """
    bench = Bench(
        rows=list(read_dataset(dataset)),
        settings=settings,
        template=template or load_template(),
        key=key,
        cache=cache,
    )
    # The SDK asks a package index for a newer version of itself; serving stays on this machine.
    os.environ.setdefault("OPENREWARD_DISABLE_UPDATE_CHECK", "1")
    Server([environment_for(bench)]).run(host=host, port=port)
