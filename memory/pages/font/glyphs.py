"""The glyph tables: every drawable character's own bitmap, in cells of 8×16 pixels or of 6×12.

A narrow glyph takes one cell, a wide one two. Every bitmap is unlike every other, and no wide glyph's left half is like
a narrow glyph, so that a grid of cells can be read in one way only.
"""

import hashlib
import struct
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory.errors import Damaged
from memory.pages.render.modes import CELLS, REGULAR, Cell
from memory.zstd import unpack

TABLES = {cell: Path(__file__).parents[1] / "data" / f"cells-{cell.name}.zst" for cell in CELLS}
MAGIC = b"palimpsest-cells\x00\x01"

NEWLINE = 0x0A  # drawn as ↵
ESCAPE = 0x110000  # our own cell: `␛hex;` stands for a character that has no glyph
FILLER = 0x110001  # the last cell of a row, where a wide glyph did not fit
HEAD = 0x110002  # the first sign of a head line, read as ─
RESERVED = (NEWLINE, 0x21B5, 0x241B)  # ↵ and ␛ themselves go as escapes, so that ours are told apart
CODES = 0x110003  # one past the last code

_WORD_ROWS = 8  # a byte each
_BUCKETS, _BUCKET_SHIFT = 2**18, np.uint64(64 - 18)
_LONGEST_TABLE = 16 * 2**20
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)  # odd: any would do, a test finds no collision


class Glyphs:
    """The glyph table, for drawing and for reading.

    `cells` (n, height) uint8 are the bitmaps, a row a byte from its highest bit on, a set bit is ink: narrow glyphs,
    then left and right halves. `first_cell` (CODES,) int32 is a code's first cell, -1 where it has none; from `narrow`
    on a code is wide. The indexes are built when a page is first read: a layout needs none.
    """

    def __init__(self, packed: bytes, cell: Cell = REGULAR) -> None:
        if not packed.startswith(MAGIC):
            raise Damaged("Glyph table", f"{TABLES[cell]} is not a glyph table.", "Install Palimpsest again.")
        rows = cell.height
        narrow, wide = struct.unpack_from("<II", packed, len(MAGIC))
        at = len(MAGIC) + 8
        codes_narrow = np.frombuffer(packed, "<u4", narrow, at)
        bits_narrow = np.frombuffer(packed, np.uint8, narrow * rows, at + 4 * narrow).reshape(narrow, rows)
        at += (4 + rows) * narrow
        codes_wide = np.frombuffer(packed, "<u4", wide, at)
        bits_wide = np.frombuffer(packed, np.uint8, wide * 2 * rows, at + 4 * wide).reshape(wide, rows, 2)

        self.id = hashlib.sha256(packed).hexdigest()[:8]
        self.cell = cell
        self.narrow = narrow
        self.cells: NDArray[np.uint8] = np.empty((narrow + wide * 2, rows), np.uint8)
        self.cells[:narrow] = bits_narrow
        self.cells[narrow:].reshape(wide, 2, rows)[:] = bits_wide.transpose(0, 2, 1)
        self.first_cell: NDArray[np.int32] = np.full(CODES, -1, np.int32)
        self.first_cell[codes_narrow] = np.arange(narrow, dtype=np.int32)
        self.first_cell[codes_wide] = narrow + 2 * np.arange(wide, dtype=np.int32)
        self._codes_narrow, self._codes_wide = codes_narrow.copy(), codes_wide.copy()  # else they hold all of `packed`

    @cached_property
    def narrow_index(self) -> "GlyphIndex":
        return GlyphIndex(hash_cells(self.cells[: self.narrow]), self._codes_narrow)

    @cached_property
    def wide_index(self) -> "GlyphIndex":
        hashes = hash_cells(self.cells[self.narrow :])
        return GlyphIndex(hash_pairs(hashes[::2], hashes[1::2]), self._codes_wide)


class GlyphIndex:
    """Maps a bitmap's hash to its code point.

    No two of the table's bitmaps share a hash. A foreign bitmap may share one with a glyph and be taken for it; a text
    is proven by the page's SHA-256, not by this index.
    """

    def __init__(self, hashes: NDArray[np.uint64], codes: NDArray[np.uint32]) -> None:
        order = np.argsort(hashes)
        self.hashes = hashes[order]
        self.codes = codes[order].astype(np.int32)
        sizes = np.bincount(self.hashes >> _BUCKET_SHIFT, minlength=_BUCKETS)
        self._first = (sizes.cumsum() - sizes).astype(np.int32)  # of each bucket: hashes that begin with the same bits
        self._largest = int(sizes.max())

    def find(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """(n,) codes for (n,) hashes; -1 where no glyph has that bitmap."""
        at = self._first.take(hashes >> _BUCKET_SHIFT)
        last = len(self.hashes) - 1
        for _ in range(self._largest - 1):
            at += self.hashes.take(at, mode="clip") < hashes
        np.minimum(at, last, out=at)
        return np.where(self.hashes.take(at) == hashes, self.codes.take(at), np.int32(-1))


def hash_cells(cells: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """A hash of each cell, from its rows (n, height): 16 of them as two words, or 12 as one and a half."""
    cells = np.ascontiguousarray(cells)
    if cells.shape[1] == _WORD_ROWS * 2:
        words = cells.view(np.uint64)
        return _hash(words[:, 0], words[:, 1])
    halves = cells.view(np.uint32).astype(np.uint64)
    return _hash(halves[:, 0] | halves[:, 1] << np.uint64(32), halves[:, 2])


def _hash(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return _stir(_stir(first * np.uint64(_MIX[0])) + second * np.uint64(_MIX[1]))


def hash_pairs(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash of each wide glyph, from those of its halves."""
    return _stir(left * np.uint64(_MIX[2]) + right)


def _stir(product: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A product's high bits brought down: a bitmap whose ink is all in its last rows differs in those alone."""
    return product ^ (product >> np.uint64(29))


@cache
def load_glyphs(cell: Cell = REGULAR) -> Glyphs:
    """The vendored table, loaded once per process."""
    return Glyphs(unpack(TABLES[cell].read_bytes(), limit=_LONGEST_TABLE), cell)
