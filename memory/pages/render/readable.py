"""The natural layout: pages for people to look at, in four columns, where each line of the text begins a row.

Nothing is lost. A line too long for its column goes on in the next row; beside the column a dot stands for the space at
which it was broken, or a ↩ where it was broken within a word. A ↵ stands
only where a line end could not be seen: after a trailing space, and after the last line where the text ends with one;
a corner, where it ends with a space. A tab is drawn, and reaches to the next tab stop. The pages carry no header: they
are to be looked at, not read back.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from memory.pages.font.glyphs import ESCAPE, FILLER, HEAD, NEWLINE, Glyphs, load_glyphs
from memory.pages.render.entry_heads import head_line
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import Mode
from memory.pages.render.png import encode_png
from memory.pages.render.raster import ink_of

COLUMNS = 4
TAB_STOP = 8
TITLE_ROWS = 2
BESIDE = 2  # cells beside a column's text: how a row goes on, and the rule
AT_SPACE, WITHIN_WORD = 0xB7, 0x21A9  # the marks of a row that goes on

_TAB, _SPACE, _RULE, _LINE, _CROSS = 0x09, 0x20, 0x2502, 0x2500, 0x252C
ReadableRow = tuple[list[int], int]
"""The codes of a row's cells, a wide glyph's once, and the mark beside it: a space where its line ends with it."""


def natural_pages(texts: Sequence[LayoutText], mode: Mode, title: str = "") -> Iterator[bytes]:
    """The blocks as PNGs, each under its head line where it has one; `title` is above, with the page's number.

    There is one page at least.
    """
    table = load_glyphs(mode.cell)
    rows = list(_rows(texts, width_of(mode), table))
    most = (mode.rows - TITLE_ROWS) * COLUMNS
    count = max(1, -(-len(rows) // most))
    for number in range(1, count + 1):
        yield _page(rows[(number - 1) * most : number * most], mode, table, f"{title} {number}/{count}".strip())


def natural_page(text: str, mode: Mode, title: str = "") -> bytes:
    """The first page of one text: all of it where it fits."""
    return next(natural_pages([LayoutText(text)], mode, title))


def width_of(mode: Mode) -> int:
    """Cells of text in a column's row."""
    return mode.columns // COLUMNS - BESIDE


def _rows(texts: Sequence[LayoutText], width: int, table: Glyphs) -> Iterator[ReadableRow]:
    for block in texts:
        if block.head is not None:
            yield from _wrapped([HEAD, *map(ord, head_line(block.head)[1:-1])], width, table)
        *lines, last = block.text.split("\n")
        for number, line in enumerate(lines, 1):
            unseen = line.endswith(" ") or (number == len(lines) and not last)
            yield from _wrapped([*map(ord, line), *([NEWLINE] if unseen else [])], width, table)
        if last or not lines:
            yield from _wrapped([*map(ord, last), *([FILLER] if last.endswith(" ") else [])], width, table)


def _wrapped(codes: Sequence[int], width: int, table: Glyphs) -> Iterator[ReadableRow]:
    """One line as rows; what stays free in a row that is broken within a word is filled with the filler."""
    row, used = list[int](), 0
    for code, following in zip(codes, [*codes[1:], NEWLINE], strict=False):
        characters = _signs(code, table)
        if used + _size(characters, table) > width:
            if code == _SPACE and following != _SPACE and row[-1] != _SPACE:
                yield row, AT_SPACE
                row, used = [], 0
                continue
            if at := _last_space(row, width, table):
                yield row[:at], AT_SPACE
                row = row[at + 1 :]
            else:
                yield row + [FILLER] * (width - used), WITHIN_WORD
                row = []
            used = _size(row, table)
        row += characters
        used += _size(characters, table)
        if code == _TAB:
            reach = min(-used % TAB_STOP, width - used)
            row += [_SPACE] * reach
            used += reach
    yield row, _SPACE


def _last_space(row: Sequence[int], width: int, table: Glyphs) -> int:
    """Where the row may be broken: at its last space between two words, if not in its first half; else 0.

    A tab stays where it is: how far it reaches depends on its place.
    """
    for at in range(len(row) - 2, 0, -1):
        if row[at + 1] == _TAB or _size(row[:at], table) * 2 < width:
            return 0
        if row[at] == _SPACE and row[at - 1] not in (_SPACE, _TAB) and row[at + 1] != _SPACE:
            return at
    return 0


def _size(codes: Sequence[int], table: Glyphs) -> int:
    """In cells."""
    return sum(2 if table.first_cell[code] >= table.narrow else 1 for code in codes)


def _signs(code: int, table: Glyphs) -> list[int]:
    """The character, or the signs of its escape."""
    return [code] if table.first_cell[code] >= 0 else [ESCAPE, *f"{code:X};".encode()]


def _page(rows: Sequence[ReadableRow], mode: Mode, table: Glyphs, title: str) -> bytes:
    grid = np.full((mode.rows, mode.columns), table.first_cell[_SPACE], np.int32)
    _write(grid[0], next(_wrapped(list(map(ord, title.replace("\n", " "))), mode.columns, table))[0], table)
    grid[1] = table.first_cell[_LINE]
    width, height = width_of(mode), mode.rows - TITLE_ROWS
    for column in range(COLUMNS):
        left = column * (width + BESIDE)
        for down, (row, mark) in enumerate(rows[column * height : (column + 1) * height], TITLE_ROWS):
            _write(grid[down, left : left + width], row, table)
            grid[down, left + width] = table.first_cell[mark]
        if column < COLUMNS - 1:
            grid[1, left + width + 1] = table.first_cell[_CROSS]
            grid[TITLE_ROWS:, left + width + 1] = table.first_cell[_RULE]
    return encode_png(ink_of(table.cells.take(grid.ravel(), axis=0), mode))


def _write(cells: NDArray[np.int32], row: Sequence[int], table: Glyphs) -> None:
    at = 0
    for first in table.first_cell[list(row)].tolist():
        cells[at] = first
        at += 1
        if first >= table.narrow:
            cells[at] = first + 1
            at += 1
