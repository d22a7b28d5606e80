"""From text to pages: flow layout on a grid of cells, a newline is a ↵ cell and nothing is lost between pages."""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memory.archive.glyphs import ESCAPE, FILLER, glyphs
from memory.archive.header import HEADER_CELLS, Header, digest, write_header
from memory.archive.modes import CELL_HEIGHT, TINY, Mode
from memory.archive.pixels import encode_png


class Sheet(Struct, frozen=True):
    """A stretch of text laid out on one page, not yet drawn.

    `grid` (capacity,) int32 says which of the table's cells stands in each place.
    """

    mode: Mode
    text: str
    used: int  # cells that the text takes
    grid: NDArray[np.int32]


class Drawn(Struct, frozen=True):
    """A page as it goes to disk. `sha256` is that of its text."""

    id: str
    number: int
    mode: Mode
    text: str
    sha256: bytes
    png: bytes


def sheets(text: str, mode: Mode) -> Iterator[Sheet]:
    """The whole text, page by page, in order; a last one that fits a tiny page is one. Empty text is one empty page."""
    start = 0
    while True:
        sheet = _lay_out(text, start, mode)
        end = start + len(sheet.text)
        if end == len(text) and sheet.used <= TINY.capacity < mode.capacity:
            tail = _lay_out(text, start, TINY)
            sheet = tail if len(tail.text) == len(sheet.text) else sheet
        yield sheet
        start = end
        if start == len(text):
            return


def draw(sheet: Sheet, page_id: str, number: int) -> Drawn:
    """The page as a stored 1-bit PNG. `number` counts from 1 within the archive."""
    table, mode = glyphs(), sheet.mode
    sha256 = digest(sheet.text)
    header = write_header(Header(table=table.id, page=page_id, number=number, used=sheet.used, sha256=sha256.hex()))
    head = np.full(mode.header_rows * mode.columns, table.first_cell[0x20], np.int32)
    head[:HEADER_CELLS] = table.first_cell[np.frombuffer(header.encode("ascii"), np.uint8)]
    cells = table.cells[np.concatenate([head, sheet.grid])]
    rows = cells.reshape(mode.rows, mode.columns, CELL_HEIGHT).transpose(0, 2, 1)
    png = encode_png(rows.reshape(mode.side, mode.columns))
    return Drawn(id=page_id, number=number, mode=mode, text=sheet.text, sha256=sha256, png=png)


def _lay_out(text: str, start: int, mode: Mode) -> Sheet:
    """As much of the text from `start` as one page holds."""
    table = glyphs()
    piece = text[start : start + mode.capacity]  # a character takes a cell at least
    codes = np.frombuffer(piece.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int32)
    first = table.first_cell[codes]
    owner = np.arange(len(codes))
    if (first < 0).any():
        codes, owner = _with_escapes(codes, first, mode.capacity)
        first = table.first_cell[codes]
    wide = first >= table.narrow
    place = _places(wide, mode) if wide.any() else np.arange(len(codes))
    fits = int(np.searchsorted(place + wide, mode.capacity))
    chars = len(piece)
    if fits < len(owner):
        chars = int(owner[fits])  # a character is never split between pages
        fits = int(np.searchsorted(owner, chars))
    return _fill(piece[:chars], first[:fits], wide[:fits], place[:fits], mode)


def _fill(
    text: str,
    first: NDArray[np.int32],
    wide: NDArray[np.bool_],
    place: NDArray[np.int64],
    mode: Mode,
) -> Sheet:
    table = glyphs()
    used = int(place[-1] + wide[-1]) + 1 if len(place) else 0
    grid = np.full(mode.capacity, table.first_cell[0x20], np.int32)
    grid[:used] = table.first_cell[FILLER]  # where no glyph is put below
    grid[place] = first
    grid[place[wide] + 1] = first[wide] + 1
    return Sheet(mode=mode, text=text, used=used, grid=grid)


def _with_escapes(
    codes: NDArray[np.int32], first: NDArray[np.int32], capacity: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The codes with `␛hex;` for each that has no glyph, and whose character each is; hardly more than a page holds."""
    least = np.where(first < 0, 3, 1).cumsum()  # an escape is ␛, a digit or more, `;`
    within = int(np.searchsorted(least, capacity + 4))
    pieces: list[NDArray[np.int32]] = []
    lengths = np.ones(within, np.int64)
    after = 0
    for at in np.flatnonzero(first[:within] < 0).tolist():
        escape = [ESCAPE, *f"{codes[at]:X};".encode()]
        lengths[at] = len(escape)
        pieces += [codes[after:at], np.array(escape, np.int32)]
        after = at + 1
    pieces.append(codes[after:within])
    return np.concatenate(pieces), np.repeat(np.arange(within), lengths)


def _places(wide: NDArray[np.bool_], mode: Mode) -> NDArray[np.int64]:
    """The cell in which each glyph begins; a wide one that would straddle two rows begins the next."""
    ends = (1 + wide).cumsum()
    place = ends - 1 - wide
    begin, columns = 0, mode.columns
    for row in range(mode.rows):
        before = int(ends[begin - 1]) if begin else 0
        next_row = int(ends.searchsorted(before + columns, "right"))
        place[begin:next_row] += row * columns - before
        begin = next_row
        if begin == len(ends):
            return place
    place[begin:] += mode.capacity  # beyond the page
    return place
