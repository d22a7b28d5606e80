"""The journal of checkpoints: an append-only file, a line for each begin and end of a change.

A file beside it, without content, says that it has had lines: so a journal that was emptied or deleted is noticed.

Each line has a checksum (foundation.checked_lines). A line that a crash cut off is skipped. Every other line that
cannot be read is damage, and counted.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from agent.checkpoints.change import CheckpointRecord
from foundation.checked_lines import BEGINNING, CUT_OFF, add_lines, body_of, with_checksum
from foundation.files import exists, read_bytes, remove, status, write_atomically
from foundation.typed_json import decode_json


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
_MOST_NAMED: Final = 5  # lines


class JournalContent(Struct, frozen=True):
    """The intact lines with their numbers, oldest first, and the numbers of those that cannot be read or are missing:
    the end of a change whose beginning is not there tells of one."""

    numbered: tuple[tuple[int, JournalLine], ...] = ()
    unreadable: tuple[int, ...] = ()

    @property
    def lines(self) -> tuple[JournalLine, ...]:
        return tuple(line for _, line in self.numbered)

    @property
    def damage(self) -> str:
        """What cannot be read, as the beginning of a sentence; "" where all can."""
        count, named = len(self.unreadable), ", ".join(map(str, self.unreadable[:_MOST_NAMED]))
        more = " …" if count > _MOST_NAMED else ""
        lines = f"{count} line{'s' * (count != 1)} of the checkpoint journal cannot be read (line {named}{more})"
        return lines if count else ""


class Journal:
    """Reads and writes the file at `path`. Writers hold the lock of the checkpoints."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mark = path.with_suffix(".begun")
        self._read: tuple[tuple[int, int, int], JournalContent] | None = None

    def begin(self) -> None:
        """Makes the empty file where there is none: before the first content, so that contents without a journal are
        those of a lost one. Raises OSError."""
        if not exists(self._path):
            write_atomically(self._path, b"")

    def add(self, line: JournalLine) -> None:
        """Appends the line, synced. Raises OSError."""
        add_lines(self._path, _encoded(line))
        if not exists(self._mark):
            write_atomically(self._mark, b"")

    @property
    def is_emptied(self) -> bool:
        """Whether it has no line, though changes were in it that nothing here took out."""
        return exists(self._mark) and not self.content().numbered and not self.content().damage

    def lines(self) -> tuple[JournalLine, ...]:
        """Every intact line, oldest first."""
        return self.content().lines

    def content(self) -> JournalContent:
        """What the file holds. Raises OSError where it cannot be read at all."""
        found = status(self._path)
        if found is None:
            return JournalContent()
        signature = (found.st_size, found.st_mtime_ns, found.st_ino)
        if self._read is None or self._read[0] != signature:
            self._read = (signature, _parsed(read_bytes(self._path, owned=True)))
        return self._read[1]

    def rewrite(self, lines: Iterable[JournalLine]) -> None:
        """Replaces the whole journal by these lines, atomically."""
        body = b"".join(map(_encoded, lines))
        if not body:  # before the lines: a process that is killed in between leaves no journal that looks emptied
            remove(self._mark, missing_ok=True)
        write_atomically(self._path, body)


def _encoded(line: JournalLine) -> bytes:
    return with_checksum(msgspec.json.encode(line))


def _parsed(body: bytes) -> JournalContent:
    *whole, last = body.split(b"\n")
    numbered: list[tuple[int, JournalLine]] = []
    unreadable: list[int] = []
    begun: set[str] = set()
    lost = 0  # beginnings
    for number, text in enumerate(whole, 1):
        line = _decoded(text)
        if line is None:
            if text and not text.endswith(CUT_OFF):
                unreadable.append(number)
            continue
        numbered.append((number, line))
        if isinstance(line, Begun):
            begun.add(line.record.id)
        elif line.id not in begun:
            lost += 1
            if lost > len(unreadable):
                unreadable.append(number)
    last = last.rstrip(b"\0")  # which a power cut may leave
    if (line := _decoded(last)) is not None:
        numbered.append((len(whole) + 1, line))
    elif not BEGINNING.fullmatch(last):
        unreadable.append(len(whole) + 1)
    return JournalContent(tuple(numbered), tuple(unreadable))


def _decoded(line: bytes) -> JournalLine | None:
    if (body := body_of(line)) is None:
        return None
    try:
        return decode_json(body, _DECODER)
    except msgspec.DecodeError:
        return None
