"""Symbol coding of pages: each distinct cell bitmap once, and the grid of cells as indexes, as JBIG2 codes symbols.

The PNGs are rebuilt to the byte, without a glyph table. A picture that is no page of ours is stored as it is.

    magic │ counts │ a head a page │ stored blocks │ which symbols are pairs │ symbols │ second cells │ tokens

A cell that is always followed by the same other cell (the halves of a wide glyph) is one symbol with it: a pair.
Symbols are sorted by frequency: the first take a token of one byte, the others of two. The tokens of each page's first
cells come before all others: they are its header, which is random. PNGs of other zlibs differ in the lengths of their
stored blocks alone, so these are kept too.
"""

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memory.errors import Damaged
from memory.pages.font.glyphs import hash_cells, load_glyphs
from memory.pages.render.modes import CELLS, REGULAR, Cell, Mode
from memory.pages.render.png import MOST_BLOCKS, decode_own, encode_png, stored_blocks
from memory.pages.render.raster import cells_of, ink_of, margin_is_blank

MAGIC = b"palcells"
MOST_PAGES = 64
LARGEST = MOST_PAGES * 2**18
"""Bytes of coded pages, before zstd: 64 of the largest pages as they are would fill three quarters."""

_COUNTS = struct.Struct("<III")  # pages, symbols, pairs
_HEAD = struct.Struct("<HBBIII")  # as `_PageHead`
_HEADS_AT = len(MAGIC) + _COUNTS.size
_LENGTH_BYTES = 2  # of a stored block's length
_CELL_BYTES = 16  # a row a byte; a cell of 12 rows ends with four blank ones
_HEADER_CELLS = 128
_SMALLEST_SIDE, _LARGEST_SIDE = 128, 2048  # pixels
_MOST_SHORT = 256 + 255 * 255  # symbols that tokens of one and two bytes can tell apart
_SAMPLE_ROWS = 48  # of pixels: whole rows of both cells
_SLOTS, _SLOT_SHIFT = 2**20, np.uint64(64 - 20)

Bits = NDArray[np.uint8]
Indexes = NDArray[np.int64]


class DrawnPage(Struct, frozen=True):
    """A PNG as `render_page` makes it. `grid` (rows·columns,) is the cell of the mode's glyph table in each place."""

    mode: Mode
    grid: NDArray[np.integer[Any]]
    png: bytes


class _Drawing(Struct, frozen=True):
    """A page of ours: its cells (rows·columns, 16) in reading order, and the stored blocks of its PNG.

    `grid` says which cell of the mode's glyph table each is, where that is known.
    """

    mode: Mode
    cells: Bits
    blocks: tuple[int, ...]
    grid: NDArray[np.integer[Any]] | None = None


class _PageHead(NamedTuple):
    """Of a picture that is stored as it is, `side` is 0 and `rest` its size. `first` and `rest` are bytes of tokens."""

    side: int
    width: int
    height: int
    blocks: int
    first: int
    rest: int


class _Symbols(Struct, frozen=True):
    """Symbols by rank. `first` (n, 16) are their cells, `second` (pairs, 16) those that follow them in pairs."""

    is_pair: NDArray[np.bool_]
    first: Bits
    second: Bits


def encode_drawn(page: DrawnPage) -> bytes:
    """Codes a page as `encode_pages` does, in a third of the time: its PNG is taken to show its grid."""
    cells = _sixteen_rows(load_glyphs(page.mode.cell).cells.take(page.grid, axis=0))
    return _coded([page.png], [_Drawing(page.mode, cells, stored_blocks(page.png), page.grid)])


def encode_pages(pngs: Sequence[bytes]) -> bytes:
    """Codes at most 64 PNGs together; `PageSymbols` gives them back to the byte."""
    return _coded(pngs, [_drawing(png) for png in pngs])


def _coded(pngs: Sequence[bytes], drawings: Sequence[_Drawing | None]) -> bytes:
    symbols, streams = _symbols_and_tokens([drawing for drawing in drawings if drawing is not None])
    heads, firsts, rests, blocks = list[bytes](), list[bytes](), list[bytes](), list[int]()
    for png, drawing in zip(pngs, drawings, strict=True):
        if drawing is None:
            head, first, rest = _PageHead(0, 0, 0, 0, 0, len(png)), b"", png
        else:
            first, rest = (_packed_tokens(part, len(symbols.is_pair)) for part in next(streams))
            cell = drawing.mode.cell
            head = _PageHead(drawing.mode.side, cell.width, cell.height, len(drawing.blocks), len(first), len(rest))
            blocks += drawing.blocks
        heads.append(_HEAD.pack(*head))
        firsts.append(first)
        rests.append(rest)
    counts = _COUNTS.pack(len(pngs), len(symbols.is_pair), len(symbols.second))
    lengths = np.array(blocks, "<u2").tobytes()
    table = [np.packbits(symbols.is_pair).tobytes(), symbols.first.tobytes(), symbols.second.tobytes()]
    return b"".join([MAGIC, counts, *heads, lengths, *table, *firsts, *rests])


