"""A file of vectors, mapped into memory when opened. It is written once, whole, and never changed.

    PALVECT1 · CRC-32 of the head · length of the header · header (JSON) · columns · vectors (int8, a row each)

The head is all before the vectors, and is proven when the file is opened; the vectors have a CRC of their own in the
header, proven at once where they are few and else by `is_whole`. It is a cache: what is damaged is deleted, and made
again from the text.
"""

import mmap
import os
import re
import secrets
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from foundation.files import make_private_folder, open_for_reading, open_new, remove, replace, sync_file, sync_folder
from memory.search.index.column import Column

_MAGIC = b"PALVECT1"
_START = struct.Struct("<8sII")
_NAME = re.compile(r"vectors-(\d{10})(?:-[0-9a-f]{8})?\.bin")
_COLUMNS = {"entry": "i8", "check": "u8", "inverse": "f4", "chunk": "u2"}
_ALIGNED = 64
_FEW = 8 * 1024 * 1024  # bytes of vectors: proven in some milliseconds
_ROWS_AT_ONCE = 8192


class VectorSegmentHeader(Struct, frozen=True):
    rows: int
    dimensions: int
    entries: int  # how many of the rows are an entry's first
    crc: int  # of the vectors
    replaces: list[str] = []  # files whose rows are here now


class VectorRows(Struct, frozen=True):
    """A row a vector. `check` is the beginning of the SHA-256 of the entry's text; `inverse` 0 is a row without a
    vector, which says that there is nothing to embed. Below 0 stands an entry that is a note."""

    entry: Column
    check: Column
    chunk: Column
    inverse: Column
    vectors: Column  # int8 (n, d)

    def __len__(self) -> int:
        return len(self.entry)


class VectorSegment(Struct, frozen=True):
    """Rows in the order of (entry, chunk), mapped."""

    path: Path
    header: VectorSegmentHeader
    rows: VectorRows

    @property
    def name(self) -> str:
        return self.path.name

    def places(self, entries: Column) -> tuple[Column, Column]:
        """Where each entry's rows begin and end."""
        return np.searchsorted(self.rows.entry, entries), np.searchsorted(self.rows.entry, entries, side="right")

    def is_whole(self) -> bool:
        """Reads all vectors."""
        return _crc([self.rows.vectors]) == self.header.crc


def number_of(name: str) -> int:
    """The number in a segment's name; -1 where it is no segment."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else -1


def name_of(number: int) -> str:
    """A name that no file had before: who knows a deleted file of this number must see that it is another."""
    return f"vectors-{number:010d}-{secrets.token_hex(4)}.bin"


def write(
    path: Path,
    parts: Sequence[VectorRows],
    dimensions: int,
    *,
    without: Column | None = None,
    replaces: Iterable[str] = (),
) -> None:
    """The rows of all parts in one file, whole or not at all, but none of the entries `without`. Raises OSError.

    Nothing of the vectors is held in memory: the parts may be mapped.
    """
    order, heads = _ordered(parts, without)
    header = VectorSegmentHeader(
        rows=len(order),
        dimensions=dimensions,
        entries=int(np.count_nonzero((heads["chunk"] == 0) & (heads["entry"] > 0))),
        crc=_crc(_blocks(parts, order, dimensions)),
        replaces=list(replaces),
    )
    make_private_folder(path.parent)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    file = open_new(beside)
    try:
        with file:
            file.write(_head(header, heads))
            for block in _blocks(parts, order, dimensions):
                file.write(block.data)
        sync_file(beside)
        replace(beside, path)
    except BaseException:
        remove(beside, missing_ok=True)
        raise
    sync_folder(path.parent)


def load(path: Path, dimensions: int) -> VectorSegment | None:
    """None where it is not whole, or has vectors of another kind. Raises OSError where it cannot be read."""
    with open_for_reading(path) as file:
        if not file.seek(0, os.SEEK_END):
            return None
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        segment = _decoded(path, mapped)
    except (ValueError, struct.error, msgspec.MsgspecError):
        return None
    if segment is None or segment.header.dimensions != dimensions:
        return None
    return segment if segment.rows.vectors.nbytes > _FEW or segment.is_whole() else None


def discard(path: Path) -> None:
    """Deletes it. Windows keeps a file that somebody has mapped: a later look deletes it then."""
    with suppress(FileNotFoundError, PermissionError):
        remove(path)


def _ordered(parts: Sequence[VectorRows], without: Column | None) -> tuple[Column, dict[str, Column]]:
    """The rows of all parts by entry and chunk, numbered as if the parts stood behind one another; their columns."""
    columns: dict[str, Column] = {
        name: np.concatenate([getattr(part, name) for part in parts]).astype(f"<{kind}")
        for name, kind in _COLUMNS.items()
    }
    order: Column = np.lexsort((columns["chunk"], columns["entry"]))
    if without is not None:
        order = order[~np.isin(columns["entry"][order], without)]
    return order, {name: column[order] for name, column in columns.items()}


def _blocks(parts: Sequence[VectorRows], order: Column, dimensions: int) -> Iterator[Column]:
    """The vectors in that order, some thousand at a time."""
    ends = np.cumsum([len(part) for part in parts])
    for start in range(0, len(order), _ROWS_AT_ONCE):
        some = order[start : start + _ROWS_AT_ONCE]
        block = np.empty((len(some), dimensions), np.int8)
        of = np.searchsorted(ends, some, side="right")
        for number in np.unique(of).tolist():
            here, part = of == number, parts[int(number)]
            block[here] = part.vectors[some[here] - (ends[number] - len(part))]
        yield block


def _head(header: VectorSegmentHeader, columns: dict[str, Column]) -> bytes:
    words = msgspec.json.encode(header)
    words += b" " * (-(_START.size + len(words)) % _ALIGNED)
    body = b"".join((struct.pack("<I", len(words)), words, *(columns[name].tobytes() for name in _COLUMNS)))
    body += bytes(-(12 + len(body)) % _ALIGNED)
    return _MAGIC + struct.pack("<I", zlib.crc32(body)) + body


def _decoded(path: Path, mapped: mmap.mmap) -> VectorSegment | None:
    magic, crc, length = _START.unpack_from(mapped, 0)
    if magic != _MAGIC:
        return None
    at = _START.size + length
    header = msgspec.json.decode(mapped[_START.size : at], type=VectorSegmentHeader)
    columns: dict[str, Column] = {}
    for name, kind in _COLUMNS.items():
        columns[name] = np.frombuffer(mapped, f"<{kind}", header.rows, at)
        at += header.rows * columns[name].itemsize
    at += -at % _ALIGNED
    with memoryview(mapped)[12:at] as head:
        if zlib.crc32(head) != crc or len(mapped) != at + header.rows * header.dimensions:
            return None
    flat: Column = np.frombuffer(mapped, "i1", header.rows * header.dimensions, at)
    vectors: Column = flat.reshape(header.rows, header.dimensions)
    return VectorSegment(path, header, VectorRows(**columns, vectors=vectors))


def _crc(blocks: Iterable[Column]) -> int:
    crc = 0
    for block in blocks:
        crc = zlib.crc32(block.data, crc)
    return crc
