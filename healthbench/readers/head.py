"""The beginning of a file: enough to tell its producer, whatever its size and name."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import ijson
from ijson.common import ObjectBuilder

from healthbench.errors import InputRefusedError
from healthbench.readers.guard import PIECE, GuardedSource
from healthbench.readers.reading import refusing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from healthbench.readers.aliases import ColumnMapping

HEAD_BYTES = 1 << 18
_SKIPPED_AT_ONCE = 1 << 20
LINE_LIMIT = (
    1 << 28
)  # bytes; a graded example is tens of kilobytes, a million-character reply a few megabytes
_FIRST_LINE_LIMIT = 1 << 25
_LARGEST_WHOLE = 1 << 30
_ROWS_LOOKED_AT = 50

# What Python's writer emits and ijson refuses; the outline tells kinds of files apart, it carries no values on.
_NOT_JSON = re.compile(r"(?<=[\s:,\[])(?:NaN|-?Infinity)(?=[\s,\]}])")

_MAGIC = {
    b"PAR1": "parquet",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"SQLite format 3\x00": "sqlite",
    b"%PDF": "pdf",
}


@dataclass(frozen=True, slots=True)
class Head:
    """What can be told of a file or folder without reading it.

    Attributes:
        path: The file or folder.
        kind: ``folder``, ``zip``, ``xlsx``, ``parquet``, ``sqlite``, ``pdf``, ``html``, ``json``, ``jsonl``,
            ``text`` (anything else that decodes), ``binary`` or ``empty``. Gzip is looked through.
        text: The first 256 kB, decoded; "" for folders and binary kinds.
        value: The JSON value that begins ``text``, as far as it goes: for a JSON object or list the document with
            everything after 256 kB missing, for JSON lines the first row. None where there is none.
        members: Names in a zip archive, or relative file names in a folder, sorted.
        mappings: Column mappings that a person made; the first that fits a table says what its columns hold.
    """

    path: Path
    kind: str
    text: str = ""
    value: Any = None
    members: tuple[str, ...] = ()
    mappings: tuple[ColumnMapping, ...] = ()

    @property
    def rows(self) -> list[Any]:
        """The rows of a JSON list or of JSON lines as far as the head goes; the last may be cut."""
        if isinstance(self.value, list):
            return self.value
        if self.kind != "jsonl":
            return []
        rows = [self.value]
        for line in self.text.strip().split("\n")[1:_ROWS_LOOKED_AT]:
            try:
                rows.append(json.loads(line))
            except (ValueError, RecursionError):
                break
        return rows

    @property
    def row(self) -> dict[str, Any]:
        """The first object of a list or of JSON lines, or the object itself; {} where there is none."""
        first = self.value[0] if isinstance(self.value, list) and self.value else self.value
        return first if isinstance(first, dict) else {}


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading bytes, through gzip where it is one.

    Raises:
        InputRefusedError: The file is missing or may not be read; or, while it is read, it is damaged gzip.
    """
    with refusing(path.name):
        with path.open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        if zipped:
            return cast("BinaryIO", _Unzipped(path))
        return path.open("rb", buffering=1 << 16)


class _Unzipped(gzip.GzipFile):
    """A gzip file whose damage is refused in one sentence, wherever reading meets it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self.path = path

    def read(self, size: int | None = -1) -> bytes:
        with self._refusing():
            return super().read(size)

    def readline(self, size: int | None = -1) -> bytes:
        with self._refusing():
            return super().readline(size)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputRefusedError(
                f"{self.path.name} is damaged gzip ({error}); copy it again or unpack it first."
            ) from error


def decode(data: bytes) -> str:
    """Decode text as UTF-8 (with or without a mark), UTF-16 with a mark, else as Windows' cp1252.

    Simple-evals on Windows writes its report in the system's code page. Bytes that cp1252 leaves undefined
    become U+FFFD, so this never fails. Windows' line ends become one newline.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", errors="replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", errors="replace")
    return text.replace("\r\n", "\n")


