"""Splits a page's rows into segments for OCR, and segments that the grid determines.

On a known grid blanks, line ends and ruled lines need no OCR: a cell is blank or not, a ↵ is drawn in one way only, and
a run of equal cells has its length. OCR loses all three (its CTC decoder makes `-----` a `-`). The rest are segments
one row high, with no wide gap in them.
"""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PIL import Image

from memory.pages.font.glyphs import FILLER, NEWLINE, load_glyphs
from memory.pages.read.arrays import Floats
from memory.pages.read.grid.detect import Grid
from memory.pages.render.header import HEADER_CELLS
from memory.pages.render.modes import Cell

GAP = 3  # blank cells: a wider gap parts words into stretches of their own
RUN = 4  # equal cells: as many are a ruled line
_LIKE = 0.8  # correlation with a glyph's bitmap from which a cell is that glyph
_SAME = 0.45  # of full contrast: no pixel of two equal cells differs by more
_INK = 0.35  # of full contrast, from which a pixel is ink
_RULES = "-=_.*#~+─━═"  # what rules are made of, before anything else is looked for
_LAST_SIGN = 0x2600


class TextSegment(Struct, frozen=True):
    """A segment for OCR: for each of its cells whether it is `blank`. `box` in the picture's pixels."""

    blank: tuple[bool, ...]
    box: tuple[float, float, float, float]


class KnownSegment(Struct, frozen=True):
    """A segment that the grid determines: blanks, a line end, a ruled line."""

    text: str


OcrSegment = TextSegment | KnownSegment


