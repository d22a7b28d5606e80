"""Segments of vectors: int8 rows, sorted by entry and chunk. A segment names those that it replaces."""

import re
import secrets
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from mmap import mmap
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from foundation.typed_json import decode_json
from memory.search import segments
from memory.search.column import Column
from memory.search.segments import SegmentFile, SegmentKind, SegmentSection, write_segment

_COLUMNS = {"entry": "i8", "check": "u8", "inverse": "f4", "chunk": "u2"}
_VECTORS = "vectors"
_ALIGNED = 64  # bytes: a cache line
_ROWS_AT_ONCE = 8192


class VectorSegmentHeader(Struct, frozen=True):
    rows: int
    dimensions: int
    entries: int  # how many of the rows are an entry's first
    replaces: list[str] = []  # files whose rows are here now


VECTORS = SegmentKind(
    prefix="vectors",
    name=re.compile(r"vectors-(\d{10})(?:-[0-9a-f]{8})?\.bin"),
    lock_name="writing.lock",
    magic=b"PALVECT2",
    dtypes={**_COLUMNS, _VECTORS: "i1"},
    footer=VectorSegmentHeader,
    check_limit=8 << 20,  # some milliseconds; the vectors of a larger file are checked by `VectorStore.prove`
    always_checked=frozenset(_COLUMNS),
)


class VectorRows(Struct, frozen=True):
    """A row a vector. `check` is the beginning of the SHA-256 of the entry's text; `inverse` 0 marks a row without a
    vector, for an entry with nothing to embed. Entries below 0 are notes."""

    entry: Column
    check: Column
    chunk: Column
    inverse: Column
    vectors: Column  # int8 (n, d)

    def __len__(self) -> int:
        return len(self.entry)


class VectorSegment(Struct, frozen=True):
    """VectorRows in the order of (entry, chunk), mapped."""

    file: SegmentFile[VectorSegmentHeader]
    rows: VectorRows

    @property
    def path(self) -> Path:
        return self.file.path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def header(self) -> VectorSegmentHeader:
        return self.file.footer

    def places(self, entries: Column) -> tuple[Column, Column]:
        """Where each entry's rows begin and end."""
        return np.searchsorted(self.rows.entry, entries), np.searchsorted(self.rows.entry, entries, side="right")


def number_of(name: str) -> int:
    """The number in a segment's name; -1 where it is no segment."""
    found = VECTORS.name.fullmatch(name)
    return int(found[1]) if found else -1


def name_of(number: int) -> str:
    """A name that no file had before: a process that knows a deleted file of this number sees that it is another."""
    return f"vectors-{number:010d}-{secrets.token_hex(4)}.bin"


def write(
    path: Path,
    parts: Sequence[VectorRows],
    dimensions: int,
    *,
    without: Column | None = None,
    replaces: Iterable[str] = (),
) -> None:
    """Writes the rows of all parts to one file, but none of the entries `without`. Raises OSError.

    The vectors are not held in memory: the parts may be mapped.
    """
    order, columns = _ordered(parts, without)
    entries = int(np.count_nonzero((columns["chunk"] == 0) & (columns["entry"] > 0)))
    with write_segment(path, VECTORS) as writer:
        for name, column in columns.items():
            writer.section(name, [column])
        writer.section(_VECTORS, (block.reshape(-1) for block in _blocks(parts, order, dimensions)), align=_ALIGNED)
        writer.finish(VectorSegmentHeader(len(order), dimensions, entries, list(replaces)))


def load(path: Path, dimensions: int) -> VectorSegment | None:
    """None where it is damaged, or has vectors of another kind. Raises OSError where it cannot be read."""
    file = segments.open_segment(path, VECTORS) or _open_first_format(path)
    if file is None or file.footer.dimensions != dimensions:
        return None
    try:
        columns = {name: file.columns[name] for name in _COLUMNS}
        vectors = file.columns[_VECTORS].reshape(file.footer.rows, dimensions)
    except (KeyError, ValueError):
        return None
    return VectorSegment(file, VectorRows(**columns, vectors=vectors))


def _ordered(parts: Sequence[VectorRows], without: Column | None) -> tuple[Column, dict[str, Column]]:
    """The rows of all parts by entry and chunk, numbered as if the parts were concatenated; their columns."""
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
        rows = order[start : start + _ROWS_AT_ONCE]
        block = np.empty((len(rows), dimensions), np.int8)
        sources = np.searchsorted(ends, rows, side="right")
        for number in np.unique(sources).tolist():
            is_here, part = sources == number, parts[int(number)]
            block[is_here] = part.vectors[rows[is_here] - (ends[number] - len(part))]
        yield block


# ── the format of 0.1.0 to 0.3.1 ──

_START = struct.Struct("<8sII")
_FIRST_MAGIC = b"PALVECT1"


class _FirstHeader(VectorSegmentHeader, frozen=True):
    crc: int = 0  # of the vectors


def _open_first_format(path: Path) -> SegmentFile[VectorSegmentHeader] | None:
    """Opens a file of 0.1.0 to 0.3.1: None where it is none, or damaged. Raises OSError.

    PALVECT1 · CRC-32 of the head · length of the header · header (JSON) · columns · vectors
    """
    mapped = segments.map_file(path)
    if mapped is None or mapped[:8] != _FIRST_MAGIC:
        return None
    try:
        file = _decoded(path, mapped)
    except (ValueError, struct.error, msgspec.MsgspecError):
        return None
    return segments.verified(file, VECTORS, always=()) if file else None


def _decoded(path: Path, mapped: mmap) -> SegmentFile[VectorSegmentHeader] | None:
    """The head is all before the vectors, and is proven here; the vectors have a CRC of their own."""
    _, crc, length = _START.unpack_from(mapped, 0)
    at = _START.size + length
    header = decode_json(mapped[_START.size : at], _FirstHeader)
    columns: dict[str, Column] = {}
    for name, kind in _COLUMNS.items():
        columns[name] = np.frombuffer(mapped, f"<{kind}", header.rows, at)
        at += header.rows * columns[name].itemsize
    at += -at % _ALIGNED
    count = header.rows * header.dimensions
    with memoryview(mapped)[12:at] as head:
        if zlib.crc32(head) != crc or len(mapped) != at + count:
            return None
    columns[_VECTORS] = np.frombuffer(mapped, "i1", count, at)
    return SegmentFile(
        path, header, {_VECTORS: SegmentSection(_VECTORS, at, count, count, header.crc)}, columns, mapped
    )
