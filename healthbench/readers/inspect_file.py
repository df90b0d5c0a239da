"""The three forms of an Inspect log: ``.eval`` archives, ``.json`` logs and folders extracted from an archive.

A log is a header and samples. The samples are most of it and are read one at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ijson
from ijson.common import ObjectBuilder

from healthbench.errors import InputRefusedError
from healthbench.readers.fields import kind_name
from healthbench.readers.foreign import listing, mapping
from healthbench.readers.head import (
    Head,
    decode,
    json_document,
    json_items,
    open_binary,
    parse_json,
)
from healthbench.readers.members import FolderMembers, Members, ZipMembers

if TYPE_CHECKING:
    from pathlib import Path

_HEADER = "header.json"
_START = "_journal/start.json"
_DEPTH = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}
_DEEPEST = 100
_SAMPLE = re.compile(r"samples/(?P<id>.+?)(?:_epoch_(?P<epoch>\d+))?\.json")


def recognise(head: Head) -> str | None:
    """Recognise a log by its header: as a member of an archive or folder, or at the top of a JSON document."""
    if head.kind in ("zip", "folder"):
        names = {_HEADER, _START} & set(head.members)
        return f"{max(names)} and samples, as in an Inspect log" if names else None
    if head.kind != "json" or not isinstance(head.value, dict):
        return None
    evaluation = mapping(head.value.get("eval"))
    if "status" in head.value and {"task", "model", "task_id"} & evaluation.keys():
        return "status and eval, as in an Inspect log"
    return None


@dataclass(frozen=True, slots=True)
class Log:
    """A log, whatever its form.

    Attributes:
        name: Name of the file or folder.
        header: Everything but the samples.
        samples: Starts reading the samples, in the data set's order where the log says it.
        files: The files it is read from.
        repeated: Members of an archive that a later one of the same name replaced.
    """

    name: str
    header: Mapping[str, Any]
    samples: Callable[[], Iterator[Any]]
    files: tuple[Path, ...]
    repeated: int = 0

    @property
    def evaluation(self) -> Mapping[str, Any]:
        """The specification of the evaluation, {} where there is none."""
        return mapping(self.header.get("eval"))

    @property
    def status(self) -> str:
        """``success``, ``error``, ``cancelled`` or ``started``."""
        return str(self.header.get("status") or "started")

    @property
    def epochs(self) -> int:
        """How often each sample was to be answered."""
        epochs = mapping(self.evaluation.get("config")).get("epochs")
        return epochs if isinstance(epochs, int) and epochs > 0 else 1


def open_log(head: Head) -> Log:
    """Open a log that ``recognise`` knows.

    Raises:
        InputRefusedError: It is damaged or unsafe.
    """
    path = head.path
    if head.kind == "json":
        return Log(
            path.name, _document_header(path), lambda: json_items(path, "samples.item"), (path,)
        )
    members: Members
    if head.kind == "zip":
        members = ZipMembers(path)
        files: tuple[Path, ...] = (path,)
    else:
        names = tuple(n for n in head.members if n in (_HEADER, _START) or _SAMPLE.fullmatch(n))
        members, files = FolderMembers(path, names), tuple(path / name for name in names)
    header = _member(members, _HEADER if _HEADER in members.names else _START)
    if not isinstance(header, Mapping):
        raise InputRefusedError(
            f"{path.name} has a header that is {kind_name(header)}; give the log as Inspect wrote it."
        )
    # The journal's beginning, all there is of a crashed run, holds the specification under the same key.
    ordered = _in_order(members.names, mapping(header.get("eval")))
    return Log(
        path.name,
        header,
        lambda: (_member(members, name) for name in ordered),
        files,
        members.repeated,
    )


def _member(members: Members, name: str) -> Any:
    return parse_json(decode(members.read(name)), f"{members.path.name}, {name}")


def _in_order(names: Sequence[str], evaluation: Mapping[str, Any]) -> list[str]:
    """Return the samples' names by epoch, then in the data set's order; an archive holds them as they finished."""
    ids = listing(mapping(evaluation.get("dataset")).get("sample_ids"))
    places = {str(sample_id): place for place, sample_id in enumerate(ids)}
    found = [match for name in names if (match := _SAMPLE.fullmatch(name))]
    found.sort(key=lambda m: (int(m["epoch"] or 1), places.get(m["id"], len(places)), m["id"]))
    return [match[0] for match in found]


def _document_header(path: Path) -> Mapping[str, Any]:
    """Return everything before ``samples`` of a JSON log, which is most of its bytes."""
    header = _streamed_header(path)
    if header is None:
        header = mapping(json_document(path))
    return {name: value for name, value in header.items() if name != "samples"}


def _streamed_header(path: Path) -> Mapping[str, Any] | None:
    """Build the top-level values up to ``samples``; None where the streaming parser cannot, or should not."""
    header: dict[str, Any] = {}
    depth, key, builder = 0, None, ObjectBuilder()
    try:
        with open_binary(path) as file:
            for event, value in ijson.basic_parse(file, use_float=True):
                if depth == 1 and event in ("map_key", "end_map"):
                    if key is not None:
                        header[key] = builder.value
                    if value == "samples" and "eval" in header:
                        return header
                    key, builder = value, ObjectBuilder()
                elif key is not None:
                    builder.event(event, value)
                depth += _DEPTH.get(event, 0)
                if depth > _DEEPEST:
                    return None
    except (ijson.JSONError, UnicodeDecodeError):
        return None
    return header