def decode_lines(data: bytes) -> str:
    """Decode text as ``decode`` does; where it is not UTF-8 as a whole, each line by itself, as edited files mix encodings."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decode(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "\n".join(map(decode, data.split(b"\n"))).replace("\r\n", "\n")
    return text.replace("\r\n", "\n")


def look(path: Path) -> Head:
    """Read the beginning of a file, or the names in a folder.

    Raises:
        InputRefusedError: It does not exist, cannot be read, or is damaged gzip.
    """
    with refusing(path.name):
        if path.is_dir():
            names = (p.relative_to(path) for p in path.rglob("*") if p.is_file())
            shown = (n.as_posix() for n in names if not any(x.startswith(".") for x in n.parts))
            return Head(path, "folder", members=tuple(sorted(shown)))
    with open_binary(path) as file:
        data = file.read(HEAD_BYTES)
        if not data.strip():
            return Head(path, "empty")
        for magic, kind in _MAGIC.items():
            if data.startswith(magic):
                return _archive(path) if kind == "zip" else Head(path, kind)
        return _text_head(path, data, file)


def _archive(path: Path) -> Head:
    try:
        with zipfile.ZipFile(path) as archive:
            members = tuple(sorted(archive.namelist()))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InputRefusedError(
            f"{path.name} begins like a zip archive but is damaged or cut off ({error}); copy it again."
        ) from error
    return Head(path, "xlsx" if "xl/workbook.xml" in members else "zip", members=members)


def _text_head(path: Path, data: bytes, file: BinaryIO) -> Head:
    whole = len(data) < HEAD_BYTES
    # A head may end inside a character; up to three bytes are left off rather than taken for cp1252.
    text = decode(data if whole else _whole_characters(data))
    body = text.lstrip()
    if body.startswith(("{", "[")):
        value, end = _outline(body)
        return Head(path, _json_kind(body, end, file), text, value)
    if "\x00" in text[:4096]:
        return Head(path, "binary")
    return Head(path, "html" if body.startswith("<") else "text", text)


def _whole_characters(data: bytes) -> bytes:
    for cut in range(4):
        try:
            data[: len(data) - cut].decode("utf-8-sig")
        except UnicodeDecodeError:
            continue
        return data[: len(data) - cut]
    return data


def _outline(text: str) -> tuple[Any, int | None]:
    """Build the JSON value that begins a text as far as the text goes.

    Returns:
        The value, and the position after it where it is complete (else None).
    """
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        builder = ObjectBuilder()
        try:
            clean = _NOT_JSON.sub("null", text).encode("utf-8", errors="replace")
            source = io.BytesIO(clean)
            for event, value in ijson.basic_parse(source, use_float=True):
                builder.event(event, value)
        except ijson.JSONError:
            pass
        return getattr(builder, "value", None), None
    return value, end


def _json_kind(body: str, end: int | None, file: BinaryIO) -> str:
    """Tell one JSON document from JSON lines."""
    if end is not None:
        return "jsonl" if body[end:].lstrip().startswith(("{", "[")) else "json"
    if "\n" in body:
        return "json"
    # The first line is longer than the head: only what follows it can tell.
    rest = file.readline(_FIRST_LINE_LIMIT)
    following = file.read(1) if rest.endswith(b"\n") else b""
    return "jsonl" if following == b"{" else "json"


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number (from 1) and text of each line that is not blank, each decoded on its own.

    Raises:
        InputRefusedError: A line is longer than 256 MB.
    """
    with open_binary(path) as file:
        number = 0
        while line := file.readline(LINE_LIMIT):
            number += 1
            if len(line) >= LINE_LIMIT:
                raise InputRefusedError(
                    f"{path.name}, line {number} is longer than 256 MB; check that the file has one JSON object a line."
                )
            if text := decode(line).strip():
                yield number, text


def json_rows(head: Head) -> Iterator[tuple[int, Any]]:
    """Yield the number (from 1) and value of each row of JSON lines, of a JSON list, or of one JSON object.

    A row number is the line for JSON lines and the place in the list otherwise. Lists are streamed.

    Raises:
        InputRefusedError: The text is not complete JSON, or nested beyond Python's limit.
    """
    if head.kind == "jsonl":
        for number, text in lines(head.path):
            yield number, parse_json(text, f"{head.path.name}, line {number}")
    elif isinstance(head.value, list):
        for number, value in enumerate(json_items(head.path, "item"), start=1):
            yield number, value
    else:
        yield 1, json_document(head.path)


def parse_json(text: str, where: str) -> Any:
    """Parse JSON as Python writes it (NaN and Infinity included), lone surrogates replaced.

    Raises:
        InputRefusedError: It is not JSON, or nested beyond Python's limit.
    """
    try:
        return without_surrogates(json.loads(text))
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) - 1 or "Unterminated" in error.msg
        problem = "ends in the middle of a value" if cut else f"is not JSON ({error})"
        raise InputRefusedError(
            f"{where} {problem}; the file was probably cut off or edited: copy it again."
        ) from None
    except RecursionError:
        raise InputRefusedError(
            f"{where} is nested too deeply to be a graded run; give the file its producer wrote."
        ) from None
    except ValueError as error:  # an integer of more digits than Python converts
        raise InputRefusedError(f"{where} is not JSON ({error}); copy the file again.") from None


