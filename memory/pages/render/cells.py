"""Characters in cells: one a cell, a wide one two, one without a glyph as an escape, `␛hex;`."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memory.pages.font.glyphs import ESCAPE, FILLER, HEAD, load_glyphs
from memory.pages.render.modes import Mode

_SPACE = 0x20
_HEX = np.frombuffer(b"0123456789ABCDEF", np.uint8).astype(np.int32)


class GlyphPlacement(Struct, frozen=True):
    """Positions of the glyphs of a text on a page. All arrays are (glyphs,), in order.

    `first` is its first cell in the table, `at` its place on the page, `owner` whose character of the text it is part
    of. `chars` is how many of the text's characters fit.
    """

    first: NDArray[np.int32]
    wide: NDArray[np.bool_]
    at: NDArray[np.int64]
    owner: NDArray[np.int64]
    chars: int


def place_glyphs(text: str, heads: Sequence[int], mode: Mode) -> GlyphPlacement:
    """Places the text from the page's first cell on; at each of `heads` the head mark replaces the character."""
    table = load_glyphs(mode.cell)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int32)
    if heads:
        codes[list(heads)] = HEAD
    first = table.first_cell[codes]
    owner = np.arange(len(codes))
    if (first < 0).any():
        codes, owner = _with_escapes(codes, first, mode.capacity)
        first = table.first_cell[codes]
    wide = first >= table.narrow
    at = _cell_offsets(wide, mode) if wide.any() else np.arange(len(codes))
    fits = int(np.searchsorted(at + wide, mode.capacity))
    chars = int(owner[fits]) if fits < len(owner) else len(text)  # a character is never split between pages
    return GlyphPlacement(first, wide, at, owner, chars)


def grid_of(placed: GlyphPlacement, chars: int, mode: Mode) -> tuple[NDArray[np.int32], int]:
    """(capacity,) the table's cell at each position, and how many cells the first `chars` characters take."""
    table = load_glyphs(mode.cell)
    fits = int(np.searchsorted(placed.owner, chars))
    first, wide, at = placed.first[:fits], placed.wide[:fits], placed.at[:fits]
    used = int(at[-1] + wide[-1]) + 1 if len(at) else 0
    grid = np.full(mode.capacity, table.first_cell[_SPACE], np.int32)
    grid[:used] = table.first_cell[FILLER]  # where no glyph is put below
    grid[at] = first
    grid[at[wide] + 1] = first[wide] + 1
    return grid, used


def _with_escapes(
    codes: NDArray[np.int32], first: NDArray[np.int32], capacity: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The codes with `␛hex;` for each that has no glyph, and whose character each is; hardly more than a page holds."""
    escaped = np.flatnonzero(first < 0)
    digits = 1 + (codes[escaped] >= 16 ** np.arange(1, 6)[:, None]).sum(axis=0)
    lengths = np.ones(len(codes), np.int64)
    lengths[escaped] = digits + 2
    ends = lengths.cumsum()
    within = int(np.searchsorted(ends, capacity, "right")) + 1  # one more than fits, at least
    few = int(np.searchsorted(escaped, within))
    escaped, digits = escaped[:few], digits[:few]
    owner = np.repeat(np.arange(min(within, len(codes))), lengths[:within])
    characters = codes[owner]
    at = ends[escaped] - 1
    characters[at] = ord(";")
    for digit in range(6):  # digits from the right
        has_digit = digits > digit
        characters[at[has_digit] - 1 - digit] = _HEX[codes[escaped[has_digit]] >> 4 * digit & 15]
    characters[at - 1 - digits] = ESCAPE
    return characters, owner


def _cell_offsets(wide: NDArray[np.bool_], mode: Mode) -> NDArray[np.int64]:
    """The cell in which each glyph begins; a wide one that would straddle two rows begins the next."""
    ends = (1 + wide).cumsum()
    offset = ends - 1 - wide
    begin, columns = 0, mode.columns
    for row in range(mode.rows):
        before = int(ends[begin - 1]) if begin else 0
        next_row = int(ends.searchsorted(before + columns, "right"))
        offset[begin:next_row] += row * columns - before
        begin = next_row
        if begin == len(ends):
            return offset
    offset[begin:] += mode.capacity  # beyond the page
    return offset
