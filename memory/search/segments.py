"""Segment files: named columns in one file, written whole or not at all, mapped into memory when opened.

    magic · sections, aligned · footer (JSON) · length of the footer · its CRC-32 · magic

The footer says where each section begins, how many values it has, and their CRC-32. Every byte is covered: the space
between sections must be zeros. A section may have room for more values at its end, a hole in the file: where the kind
is `appendable`, the mapping is private to the process and values are added there, so that nothing is copied.

A segment is a cache. It is immutable, and a damaged one is deleted and rebuilt from the cold store. The inputs of a
merge are deleted after the merged segment is in place: a crash leaves a file too many, never one too few. Only the
holder of the folder's lock writes and deletes; any process reads.
"""

import mmap
import os
import re
import struct
import zlib
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

import msgspec
import numpy as np
from msgspec import Struct

from foundation.files import (
    FileLock,
    atomic_writer,
    list_files,
    list_names,
    make_private_folder,
    open_for_reading,
    remove,
)
from foundation.typed_json import decode_json
from memory.search.column import Column

TRAILER = struct.Struct("<II8s")
"""The end of the file: length of the footer, its CRC-32, the magic."""

F = TypeVar("F")


class SegmentSection(Struct, frozen=True):
    """A column in the file. `room` is its capacity in values, `count` or more."""

    name: str
    offset: int  # bytes from the beginning of the file
    count: int
    room: int
    crc: int  # of the values


class _Sections(Struct, frozen=True):
    """The part of the footer that every kind of segment has."""

    sections: list[SegmentSection]


class SegmentKind(Struct, Generic[F], frozen=True):
    """A kind of segment: its names, its format, and how much is verified when one is opened.

    `dtypes` are numpy's, little-endian in the file. `footer` is the struct of the kind's own metadata.
    """

    prefix: str
    name: re.Pattern[str]
    lock_name: str
    magic: bytes
    dtypes: Mapping[str, str]
    footer: type[F]
    check_limit: int  # bytes: a larger file is not verified when it is opened, apart from `always_checked`
    always_checked: frozenset[str] = frozenset()
    appendable: bool = False

    def paths(self, folder: Path) -> list[Path]:
        """The segments of a folder, of this format or another; none where there is no folder."""
        return [folder / name for name in list_names(folder) if self.name.fullmatch(name)]

    def unfinished(self, folder: Path) -> list[Path]:
        """Temporary files of an interrupted writer, or of one that is writing now."""
        return list_files(folder, f".{self.prefix}-*.tmp")

    def lock(self, folder: Path, timeout: float) -> FileLock:
        """The folder's writer lock, for `with`. Waits `timeout` seconds, then raises LockTimeout."""
        make_private_folder(folder)
        return FileLock(folder / self.lock_name, timeout=timeout)

    def dtype(self, section: str) -> np.dtype[np.generic]:
        return np.dtype(f"<{self.dtypes[section]}")


class SegmentFile(Struct, Generic[F], frozen=True):
    """An open segment. `columns` are its sections with their room; `is_checked`: every CRC was verified on opening."""

    path: Path
    footer: F
    sections: dict[str, SegmentSection]
    columns: dict[str, Column]
    mapped: mmap.mmap
    is_checked: bool = False

    def values(self, section: str) -> Column:
        """A section without its room."""
        return self.columns[section][: self.sections[section].count]

    def is_whole(self) -> bool:
        """Whether every section matches its CRC. Reads the whole file."""
        return _is_whole(self, self.sections)


def open_segment(path: Path, kind: SegmentKind[F]) -> SegmentFile[F] | None:
    """None where the file is truncated, of another format, or damaged. Raises OSError."""
    mapped = map_file(path, writable=kind.appendable)
    if mapped is None:
        return None
    try:
        file = _decoded(path, mapped, kind)
    except (ValueError, KeyError, struct.error, msgspec.MsgspecError):
        return None
    return verified(file, kind) if file else None


def map_file(path: Path, *, writable: bool = False) -> mmap.mmap | None:
    """The file's bytes; None where it is empty. `writable`: changes are private to the process. Raises OSError."""
    access = mmap.ACCESS_COPY if writable else mmap.ACCESS_READ
    with open_for_reading(path) as file:
        return mmap.mmap(file.fileno(), 0, access=access) if file.seek(0, os.SEEK_END) else None


