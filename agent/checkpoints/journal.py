"""The journal of checkpoints: an append-only file, a line for each begin and end of a change.

Each line is the CRC-32 of its JSON, a space, and the JSON. A line that a crash cut off is skipped; the next line begins
on a line of its own.
"""

import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from agent.checkpoints.change import CheckpointRecord
from foundation.files import append, open_for_reading, read_bytes, status, write_atomically


class Begun(Struct, frozen=True, tag="begin", tag_field="line"):
    """Written before any file is changed."""

    record: CheckpointRecord


class Ended(Struct, frozen=True, tag="end", tag_field="line", omit_defaults=True):
    """Written after the files were changed. `changed` are the indexes of `record.files` that were; None for all."""

    id: str
    changed: tuple[int, ...] | None = None
    interrupted: bool = False
    """The process ended in the middle: another one found out what was changed."""


JournalLine = Begun | Ended

_DECODER: Final = msgspec.json.Decoder(JournalLine)


class Journal:
    """Reads and writes the file at `path`. Writers hold the lock of the checkpoints."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[tuple[int, int, int], tuple[JournalLine, ...]] | None = None

    def add(self, line: JournalLine) -> None:
        """Appends the line, synced. Raises OSError."""
        append(self._path, (b"\n" if self._is_torn() else b"") + _encoded(line), sync=True)

    def _is_torn(self) -> bool:
        """Whether the last line has no end."""
        found = status(self._path)
        if found is None or not found.st_size:
            return False
        with open_for_reading(self._path, owned=True) as file:
            file.seek(-1, os.SEEK_END)
            return file.read() != b"\n"

    def lines(self) -> tuple[JournalLine, ...]:
        """Every intact line, oldest first."""
        found = status(self._path)
        if found is None:
            return ()
        signature = (found.st_size, found.st_mtime_ns, found.st_ino)
        if self._read is None or self._read[0] != signature:
            parsed = (_decoded(line) for line in read_bytes(self._path, owned=True).split(b"\n"))
            self._read = (signature, tuple(line for line in parsed if line is not None))
        return self._read[1]

    def rewrite(self, lines: Iterable[JournalLine]) -> None:
        """Replaces the whole journal by these lines, atomically."""
        write_atomically(self._path, b"".join(map(_encoded, lines)))


def _encoded(line: JournalLine) -> bytes:
    body = msgspec.json.encode(line)
    return b"%08x " % zlib.crc32(body) + body + b"\n"


def _decoded(line: bytes) -> JournalLine | None:
    checksum, _, body = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(body):
        return None
    try:
        return _DECODER.decode(body)
    except msgspec.DecodeError:
        return None
