"""A segment of the postings as a file, mapped into memory when opened.

    PALPOST2 · sections, each at a multiple of 8 · footer (JSON) · length of the footer · its CRC-32 · PALPOST2

It is a cache: all that it holds comes from the cold store's rows. It holds what the store's changes above `since`, up
to `change`, put or removed; a file that is damaged, or does not belong to this store, is deleted and made anew. The
columns of documents have room at their end, a hole in the file, so that what comes later is appended to the mapping
(which is private to the process) and a million rows are copied nowhere.
"""

import mmap
import struct
import zlib
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from foundation.files import open_for_reading
from memory.search.postings.documents import COLUMNS
from memory.search.postings.growing import Column
from memory.search.postings.postings import Lists

MAGIC = b"PALPOST2"
END = struct.Struct("<II8s")
LISTS = {"text": "u1", "edges": "u4", "hashes": "u8", "starts": "u4", "documents": "i4", "counts": "u1"}
CHECKED_AT_ONCE = 16 << 20  # bytes: a hundredth of a second. A larger file is checked while it is in use


class Section(Struct, frozen=True):
    name: str
    offset: int  # bytes from the beginning of the file
    count: int
    room: int  # values that there is place for, `count` and more
    crc: int


class Footer(Struct, frozen=True):
    """`mark` is what the change `change` was."""

    since: int
    change: int
    mark: tuple[str, int]
    names: list[str]
    sections: list[Section]


class Segment(Struct, frozen=True):
    """An open segment. `columns` have room beyond their `count` rows, sorted by entry; links are among them only in
    segments that hold all from the first change on. `gone` are entries that earlier segments may have, and are removed.
    """

    path: Path
    footer: Footer
    count: int
    columns: dict[str, Column]
    gone: Column
    lists: Lists
    mapped: mmap.mmap

    @property
    def since(self) -> int:
        return self.footer.since

    @property
    def change(self) -> int:
        return self.footer.change

    @property
    def rows(self) -> dict[str, Column]:
        """The columns without their room."""
        return {name: column[: self.count] for name, column in self.columns.items()}

    @property
    def is_whole(self) -> bool:
        """Whether all bytes are as they were written."""
        body = memoryview(self.mapped)
        return all(
            zlib.crc32(body[each.offset : each.offset + each.count * _width(each.name)]) == each.crc
            for each in self.footer.sections
        )


def open_segment(path: Path) -> Segment | None:
    """None where it is gone, or was cut short, or is none, or is small and damaged."""
    try:
        with open_for_reading(path) as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        segment = _opened(path, mapped)
    except (OSError, ValueError, KeyError, struct.error, msgspec.MsgspecError):
        return None
    return segment if segment and (len(mapped) > CHECKED_AT_ONCE or segment.is_whole) else None


def _opened(path: Path, mapped: mmap.mmap) -> Segment | None:
    length, crc, magic = END.unpack_from(mapped, len(mapped) - END.size)
    body = mapped[len(mapped) - END.size - length : len(mapped) - END.size]
    if magic != MAGIC or mapped[: len(MAGIC)] != MAGIC or zlib.crc32(body) != crc:
        return None
    footer = msgspec.json.decode(body, type=Footer)
    arrays = {each.name: _array(mapped, each) for each in footer.sections}
    counts = {each.name: each.count for each in footer.sections}
    columns = {name: arrays[name_of(name)] for name in COLUMNS if name_of(name) in arrays}
    return Segment(
        path=path,
        footer=footer,
        count=counts[name_of("entry")],
        columns=columns,
        gone=arrays["gone"],
        lists=Lists(**{name: arrays[name] for name in LISTS}),
        mapped=mapped,
    )


def name_of(column: str) -> str:
    """The section of a column of the documents."""
    return f"document.{column}"


def dtype_of(section: str) -> str:
    """Little-endian, as it stands in the file."""
    if section == "gone":
        return "<i8"
    kinds = {**LISTS, **{name_of(column): dtype for column, dtype in COLUMNS.items()}}
    return f"<{kinds[section]}"


def _width(section: str) -> int:
    return np.dtype(dtype_of(section)).itemsize


def _array(mapped: mmap.mmap, section: Section) -> Column:
    return np.frombuffer(mapped, dtype_of(section.name), section.room, section.offset)
