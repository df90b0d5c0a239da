"""The record of a run's batches, in a file beside the run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from healthbench.errors import InputRefusedError
from healthbench.grading.run_file import write_whole

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(slots=True)
class Part:
    """One batch of a run.

    Attributes:
        number: From 1.
        keys: The questions it asks, by their cache keys.
        batch: Id of the batch, None before it was created.
        collected: Whether its results are in the cache.
    """

    number: int
    keys: list[str]
    batch: str | None = None
    collected: bool = False


@dataclass(slots=True)
class Ledger:
    """What is known of a run's batches, kept in a file beside the run.

    Attributes:
        path: Where it is kept.
        run: The run's identity.
        parts: Its batches.
        failures: Question -> why its batch brought no verdict.
    """

    path: Path
    run: str
    parts: list[Part] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def path_for(out: Path) -> Path:
        """Return where the ledger of a run is kept."""
        return out.with_name(f"{out.name}.batches.json")

    @classmethod
    def of(cls, out: Path) -> Ledger | None:
        """Read the ledger of a run; None where nothing was submitted.

        Raises:
            InputRefusedError: The file is damaged.
        """
        path = cls.path_for(out)
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            parts = [Part(**part) for part in data["parts"]]
            return cls(path, str(data["run"]), parts, dict(data["failures"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputRefusedError(
                f"{path.name}: the record of submitted batches cannot be read ({type(error).__name__}); restore it, or"
                " remove it to submit anew and pay again."
            ) from None

    def save(self) -> None:
        """Write the ledger whole, so that it is either the old or the new one after a kill."""
        parts = [asdict(part) for part in self.parts]
        record = {"run": self.run, "parts": parts, "failures": self.failures}
        write_whole(self.path, [json.dumps(record).encode()])

    @property
    def waiting(self) -> list[Part]:
        """The parts whose results were not collected."""
        return [part for part in self.parts if not part.collected]
