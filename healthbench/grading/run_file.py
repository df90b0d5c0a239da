"""The run a grading writes, as our own graded-run JSON lines, each line on the disk before it counts."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from filelock import FileLock, Timeout

from healthbench.errors import GradingError, InputRefusedError
from healthbench.model import RunInfo, Verdict
from healthbench.readers.own_jsonl import KEY, VERSION, example_line, header_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from healthbench.grading.settings import GraderSettings
    from healthbench.grading.template import Template
    from healthbench.model import GradedExample


class RunFile:
    """A run that grows by whole lines and survives being killed; use it as a context manager.

    A line that was cut off by a kill never counted and is removed when the file is opened again. Only one process
    can have the file open.

    Args:
        path: The JSON-lines file.
        first_line: Its first line where it does not exist yet.
        shared: Whether other processes know of the file and have to be kept out; the lock is a hidden file beside it.

    Attributes:
        first_line: Its first line; that of the file once it is entered.
        header: The same, read.

    Raises:
        GradingError: Another process is writing it.
        InputRefusedError: The file is there but is no run this project wrote.
    """

    def __init__(self, path: Path, first_line: str, *, shared: bool = True) -> None:
        self.path = path
        self.header: dict[str, Any] = {}
        self.first_line = first_line
        self._lock = FileLock(path.with_name(f".{path.name}.lock")) if shared else None
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if self._lock is not None:
                self._lock.acquire(timeout=0)
        except Timeout:
            raise GradingError(
                f"{self.path.name} is being written by another grading; wait for it or choose another file."
            ) from None
        try:
            if not self.path.exists() or not self.path.stat().st_size:
                write_whole(self.path, [_line(self.first_line)])
            self._file = self.path.open("r+b")
            self._cut_torn_line()
            self.header = self._read_header()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        if self._lock is not None:
            self._lock.release()

    @property
    def _open_file(self) -> BinaryIO:
        if self._file is None:
            raise RuntimeError("RunFile: enter it as a context manager first")
        return self._file

    def _cut_torn_line(self) -> None:
        file = self._open_file
        end = file.seek(0, os.SEEK_END)
        place = end
        while place > 0:
            start = max(0, place - 65536)
            file.seek(start)
            found = file.read(place - start).rfind(b"\n")
            if found >= 0:
                place = start + found + 1
                break
            place = start
        if place < end:
            file.truncate(place)
        file.seek(0, os.SEEK_END)

    def _read_header(self) -> dict[str, Any]:
        with self.path.open("rb") as file:
            first = file.readline()
        try:
            header = json.loads(first)
            self.first_line = first.decode().removesuffix("\n")
        except ValueError:
            header = None
        if not isinstance(header, dict) or header.get(KEY) != VERSION:
            raise InputRefusedError(
                f"{self.path.name} is there already and is no run of this project; choose another file."
            )
        return header

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the lines after the header.

        Raises:
            InputRefusedError: A line is damaged.
        """
        with self.path.open("rb") as file:
            file.readline()
            for number, line in enumerate(file, start=2):
                try:
                    row = json.loads(line)
                except ValueError:
                    row = None
                if not isinstance(row, dict):
                    raise InputRefusedError(
                        f"{self.path.name}, line {number}: the line is damaged; remove the file and grade again (what"
                        " was paid for is in the grade cache)."
                    )
                yield row

    def append(self, example: GradedExample) -> None:
        """Add one graded reply; when this returns it is on the disk."""
        file = self._open_file
        file.write(_line(example_line(example)))
        file.flush()
        os.fsync(file.fileno())

    def replace_by(self, other: Path) -> None:
        """Put another file in this one's place and go on with it."""
        self._open_file.close()
        other.replace(self.path)
        self._file = self.path.open("r+b")
        self._file.seek(0, os.SEEK_END)


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Put a file in place beside its old self and by one rename: after a kill it is either the old or the new one."""
    beside = path.with_name(f"{path.name}.new")
    with beside.open("wb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def run_info(
    source: str,
    settings: GraderSettings,
    template: Template,
    *,
    model: str | None = None,
    more: Mapping[str, str] | None = None,
) -> RunInfo:
    """Describe a run that a grader of this project gave its verdicts.

    Args:
        source: Name of the file it is written to.
        settings: The grader.
        template: Its instructions.
        model: The model that replied, None where it is not known.
        more: Further settings to keep.
    """
    return RunInfo(
        source=source,
        format="graded-run JSON lines",
        model=model,
        grader=settings.model,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        clip_level="run",
        settings=grader_identity(settings, template) | dict(more or {}),
    )


def grader_identity(settings: GraderSettings, template: Template) -> dict[str, str]:
    """Return what makes a grader this grader, as a run keeps it."""
    return {
        "grader parameters": json.dumps(settings.parameters(), sort_keys=True),
        "grader template": template.origin,
        "grader template sha256": template.sha256,
    }


def write_run(
    path: Path, info: RunInfo, examples: Sequence[GradedExample], canary: str | None = None
) -> None:
    """Write a whole run at once, for example a reply that was graded on the page.

    Args:
        path: The file to write.
        info: What is known of the run.
        examples: Its graded replies.
        canary: The benchmark's canary, where the conversation carries it.

    Raises:
        InputRefusedError: The file is there already.
    """
    if path.exists():
        raise InputRefusedError(f"{path.name} is there already; choose another file.")
    path.parent.mkdir(parents=True, exist_ok=True)
    header = header_line(info, len(examples), texts=True, canary=canary)
    write_whole(path, map(_line, [header, *map(example_line, examples)]))


def verdicts_of(row: dict[str, Any]) -> list[Verdict]:
    """Read the verdicts of a line this project wrote."""
    return [
        Verdict(item["criteria_met"], item["explanation"], item["failure"])
        for item in row["criteria"]
    ]


def _line(text: str) -> bytes:
    return text.encode(errors="replace") + b"\n"