class PageSymbols:
    """Coded pages, open for reading. Raises Damaged where a length or a count contradicts the bytes.

    With `whole` False the end may be missing: then the pages before it can be read.
    """

    def __init__(self, coded: bytes, *, whole: bool = True) -> None:
        if not coded.startswith(MAGIC) or len(coded) < _HEADS_AT:
            raise _damaged("they do not begin as such")
        pages, count, pairs = _COUNTS.unpack_from(coded, len(MAGIC))
        table = _HEADS_AT + pages * _HEAD.size
        if pages > MOST_PAGES or table > len(coded):
            raise _damaged(f"they claim {pages:,} pages, {count:,} symbols and {pairs:,} pairs")
        self._heads = [_PageHead(*_HEAD.unpack_from(coded, at)) for at in range(_HEADS_AT, table, _HEAD.size)]
        self._blocks = list(accumulate((head.blocks * _LENGTH_BYTES for head in self._heads), initial=table))
        firsts = self._blocks[-1] + -(-count // 8) + (count + pairs) * _CELL_BYTES
        self._firsts = list(accumulate((head.first for head in self._heads), initial=firsts))
        self._rests = list(accumulate((head.rest for head in self._heads), initial=self._firsts[-1]))
        if firsts > len(coded) or (len(coded) != self._rests[-1] if whole else len(coded) > self._rests[-1]):
            raise _damaged(f"they have {len(coded):,} bytes where {self._rests[-1]:,} belong")
        self._view = memoryview(coded)
        self._symbols = _read_symbols(self._view[self._blocks[-1] : firsts], count, pairs)
        self._second_of = np.cumsum(self._symbols.is_pair) - 1

    def __len__(self) -> int:
        return len(self._heads)

    def png(self, number: int) -> bytes:
        """The PNG of that page, from 0, as it was given. Raises Damaged."""
        if not 0 <= number < len(self._heads):
            raise _damaged(f"there is no page {number}")
        head = self._heads[number]
        rest = self._view[self._rests[number] : self._rests[number] + head.rest]
        if len(rest) < head.rest:
            raise _damaged(f"page {number} is cut off")
        if not head.side:
            return bytes(rest)
        mode = _mode(head.side, head.width, head.height)
        if mode is None:
            raise _damaged(f"page {number} claims {head.side} pixels in cells of {head.width}×{head.height}")
        count = len(self._symbols.is_pair)
        if head.first + head.rest > mode.rows * mode.columns * _token_bytes(count):
            raise _damaged(f"page {number} has more tokens than cells")
        first = self._view[self._firsts[number] : self._firsts[number] + head.first]
        ids = np.concatenate([_unpacked_tokens(part, count) for part in (first, rest)])
        return encode_png(ink_of(self._cells(ids, mode, number), mode), self._blocks_of(number, mode))

    def _blocks_of(self, number: int, mode: Mode) -> list[int]:
        lengths = self._view[self._blocks[number] : self._blocks[number + 1]]
        blocks = np.frombuffer(lengths, "<u2").tolist()
        if len(blocks) > MOST_BLOCKS or sum(blocks) != mode.side * (mode.side // 8 + 1):
            raise _damaged(f"page {number} has other pixels than its side says")
        return blocks

    def _cells(self, ids: Indexes, mode: Mode, number: int) -> Bits:
        is_pair, cells = self._symbols.is_pair, mode.rows * mode.columns
        if len(ids) and int(ids.max()) >= len(is_pair):
            raise _damaged(f"page {number} refers to a symbol that is not there")
        paired = is_pair[ids]
        covered = len(ids) + int(paired.sum())
        if covered != cells:
            raise _damaged(f"page {number} has {covered:,} cells where {cells:,} belong")
        begins = np.cumsum(paired + 1) - paired - 1
        grid = np.empty(cells, "V16")
        grid[begins] = _rows(self._symbols.first).take(ids)
        grid[begins[paired] + 1] = _rows(self._symbols.second).take(self._second_of[ids[paired]])
        return np.ascontiguousarray(grid.view(np.uint8).reshape(cells, _CELL_BYTES)[:, : mode.cell.height])


# ── pictures to cells ──


def _drawing(png: bytes) -> _Drawing | None:
    """The picture's cells; None where its bytes cannot be rebuilt from them."""
    ink = decode_own(png)
    if ink is None or ink.shape[0] != ink.shape[1] * 8 or not _SMALLEST_SIDE <= len(ink) <= _LARGEST_SIDE:
        return None
    blocks = stored_blocks(png)
    if sum(blocks) != ink.shape[0] * (ink.shape[1] + 1) or encode_png(ink, blocks) != png:
        return None
    cell = min(CELLS, key=lambda cell: _share_of_distinct(ink[:_SAMPLE_ROWS], cell))
    fitting = (mode for cell in (cell, REGULAR) if (mode := _mode(len(ink), cell.width, cell.height)))
    mode = next((mode for mode in fitting if margin_is_blank(ink, mode.cell)), None)
    if mode is None:
        return None
    return _Drawing(mode, _sixteen_rows(cells_of(ink, mode.cell)), blocks)


def _sixteen_rows(cells: Bits) -> Bits:
    """The cells (n, height) with blank rows below."""
    height = cells.shape[1]
    if height == _CELL_BYTES:
        return cells
    padded = np.zeros((len(cells), _CELL_BYTES), np.uint8)
    padded[:, :height] = cells
    return padded


def _mode(side: int, width: int, height: int) -> Mode | None:
    """A page of that side in these cells; None where there is none."""
    cell = next((cell for cell in CELLS if (cell.width, cell.height) == (width, height)), None)
    if cell is None or side % 8 or not _SMALLEST_SIDE <= side <= _LARGEST_SIDE:
        return None
    return Mode("", side, 0, cell)


def _share_of_distinct(ink: Bits, cell: Cell) -> float:
    """Distinct cells of all cells: few where the picture was drawn in such cells."""
    cells = cells_of(ink, cell)
    return len(np.unique(hash_cells(cells))) / max(len(cells), 1)


# ── cells to tokens ──


def _symbols_and_tokens(drawings: Sequence[_Drawing]) -> tuple[_Symbols, Iterator[tuple[Indexes, Indexes]]]:
    """The symbols, and each drawing's tokens: those of its first cells, and the others."""
    none = np.zeros((0, _CELL_BYTES), np.uint8)
    if not drawings:
        return _Symbols(np.zeros(0, np.bool_), none, none), iter(())
    cells = np.concatenate([drawing.cells for drawing in drawings]) if len(drawings) > 1 else drawings[0].cells
    ends = np.cumsum([len(drawing.cells) for drawing in drawings])
    bitmaps, grid = _distinct_in_table(drawings[0].grid, cells) or _distinct(cells)
    follower, is_pair = _followers(grid, ends, len(bitmaps))
    kept = _without_followers(is_pair[grid])
    stream, of_page = grid[kept], np.searchsorted(ends, np.flatnonzero(kept), side="right")
    uses = np.bincount(stream, minlength=len(bitmaps))
    order = np.argsort(-uses, kind="stable")[: int(np.count_nonzero(uses))]
    rank = np.zeros(len(bitmaps), np.int64)
    rank[order] = np.arange(len(order))
    pairs = is_pair[order]
    symbols = _Symbols(pairs, bitmaps[order], bitmaps[follower[order[pairs]]])
    cuts = np.searchsorted(of_page, np.arange(1, len(drawings)))
    streams = zip(np.split(rank[stream], cuts), np.split(is_pair[stream], cuts), strict=True)
    return symbols, (_split(tokens, paired) for tokens, paired in streams)


def _split(tokens: Indexes, paired: NDArray[np.bool_]) -> tuple[Indexes, Indexes]:
    first = int(np.searchsorted(np.cumsum(paired + 1), _HEADER_CELLS)) + 1
    return tokens[:first], tokens[first:]


def _distinct_in_table(grid: NDArray[np.integer[Any]] | None, cells: Bits) -> tuple[Bits, Indexes] | None:
    """As `_distinct`; None where there is no grid, or where two of its cells look alike."""
    if grid is None:
        return None
    first, index = _by_key(grid, int(grid.max()) + 1)
    bitmaps = cells[first]
    return None if len(np.unique(hash_cells(bitmaps))) < len(bitmaps) else (bitmaps, index)


def _distinct(cells: Bits) -> tuple[Bits, Indexes]:
    """The distinct cells, and the index of each cell among them."""
    hashes, rows = hash_cells(cells), _rows(cells)
    for grouped in (_by_slot, _by_hash):
        first, index = grouped(hashes)
        if np.array_equal(rows[first].take(index), rows):
            return cells[first], index
    bitmaps, index = np.unique(cells, axis=0, return_inverse=True)  # two bitmaps share a hash
    return bitmaps, index.reshape(-1).astype(np.int64)


def _by_slot(hashes: NDArray[np.uint64]) -> tuple[Indexes, Indexes]:
    """A cell of each slot, and the number of each cell's slot among them; bitmaps of one slot are not told apart."""
    return _by_key((hashes >> _SLOT_SHIFT).astype(np.int64), _SLOTS)


def _by_key(keys: NDArray[np.integer[Any]], size: int) -> tuple[Indexes, Indexes]:
    """The last place of each key, all below `size`, and the number of each place's key among them."""
    table, numbers = np.empty(size, np.int64), np.arange(len(keys))
    table[keys] = numbers
    first = np.flatnonzero(table[keys] == numbers)
    table[keys[first]] = np.arange(len(first))
    return first, table[keys]


def _by_hash(hashes: NDArray[np.uint64]) -> tuple[Indexes, Indexes]:
    """As `_by_slot`, by the whole hash: slower, and tells nearly all bitmaps apart."""
    _, first, index = np.unique(hashes, return_index=True, return_inverse=True)
    return first, index.astype(np.int64)


def _rows(cells: Bits) -> NDArray[np.void]:
    """Each cell as one value of 16 bytes, which numpy moves faster than 16 values."""
    return np.ascontiguousarray(cells).view("V16").reshape(-1)


def _followers(grid: Indexes, ends: Indexes, count: int) -> tuple[Indexes, NDArray[np.bool_]]:
    """The one cell that always follows a cell on its page, and whether there is such a one."""
    has_next = np.ones(len(grid), np.bool_)
    has_next[ends - 1] = False
    before = np.flatnonzero(has_next)
    follower = np.full(count, -1, np.int64)
    follower[grid[before]] = grid[before + 1]
    is_pair = follower >= 0
    is_pair[grid[before][follower[grid[before]] != grid[before + 1]]] = False
    is_pair[grid[ends - 1]] = False
    return follower, is_pair


def _without_followers(leads: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which cells get a token: in a run of cells that each lead a pair, every other one does."""
    kept = np.ones(len(leads), np.bool_)
    kept[_every_other(leads) + 1] = False
    return kept


def _every_other(marked: NDArray[np.bool_]) -> Indexes:
    """Positions of the first, third, fifth … of each run of marked ones."""
    at = np.flatnonzero(marked)
    if not len(at):
        return at
    begins = np.concatenate([[0], np.flatnonzero(np.diff(at) != 1) + 1])
    within = np.arange(len(at)) - np.repeat(begins, np.diff([*begins, len(at)]))
    return at[within % 2 == 0]


# ── tokens to bytes ──


def _short(count: int) -> int:
    """How many of the symbols take one byte; each value from there on begins two."""
    return 256 - -(-max(count - 256, 0) // 255)


def _token_bytes(count: int) -> int:
    """The most that a token may take."""
    return 2 if count <= _MOST_SHORT else 4


def _packed_tokens(ids: Indexes, count: int) -> bytes:
    if count > _MOST_SHORT:
        return ids.astype("<u4").tobytes()
    short = _short(count)
    if short == 256:
        return ids.astype(np.uint8).tobytes()
    pairs = np.empty((len(ids), 2), np.uint8)
    is_long = ids >= short
    pairs[:, 0] = np.where(is_long, short + (ids - short >> 8), ids)
    pairs[:, 1] = ids - short & 255
    kept = np.ones((len(ids), 2), np.bool_)
    kept[:, 1] = is_long
    return pairs[kept].tobytes()


def _unpacked_tokens(packed: memoryview, count: int) -> Indexes:
    """Raises Damaged where the bytes end within a token."""
    if count > _MOST_SHORT:
        if len(packed) % 4:
            raise _damaged("their tokens end within one")
        return np.frombuffer(packed, "<u4").astype(np.int64)
    values, short = np.frombuffer(packed, np.uint8).astype(np.int64), _short(count)
    if short == 256:
        return values
    longs = _every_other(values >= short)  # a value that follows one of these belongs to it, whatever it is
    if len(longs) and longs[-1] + 1 == len(values):
        raise _damaged("their tokens end within one")
    values[longs] = short + (values[longs] - short << 8) + values[longs + 1]
    return np.delete(values, longs + 1)


def _read_symbols(table: memoryview, count: int, pairs: int) -> _Symbols:
    flags = -(-count // 8)
    is_pair = np.unpackbits(np.frombuffer(table[:flags], np.uint8), count=count).astype(np.bool_)
    if int(is_pair.sum()) != pairs:
        raise _damaged(f"they mark {int(is_pair.sum()):,} pairs where {pairs:,} belong")
    cells = np.frombuffer(table[flags:], np.uint8).reshape(count + pairs, _CELL_BYTES)
    return _Symbols(is_pair, cells[:count], cells[count:])


def _damaged(why: str) -> Damaged:
    return Damaged("Coded pages", f"The coded pages cannot be read: {why}.")
