"""A segment of the postings as a file, mapped into memory when opened.

    PALPOST2 · sections, each at a multiple of 8 · footer (JSON) · length of the footer · its CRC-32 · PALPOST2

It is a cache: all that it holds comes from the cold store's rows. It holds what the store's changes above `since`, up
to `change`, put or removed; a file that is damaged, or does not belong to this store, is deleted and made anew. The
columns of documents have room at their end, a hole in the file, so that what comes later is appended to the mapping
(which is private to the process) and a million rows are copied nowhere.

Which segments together are the index: a chain, each beginning at the change where the one before ends.

A file's name says which changes it holds: `postings-000000000000-000000004100.bin`. Files that are merged are deleted
after the merged one stands under its name, so a crash leaves a file too many and never one too few.

Writing a segment's file, a section after another: whole under its name, or not at all.
"""

import mmap
import os
import re
import secrets
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from foundation.files import (
    list_files,
    list_names,
    make_private_folder,
    open_for_reading,
    open_new,
    remove,
    replace,
    sync_file,
    sync_folder,
)
from memory.search.index.column import Column
from memory.search.index.documents import COLUMNS
from memory.search.index.postings import PostingLists

MAGIC = b"PALPOST2"
END = struct.Struct("<II8s")
LISTS = {"text": "u1", "edges": "u4", "hashes": "u8", "starts": "u4", "documents": "i4", "counts": "u1"}
CHECKED_AT_ONCE = 16 << 20  # bytes: a hundredth of a second. A larger file is checked while it is in use


class SegmentSection(Struct, frozen=True):
    name: str
    offset: int  # bytes from the beginning of the file
    count: int
    room: int  # values that there is place for, `count` and more
    crc: int


class SegmentFooter(Struct, frozen=True):
    """`mark` is what the change `change` was."""

    since: int
    change: int
    mark: tuple[str, int]
    names: list[str]
    sections: list[SegmentSection]


class PostingsSegment(Struct, frozen=True):
    """An open segment. `columns` have room beyond their `count` rows, sorted by entry; links are among them only in
    segments that hold all from the first change on. `gone` are entries that earlier segments may have, and are removed.
    """

    path: Path
    footer: SegmentFooter
    count: int
    columns: dict[str, Column]
    gone: Column
    lists: PostingLists
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


def open_segment(path: Path) -> PostingsSegment | None:
    """None where it is gone, or was cut short, or is none, or is small and damaged."""
    try:
        with open_for_reading(path) as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        segment = _opened(path, mapped)
    except (OSError, ValueError, KeyError, struct.error, msgspec.MsgspecError):
        return None
    return segment if segment and (len(mapped) > CHECKED_AT_ONCE or segment.is_whole) else None


def _opened(path: Path, mapped: mmap.mmap) -> PostingsSegment | None:
    length, crc, magic = END.unpack_from(mapped, len(mapped) - END.size)
    body = mapped[len(mapped) - END.size - length : len(mapped) - END.size]
    if magic != MAGIC or mapped[: len(MAGIC)] != MAGIC or zlib.crc32(body) != crc:
        return None
    footer = msgspec.json.decode(body, type=SegmentFooter)
    arrays = {each.name: _array(mapped, each) for each in footer.sections}
    counts = {each.name: each.count for each in footer.sections}
    columns = {name: arrays[name_of(name)] for name in COLUMNS if name_of(name) in arrays}
    return PostingsSegment(
        path=path,
        footer=footer,
        count=counts[name_of("entry")],
        columns=columns,
        gone=arrays["gone"],
        lists=PostingLists(**{name: arrays[name] for name in LISTS}),
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


def _array(mapped: mmap.mmap, section: SegmentSection) -> Column:
    return np.frombuffer(mapped, dtype_of(section.name), section.room, section.offset)


_NAME = re.compile(r"postings-(\d{12})-(\d{12})\.bin")
_ATTEMPTS = 10  # at opening what another process is merging just now


def path_for(folder: Path, since: int, change: int) -> Path:
    return folder / f"postings-{since:012d}-{change:012d}.bin"


def segments_in(folder: Path) -> list[Path]:
    """All segments of a folder, in and out of the chain."""
    with suppress(OSError):
        return [folder / name for name in list_names(folder) if _NAME.fullmatch(name)]
    return []


def chain(paths: list[Path]) -> list[Path]:
    """Those that reach furthest from the first change, as few as do."""
    best: dict[int, list[Path]] = {0: []}
    for path in sorted(paths, key=_range):
        since, change = _range(path)
        if since in best and since < change:
            here, there = [*best[since], path], best.get(change)
            if there is None or len(here) < len(there):
                best[change] = here
    return best[max(best)]


def open_chain(folder: Path, belongs: Callable[[PostingsSegment], bool]) -> list[PostingsSegment]:
    """The segments of the chain, open. Files that are damaged or do not belong to the store are deleted."""
    for attempt in range(_ATTEMPTS):
        paths = chain(segments_in(folder))
        opened = [open_segment(path) for path in paths]
        bad = [path for path, one in zip(paths, opened, strict=True) if not one or not belongs(one)]
        if not bad:
            return [one for one in opened if one]
        for path in bad:
            discard(path)
        if attempt:
            time.sleep(0.01)
    return []


def discard_others(folder: Path) -> None:
    """Deletes what the chain does not need, what another version left, and what a crash left half written. For who
    holds the lock: nobody else writes here then."""
    needed = set(chain(segments_in(folder)))
    for path in (*list_files(folder, "postings-*.bin"), *list_files(folder, ".postings-*.tmp")):
        if path not in needed:
            discard(path)


def discard(path: Path) -> None:
    """Deletes it. Windows keeps a file that somebody has mapped: it is deleted some later time then."""
    with suppress(OSError):
        remove(path)


def _range(path: Path) -> tuple[int, int]:
    since, change = path.stem.split("-")[1:]
    return int(since), int(change)


class SegmentWriter:
    """A context: what is not finished in it is deleted. All methods raise OSError."""

    def __init__(self, path: Path) -> None:
        make_private_folder(path.parent)
        self._path = path
        self._beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
        self._file = open_new(self._beside)
        self._file.write(MAGIC)
        self._sections: list[SegmentSection] = []

    def __enter__(self) -> "SegmentWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        with suppress(OSError):
            remove(self._beside, missing_ok=True)

    def section(self, name: str, pieces: Iterable[Column], more: int = 0) -> None:
        """The values of a section as they come, and a hole with room for so many more."""
        dtype = np.dtype(dtype_of(name))
        offset, count, crc = self._aligned(), 0, 0
        for piece in pieces:
            body = np.ascontiguousarray(piece, dtype).data.cast("B") if len(piece) else b""
            self._file.write(body)
            crc = zlib.crc32(body, crc)
            count += len(piece)
        self._file.seek(more * dtype.itemsize, os.SEEK_CUR)
        self._sections.append(SegmentSection(name, offset, count, count + more, crc))

    def finish(self, since: int, change: int, mark: tuple[str, int], names: Sequence[str]) -> None:
        """Brings it to the disk, under its name."""
        self._aligned()
        body = msgspec.json.encode(SegmentFooter(since, change, mark, list(names), self._sections))
        self._file.write(body + END.pack(len(body), zlib.crc32(body), MAGIC))
        self._file.close()
        sync_file(self._beside)
        replace(self._beside, self._path)
        sync_folder(self._path.parent)

    def _aligned(self) -> int:
        at = self._file.tell()
        self._file.write(bytes(-at % 8))
        return at + -at % 8
