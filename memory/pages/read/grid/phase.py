"""Where the cells of a page begin that lost its header: there the picture's cells look like glyphs, and nowhere else.

The pitch of lines and columns is known. A patch of the picture is cut into cells at each place where they may begin,
and each cell is compared with the glyphs that texts have most.

Which of a grid's cells have ink.
"""

from functools import cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memory.pages.font.glyphs import NEWLINE
from memory.pages.read.arrays import Floats
from memory.pages.read.deadline import Deadline, unlimited
from memory.pages.read.grid.pitch import Pitch
from memory.pages.read.nearest.resampling import Axis
from memory.pages.read.nearest.shapes import GlyphShapes, load_shapes
from memory.pages.render.modes import CELLS, Cell

_ROWS, _COLUMNS = 10, 26  # cells of the patch
_LEAST_ROWS, _LEAST_COLUMNS = 3, 8
_LIKE = 0.62  # mean correlation from which cells are glyphs of ours; other fonts stay below 0.5
_HARDLY = 0.45  # the same, before the place is refined: up to half a pixel is lacking
_SMALLEST, _LARGEST = 0.6, 4.3  # scales
_WRITTEN = 0.12  # of the contrast: the deviation within a cell that has ink
_TRIED = 3
_ALL_BUT = 0.04  # of a cell: what a measure may be off
_NARROW = (*range(0x21, 0x7F), NEWLINE)
_WIDE = (
    "，。、；：？！（）的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年"
    "の是にはをたがでとしれさるこいえ"
    "이다는의가을에하고지를기"
)


class Phase(Struct, frozen=True):
    """Cells that begin at (x, y) of the picture, and how far they look like glyphs (0 to 1)."""

    cell: Cell
    x: float
    y: float
    scale: tuple[float, float]
    likeness: float


def phases(grey: NDArray[np.uint8], pitch: Pitch, *, inverted: bool, deadline: Deadline | None = None) -> list[Phase]:
    """Where cells of that pitch begin, if anywhere: one for each size of cells, the likeliest first.

    Raises DeadlineExceeded.
    """
    light, until = grey if inverted else 255 - grey, deadline or unlimited()
    candidates = [
        _phase_of_cell(light, cell, (pitch.width / cell.width, pitch.height / cell.height), until) for cell in CELLS
    ]
    return sorted(
        [phase for phase in candidates if phase and phase.likeness >= _LIKE], key=lambda phase: -phase.likeness
    )


class _Patch(Struct, frozen=True):
    """A part of the picture, light on dark, of so many cells, at that scale."""

    light: NDArray[np.uint8]
    cell: Cell
    scale: tuple[float, float]
    rows: int
    columns: int

    def cells(self, x: float, y: float) -> Floats:
        """(rows, columns, height, width): page pixels from there on, by straight lines between the picture's own."""
        above, below, down = _between(y, self.scale[1], self.rows * self.cell.height, self.light.shape[0])
        left, right, across = _between(x, self.scale[0], self.columns * self.cell.width, self.light.shape[1])
        top = self.light[above].astype(np.float32)
        lines = top + (self.light[below] - top) * down[:, None]
        first = lines[:, left]
        page = first + (lines[:, right] - first) * across
        return page.reshape(self.rows, self.cell.height, self.columns, self.cell.width).transpose(0, 2, 1, 3)


def _phase_of_cell(
    light: NDArray[np.uint8], cell: Cell, scale: tuple[float, float], deadline: Deadline
) -> Phase | None:
    if min(scale) < _SMALLEST or max(scale) > _LARGEST:
        return None
    scale = _snap_scale(scale)
    size = (cell.width * scale[0], cell.height * scale[1])
    rows, columns = min(_ROWS, int(light.shape[0] / size[1]) - 2), min(_COLUMNS, int(light.shape[1] / size[0]) - 2)
    if rows < _LEAST_ROWS or columns < _LEAST_COLUMNS:
        return None
    patch = _Patch(light, cell, scale, rows, columns)
    left, top = _densest_part(light, (int((columns + 1) * size[0]) + 1, int((rows + 1) * size[1]) + 1))
    known = _glyph_templates(cell, round(min(scale), 2))
    likeness = np.zeros((cell.height, cell.width))
    for y in range(cell.height):
        deadline.check()
        for x in range(cell.width):
            likeness[y, x] = _likeness(patch.cells(left + x * scale[0], top + y * scale[1]), known)
    if likeness.max() < _HARDLY:
        return None
    candidates = list[tuple[float, float, float]]()
    for best in np.argsort(-likeness, axis=None)[:_TRIED]:
        y, x = divmod(int(best), cell.width)
        here = (left + x * scale[0], top + y * scale[1], float(likeness[y, x]))
        candidates.append(_refine(patch, here, known))
    x, y, like = max(candidates, key=lambda candidate: candidate[2])
    if scale[0] == round(scale[0]) == scale[1]:
        x, y = float(round(x)), float(round(y))
    return Phase(cell, _first_whole(x, size[0]), _first_whole(y, size[1]), scale, like)


def _first_whole(at: float, pitch: float) -> float:
    """Where the first cell begins that is whole, or all but."""
    first = at % pitch
    return first - pitch if first > pitch * (1 - _ALL_BUT) else first


def _snap_scale(scale: tuple[float, float]) -> tuple[float, float]:
    """One to one, two to one: where the measure is as near as that, it is that."""
    near = round(sum(scale) / 2)
    return (near, near) if near and max(abs(axis_scale / near - 1) for axis_scale in scale) < 0.0015 else scale