def verified(file: SegmentFile[F], kind: SegmentKind[F], always: Iterable[str] | None = None) -> SegmentFile[F] | None:
    """The file, verified as its kind demands; None where it is damaged. `always` replaces `always_checked`."""
    if len(file.mapped) <= kind.check_limit:
        return msgspec.structs.replace(file, is_checked=True) if file.is_whole() else None
    return file if _is_whole(file, kind.always_checked if always is None else always) else None


def _decoded(path: Path, mapped: mmap.mmap, kind: SegmentKind[F]) -> SegmentFile[F] | None:
    end = len(mapped) - TRAILER.size
    length, crc, magic = TRAILER.unpack_from(mapped, end)
    end -= length
    body = mapped[end : end + length]
    if magic != kind.magic or mapped[: len(magic)] != magic or zlib.crc32(body) != crc:
        return None
    sections = decode_json(body, _Sections).sections
    if not _gaps_are_zeros(mapped, sections, end, kind):
        return None
    return SegmentFile(
        path=path,
        footer=decode_json(body, kind.footer),
        sections={section.name: section for section in sections},
        columns={
            section.name: np.frombuffer(mapped, kind.dtype(section.name), section.room, section.offset)
            for section in sections
        },
        mapped=mapped,
    )


def _gaps_are_zeros(mapped: mmap.mmap, sections: Iterable[SegmentSection], end: int, kind: SegmentKind[F]) -> bool:
    offset = len(kind.magic)
    for section in sorted(sections, key=lambda each: each.offset):
        if any(mapped[offset : section.offset]):
            return False
        offset = section.offset + section.room * kind.dtype(section.name).itemsize
    return not any(mapped[offset:end])


def _is_whole(file: SegmentFile[F], sections: Iterable[str]) -> bool:
    return all(zlib.crc32(file.values(name).data) == file.sections[name].crc for name in sections)


class SegmentWriter(Generic[F]):
    """Writes the sections of one file in turn, then `finish`. Raises OSError."""

    def __init__(self, file: BinaryIO, kind: SegmentKind[F]) -> None:
        self._file = file
        self._kind = kind
        self._sections: list[SegmentSection] = []
        file.write(kind.magic)

    def section(self, name: str, parts: Iterable[Column], *, room: int = 0, align: int = 8) -> None:
        """Writes a section from its parts, aligned to `align` bytes, with a hole for `room` more values."""
        dtype = self._kind.dtype(name)
        offset, count, crc = self._aligned(align), 0, 0
        for part in parts:
            body = np.ascontiguousarray(part, dtype).data.cast("B") if len(part) else b""
            self._file.write(body)
            crc = zlib.crc32(body, crc)
            count += len(part)
        self._file.seek(room * dtype.itemsize, os.SEEK_CUR)
        self._sections.append(SegmentSection(name, offset, count, count + room, crc))

    def finish(self, footer: F) -> None:
        """Writes the footer."""
        self._aligned(8)
        body = msgspec.json.encode(msgspec.to_builtins(footer) | {"sections": self._sections})
        self._file.write(body + TRAILER.pack(len(body), zlib.crc32(body), self._kind.magic))

    def _aligned(self, align: int) -> int:
        offset = self._file.tell()
        self._file.write(bytes(-offset % align))
        return offset + -offset % align


@contextmanager
def write_segment(path: Path, kind: SegmentKind[F]) -> Generator[SegmentWriter[F]]:
    """The file is at `path`, synced, when the block ends; there is none where the block raises. Raises OSError."""
    make_private_folder(path.parent)
    with atomic_writer(path) as file:
        yield SegmentWriter(file, kind)


def discard(path: Path) -> None:
    """Deletes a segment. Windows keeps a file that a process has mapped: a later garbage collection deletes it then."""
    with suppress(FileNotFoundError, PermissionError):
        remove(path)


def collect_garbage(kind: SegmentKind[F], folder: Path, superseded: Iterable[Path]) -> None:
    """Deletes superseded segments and the files of interrupted writers. Requires the lock."""
    for path in (*superseded, *kind.unfinished(folder)):
        discard(path)