def json_document(path: Path) -> Any:
    """Parse a whole file as one JSON document.

    Raises:
        InputRefusedError: As parse_json, or the document is larger than 1 GB.
    """
    with open_binary(path) as file:
        data = file.read(_LARGEST_WHOLE + 1)
    if len(data) > _LARGEST_WHOLE:
        raise InputRefusedError(
            f"{path.name} is larger than 1 GB and must be read whole, because it is in one piece or holds NaN, a byte order"
            " mark or another encoding than UTF-8; write it as JSON lines."
        )
    return parse_json(decode_lines(data), path.name)


class _FromKey:
    """A JSON document from one key of an object in it on; what stands before is passed over without being parsed.

    Every quote inside a JSON text has a backslash before it, so the key in its own two quotes is found only where it
    is a text of its own. Where that is a value and no key, what is read here is no JSON, and says so. It is for
    documents that do not use the key elsewhere before.
    """

    def __init__(self, file: BinaryIO, keys: Sequence[str]) -> None:
        self.file = file
        self.pending = b""
        token = json.dumps(keys[-1]).encode()
        # One buffer, with room in front for the end of the piece before: the key may lie across the two.
        room = len(token)
        buffer = bytearray(room + _SKIPPED_AT_ONCE)
        view = memoryview(buffer)
        while n_read := cast("io.BufferedIOBase", file).readinto(view[room:]):
            place = buffer.find(token, 0, room + n_read)
            if place >= 0:
                opened = b"".join(b"{%b:" % json.dumps(key).encode() for key in keys[:-1])
                self.pending = opened + b"{" + bytes(view[place : room + n_read])
                return
            buffer[:room] = buffer[n_read : n_read + room]
        file.seek(0)

    def read(self, size: int = -1) -> bytes:
        """Read as a file does."""
        if not self.pending or size <= 0:
            return self.file.read(size)
        data, self.pending = self.pending[:size], self.pending[size:]
        return data


def json_items(path: Path, prefix: str, *, skip: bool = False) -> Iterator[Any]:
    """Stream the values under an ijson prefix (``item``, ``metadata.rows.item``) of a JSON document.

    What ijson does not take (NaN, a byte order mark, cp1252) is read whole by Python's parser instead, going on
    after the values already yielded.

    Args:
        path: The file.
        prefix: Where the values are.
        skip: Pass over what stands before the last key of the prefix, for files that are mostly something else.

    Raises:
        InputRefusedError: The document is not complete JSON, or nested beyond Python's limit.
    """
    assert ijson.backend_name == "yajl2_c", "ijson's C backend is missing"  # noqa: S101 - 10x slower without
    done = 0
    try:
        with open_binary(path) as file:
            keys = [key for key in prefix.split(".") if key != "item"]
            inner = _FromKey(file, keys) if skip else file
            source = GuardedSource(inner, path.name, lambda: open_binary(path))
            for value in ijson.items(source, prefix, use_float=True, buf_size=PIECE):
                source.yielded()
                yield value
                done += 1
    except (ijson.JSONError, UnicodeDecodeError):
        for place, value in enumerate(_items_under(json_document(path), prefix.split("."))):
            if place >= done:
                yield value


def json_scalars(head: Head) -> dict[str, Any]:
    """Return the texts, numbers and booleans directly in a JSON object, wherever in the file they stand.

    What cannot be parsed is left out: whoever reads the file's content says what is wrong with it.
    """
    if head.text.rstrip().endswith("}") and isinstance(head.value, dict):
        return {k: v for k, v in head.value.items() if not isinstance(v, dict | list)}
    scalars: dict[str, Any] = {}
    depth, key = 0, ""
    try:
        with open_binary(head.path) as file:
            for event, value in ijson.basic_parse(file, use_float=True, buf_size=HEAD_BYTES):
                if event in ("start_map", "start_array"):
                    depth += 1
                elif event in ("end_map", "end_array"):
                    depth -= 1
                elif depth == 1 and event == "map_key":
                    key = value
                elif depth == 1:
                    scalars[key] = value
    except (ijson.JSONError, UnicodeDecodeError, OSError, EOFError, zlib.error):
        pass
    return scalars


def _items_under(value: Any, keys: list[str]) -> Iterator[Any]:
    if not keys:
        yield value
    elif keys[0] == "item" and isinstance(value, list):
        for element in value:
            yield from _items_under(element, keys[1:])
    elif isinstance(value, dict) and keys[0] in value:
        yield from _items_under(value[keys[0]], keys[1:])


def without_surrogates(value: Any) -> Any:
    """Replace lone surrogates, which no UTF-8 store can hold, by U+FFFD in every text of a JSON value."""
    if isinstance(value, str):
        if value.isascii():
            return value
        try:
            value.encode()
        except UnicodeEncodeError:
            return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value)
        return value
    if isinstance(value, list):
        return [without_surrogates(v) for v in value]
    if isinstance(value, dict):
        return {without_surrogates(k): without_surrogates(v) for k, v in value.items()}
    return value
