"""The members of a zip archive or of a folder that was extracted from one, read one at a time and never written.

Inspect packs its logs with zstd (zip method 93), which Python's zipfile reads from 3.14 on only. The archive's
directory is therefore taken from zipfile and each member unpacked here: stored, deflate or zstd. An archive is
input from anywhere: names that point outside it, members that unpack to far more than they are, and anything that
does not match its own directory are refused.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Protocol

import zstandard

from healthbench.errors import InputRefusedError

LARGEST_MEMBER = 1 << 28  # bytes unpacked; a sample of a log with all its events is a few megabytes
_SMALL = 1 << 24
_HIGHEST_RATIO = 500  # logs reach 10 to 60; deflate itself ends at 1,032
_LARGEST_WINDOW = 1 << 27
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_STORED, _DEFLATE, _ZSTD = 0, 8, 93


class Members(Protocol):
    """Named pieces of one log."""

    path: Path
    names: tuple[str, ...]
    repeated: int

    def read(self, name: str) -> bytes:
        """Return a member's bytes; InputRefusedError where it cannot be had whole."""


class ZipMembers:
    """The members of a zip archive.

    Attributes:
        path: The archive.
        names: Names in the order of the archive, each once; the last of equal names counts, as a log that was
            taken up again appends.
        repeated: How many members an equal name replaced.

    Raises:
        InputRefusedError: The archive is damaged, holds an unsafe name, or unpacks to far more than it is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with zipfile.ZipFile(path) as archive:
                infos = [i for i in archive.infolist() if not i.filename.endswith("/")]
        except (
            zipfile.BadZipFile,
            OSError,
            ValueError,
            NotImplementedError,
            struct.error,
        ) as error:
            raise InputRefusedError(
                f"{path.name} is a damaged or cut off zip archive ({error}); copy it again."
            ) from error
        for info in infos:
            if _unsafe(info.filename):
                raise InputRefusedError(
                    f"{path.name} holds a member whose name points outside the archive; give the log as Inspect wrote it."
                )
        if sum(info.file_size for info in infos) > max(
            LARGEST_MEMBER, _HIGHEST_RATIO * path.stat().st_size
        ):
            raise self._bomb("")
        self._infos = {info.filename: info for info in infos}
        self.names = tuple(self._infos)
        self.repeated = len(infos) - len(self.names)

    def read(self, name: str) -> bytes:
        """Return a member's bytes."""
        info = self._infos[name]
        if info.file_size > LARGEST_MEMBER or (
            info.file_size > max(_SMALL, _HIGHEST_RATIO * info.compress_size)
        ):
            raise self._bomb(f", member {name},")
        if info.flag_bits & 1:
            raise self._refusal(name, "is encrypted; give the log without a password")
        if info.compress_type not in {_STORED, _DEFLATE, _ZSTD}:
            raise self._refusal(
                name, f"is packed by zip method {info.compress_type}; pack it by deflate or zstd"
            )
        try:
            data = _unpack(self._packed(info), info.compress_type, info.file_size)
        except (OSError, struct.error, zlib.error, zstandard.ZstdError, MemoryError) as error:
            raise self._refusal(name, f"is damaged ({error}); copy the log again") from error
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise self._refusal(
                name, "is not what the archive's directory says; copy the log again"
            )
        return data

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            signature, name_length, extra_length = _LOCAL_HEADER.unpack(
                file.read(_LOCAL_HEADER.size)
            )
            if signature != b"PK\x03\x04":
                raise struct.error("no local header")
            file.seek(name_length + extra_length, 1)
            return file.read(min(info.compress_size, self.path.stat().st_size))

    def _bomb(self, place: str) -> InputRefusedError:
        return InputRefusedError(
            f"{self.path.name}{place or ','} unpacks to far more than any log holds, so it is not unpacked; give the log as "
            "Inspect wrote it."
        )

    def _refusal(self, name: str, problem: str) -> InputRefusedError:
        return InputRefusedError(f"{self.path.name}, member {name}, {problem}.")


class FolderMembers:
    """The files of a folder, by their names relative to it."""

    def __init__(self, path: Path, names: tuple[str, ...]) -> None:
        self.path = path
        self.names = names
        self.repeated = 0

    def read(self, name: str) -> bytes:
        """Return a file's bytes.

        Raises:
            InputRefusedError: It cannot be read or is larger than any sample.
        """
        try:
            if (self.path / name).stat().st_size > LARGEST_MEMBER:
                raise InputRefusedError(
                    f"{self.path.name}/{name} is larger than any sample of a log; give the folder as it was extracted."
                )
            return (self.path / name).read_bytes()
        except OSError as error:
            raise InputRefusedError(
                f"{self.path.name}/{name} cannot be read ({error.strerror}); check the folder."
            ) from error


def _unsafe(name: str) -> bool:
    plain = name.replace("\\", "/")
    return plain.startswith("/") or plain[1:2] == ":" or ".." in PurePosixPath(plain).parts


def _unpack(packed: bytes, method: int, size: int) -> bytes:
    """Unpack at most one byte more than the directory states, whatever the data says."""
    if method == _DEFLATE:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, size + 1)
    if method == _ZSTD:
        unpacker = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
        with unpacker.stream_reader(packed, read_across_frames=True) as stream:
            return stream.read(size + 1)
    return packed