def _densest_part(light: NDArray[np.uint8], size: tuple[int, int]) -> tuple[int, int]:
    """(left, top) of the part of that size (across, down) with the most edges in it."""
    across, down = size
    change = np.abs(np.diff(light.astype(np.int16), axis=1)) >= 48
    best, corner = -1, (0, 0)
    for top in range(0, light.shape[0] - down + 1, max(down // 2, 1)):
        for left in range(0, light.shape[1] - across + 1, max(across // 2, 1)):
            edges = int(change[top : top + down, left : left + across].sum())
            if edges > best:
                best, corner = edges, (left, top)
    return corner


def _between(
    start: float, scale: float, count: int, extent: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    at = np.clip(start + (np.arange(count) + 0.5) * scale - 0.5, 0, extent - 1)
    before = np.floor(at).astype(np.intp)
    return before, np.minimum(before + 1, extent - 1), (at - before).astype(np.float32)


def _likeness(cells: Floats, known: tuple[Floats, Floats]) -> float:
    """The mean, over cells with ink, of how much each looks like some known glyph, alone or with its neighbour.

    Where little is known (Chinese has thousands), the better half of them counts.
    """
    rows, columns = cells.shape[:2]
    alone = _best(cells.reshape(rows, columns, -1), known[0])
    pairs = np.concatenate([cells[:, :-1], cells[:, 1:]], axis=3).reshape(rows, columns - 1, -1)
    together = _best(pairs, known[1])
    best = alone.copy()
    best[:, :-1] = np.maximum(best[:, :-1], together)
    best[:, 1:] = np.maximum(best[:, 1:], together)
    written = cells.std(axis=(2, 3)) > _WRITTEN * max(float(np.ptp(cells)), 32.0)
    if written.sum() < 12:
        return 0.0
    inked = np.sort(best[written])
    return float(inked[len(inked) // 2 :].mean())


def _best(cells: Floats, known: Floats) -> Floats:
    level = cells - cells.mean(axis=2, keepdims=True)
    size = np.maximum(np.sqrt((level * level).sum(axis=2)), 1.0)
    return ((level.reshape(-1, level.shape[2]) @ known).max(axis=1).reshape(size.shape) / size).astype(np.float32)


def _refine(
    patch: _Patch, here: tuple[float, float, float], known: tuple[Floats, Floats]
) -> tuple[float, float, float]:
    """The place by small steps to where the cells look most like glyphs, and how much they do."""
    for step in (0.5, 0.25, 0.12):
        x, y, _ = here
        across, down = step * patch.scale[0], step * patch.scale[1]
        around = [(x + a * across, y + b * down) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
        here = max(
            [here, *((*at, _likeness(patch.cells(*at), known)) for at in around)], key=lambda candidate: candidate[2]
        )
    return here


@cache
def _glyph_templates(cell: Cell, scale: float) -> tuple[Floats, Floats]:
    """(pixels, glyphs) narrow and wide: centred and of length one, as a picture of that scale shows them."""
    narrow, wide = load_shapes(cell)
    return (
        _rescaled_glyphs(narrow, [code for code in _NARROW if narrow.place[code] >= 0], scale),
        _rescaled_glyphs(wide, [ord(character) for character in _WIDE if wide.place[ord(character)] >= 0], scale),
    )


def _rescaled_glyphs(kind: GlyphShapes, codes: list[int], scale: float) -> Floats:
    ink = kind.ink(kind.place[codes].astype(np.intp))
    if scale < 1:
        down, across = (_rescaling_loss(length, scale) for length in kind.size)
        ink = down @ ink @ across.T
    flat = ink.reshape(len(ink), -1)
    flat = flat - flat.mean(axis=1, keepdims=True)
    return np.ascontiguousarray((flat / np.linalg.norm(flat, axis=1, keepdims=True)).T).astype(np.float32)


def _rescaling_loss(length: int, scale: float) -> Floats:
    """(length, length): what reduction to that scale, and straight lines back, leave of a cell's pixels."""
    less = Axis(0.0, scale, length, int(np.ceil(length * scale)), "bicubic").weights
    at = np.clip((np.arange(length) + 0.5) * scale - 0.5, 0, len(less) - 1)
    before = np.floor(at).astype(np.intp)
    part = (at - before)[:, None]
    return (less[before] * (1 - part) + less[np.minimum(before + 1, len(less) - 1)] * part).astype(np.float32)


_CONTRAST = 0.3  # of the picture's: what a cell has within it where something is written


def inked_cells(
    grey: NDArray[np.uint8], origin: tuple[float, float], size: tuple[float, float], count: tuple[int, int]
) -> tuple[slice, slice]:
    """The rows and the columns from the first to the last with ink, of `count` (rows, columns) cells of that `size`.

    All of them where nothing is written.
    """
    rows, columns = count
    least = _CONTRAST * max(float(np.ptp(grey)), 32.0)
    down, across = _edges(origin[1], size[1], rows, grey.shape[0]), _edges(origin[0], size[0], columns, grey.shape[1])
    darkest = np.minimum.reduceat(np.minimum.reduceat(grey, down[:-1], axis=0)[:rows], across[:-1], axis=1)[:, :columns]
    lightest = np.maximum.reduceat(np.maximum.reduceat(grey, down[:-1], axis=0)[:rows], across[:-1], axis=1)
    inked = lightest[:, :columns].astype(np.float32) - darkest >= least
    if not inked.any():
        return slice(0, rows), slice(0, columns)
    in_row, in_column = np.flatnonzero(inked.any(axis=1)), np.flatnonzero(inked.any(axis=0))
    return slice(int(in_row[0]), int(in_row[-1]) + 1), slice(int(in_column[0]), int(in_column[-1]) + 1)


def _edges(start: float, size: float, count: int, extent: int) -> NDArray[np.intp]:
    """Where cells begin, and where the last one ends: pixels."""
    return np.clip(np.round(start + size * np.arange(count + 1)), 0, extent - 1).astype(np.intp)