def split_segments(grey: NDArray[np.uint8], grid: Grid) -> list[OcrSegment] | None:
    """The page's segments in order, header rows left out; None where the picture does not look like one of our
    pages."""
    cells = _cells(grey, grid)
    blank = ~(cells > _INK).any(axis=(2, 3))
    if blank.all():
        return None
    newline = _like(cells, NEWLINE, grid)
    if not grid.has_header and not newline.any():
        return None
    first = -(-HEADER_CELLS // grid.columns) if grid.has_header else 0
    blank |= _like(cells, FILLER, grid)
    inked = np.flatnonzero(~blank.all(axis=1))
    segments = list[OcrSegment]()
    for row in range(first, int(inked[-1]) + 1):
        segments += _row(row, cells[row], blank[row], newline[row], grid)
    return segments


def page_ink(grey: NDArray[np.uint8]) -> Floats:
    """How much of a pixel is ink, 0 to 1: dark on light or light on dark, whatever the two tones are."""
    low, high = np.percentile(grey, (0.5, 99.5))
    middle = np.median(grey)
    span = max(float(high - low), 24.0)
    ink = (middle - grey.astype(np.float32)) / span
    return np.clip(ink if middle - low >= high - middle else -ink, 0, 1).astype(np.float32)


def _cells(grey: NDArray[np.uint8], grid: Grid) -> Floats:
    """(rows, columns, height, width): the ink, brought to the cells' own size."""
    width, height = grid.columns * grid.cell.width, grid.rows * grid.cell.height
    box = (grid.x0, grid.y0, grid.x0 + grid.columns * grid.cell_width, grid.y0 + grid.rows * grid.cell_height)
    margin = max(0, -int(np.floor(min(box[:2]))), int(np.ceil(max(box[2] - grey.shape[1], box[3] - grey.shape[0]))))
    ink = np.pad(page_ink(grey), margin)
    moved = (box[0] + margin, box[1] + margin, box[2] + margin, box[3] + margin)
    native = np.asarray(Image.fromarray(ink).resize((width, height), Image.Resampling.BILINEAR, box=moved))
    parted = native.reshape(grid.rows, grid.cell.height, grid.columns, grid.cell.width)
    return np.ascontiguousarray(parted.transpose(0, 2, 1, 3))


def _bitmap(code: int, cell: Cell) -> Floats:
    """(height, width) of a narrow glyph."""
    table = load_glyphs(cell)
    rows = table.cells[table.first_cell[code]]
    return np.unpackbits(rows[:, None], axis=1)[:, : cell.width].astype(np.float32)


def _like(cells: Floats, code: int, grid: Grid) -> NDArray[np.bool_]:
    """(rows, columns): which cells are that glyph."""
    bitmap = _rescaled_glyph(_bitmap(code, grid.cell), grid)
    return _correlation(cells, bitmap) >= _LIKE if bitmap.any() else np.zeros(cells.shape[:2], np.bool_)


def _rescaled_glyph(bitmap: Floats, grid: Grid) -> Floats:
    """The glyph as a picture of this scale shows it: brought down to its cells, and up again."""
    height, width = bitmap.shape
    if grid.cell_width >= width:
        return bitmap
    around = np.pad(bitmap, ((height, height), (width, width)))
    small = (round(3 * grid.cell_width), round(3 * grid.cell_height))
    scaled = Image.fromarray(around).resize(small, Image.Resampling.BICUBIC)
    back = np.asarray(scaled.resize((3 * width, 3 * height), Image.Resampling.BILINEAR))
    return back[height : 2 * height, width : 2 * width]


def _correlation(cells: Floats, bitmap: Floats) -> Floats:
    shape = bitmap.ravel() - bitmap.mean()
    flat = cells.reshape(*cells.shape[:-2], -1)
    centred = flat - flat.mean(axis=-1, keepdims=True)
    size = np.linalg.norm(centred, axis=-1) * np.linalg.norm(shape)
    return np.where(size > 1e-3, centred @ shape / np.maximum(size, 1e-3), 0).astype(np.float32)


def _row(
    row: int, cells: Floats, blank: NDArray[np.bool_], newline: NDArray[np.bool_], grid: Grid
) -> Iterator[OcrSegment]:
    columns, at = len(blank), 0
    same = (np.abs(cells[1:] - cells[:-1]).max(axis=(1, 2)) < _SAME) & ~blank[1:] & ~blank[:-1]
    while at < columns:
        if newline[at]:
            yield KnownSegment("\n")
            at += 1
        elif blank[at]:
            end = _until(~blank, at)
            yield KnownSegment(" " * (end - at))
            at = end
        elif (end := _until(~same, at) + 1) - at >= RUN:
            yield KnownSegment(_rule(cells[at], grid) * (end - at))
            at = end
        else:
            end = _segment_end(at, blank, newline, same)
            yield TextSegment(tuple(blank[at:end].tolist()), _box(row, at, end, grid))
            at = end


def _until(stops: NDArray[np.bool_], at: int) -> int:
    """The first place from `at` on where it stops; the end where it never does."""
    stop_indexes = np.flatnonzero(stops[at:])
    return at + int(stop_indexes[0]) if len(stop_indexes) else at + len(stops[at:])


def _segment_end(at: int, blank: NDArray[np.bool_], newline: NDArray[np.bool_], same: NDArray[np.bool_]) -> int:
    """Where the stretch that begins here ends: at a wide gap, a line end, a ruled line, or the row's end."""
    last = at
    for column in range(at, len(blank)):
        if newline[column] or column - last > GAP:
            break
        if not blank[column]:
            if column > at and len(same) >= column + RUN - 1 and same[column : column + RUN - 1].all():
                break
            last = column
    return last + 1


def _rule(ink: Floats, grid: Grid) -> str:
    """The sign that a ruled line repeats: the narrow glyph most like it, those that rules are made of first."""
    table = load_glyphs(grid.cell)
    narrow = np.flatnonzero((table.first_cell[:_LAST_SIGN] >= 0) & (table.first_cell[:_LAST_SIGN] < table.narrow))
    for codes in ([ord(character) for character in _RULES], [int(code) for code in narrow]):
        likeness = [float(_correlation(ink, _rescaled_glyph(_bitmap(code, grid.cell), grid))) for code in codes]
        best = int(np.argmax(likeness))
        if likeness[best] >= _LIKE:
            break
    return chr(codes[best])


def _box(row: int, first: int, end: int, grid: Grid) -> tuple[float, float, float, float]:
    left, top = grid.x0 + first * grid.cell_width, grid.y0 + row * grid.cell_height
    return left, top, grid.x0 + end * grid.cell_width, top + grid.cell_height
