"""Finds a page's grid of cells in a picture: at any scale from 0.7 to 4, in any surroundings, inverted or not.

A picture that is a page and nothing else has its grid by its size alone. In any other one the lines of text give the
pitch, and the first words of the header, which are known, give the origin. Where the header was cut off, the cells
begin where they look like glyphs.
"""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from memory.pages.read.deadline import Deadline, unlimited
from memory.pages.read.grid.origin import header_likeness, header_origins
from memory.pages.read.grid.phase import Phase, inked_cells, phases
from memory.pages.read.grid.pitch import pitches
from memory.pages.render.modes import CELLS, Cell, Mode, modes_of

SMALLEST, LARGEST = 0.6, 4.3
"""Picture pixels to a page pixel, with room for what a measurement is off."""
_MOST_OF_A_COLUMN = 0.1
_MOST_OF_A_ROW = 0.15  # a row that lost less than this still reads
_EVEN = 0.004  # less is rounding to whole pixels; more may be a side that was cut
_SKEWED = 0.06  # the axes' scales differ by no more
_MOST_CUT = 2  # pitches that are tried for a page without its header
_MOST_CELLS = 2  # times those of the largest page: what has more is no cut page, and takes gigabytes to look at
_KNOWN_HEADER = 0.5  # likeness from which a header stands there; other writing stays below 0.35


class Grid(Struct, frozen=True):
    """Cells in a picture, in picture pixels. `likeness` (-1 to 1) is how far the first cells look like a header's."""

    x0: float
    y0: float
    cell_width: float
    cell_height: float
    columns: int
    rows: int
    cell: Cell
    inverted: bool = False  # light on dark
    likeness: float = 0.0

    @property
    def scale(self) -> tuple[float, float]:
        """Picture pixels to a page pixel, (x, y)."""
        return self.cell_width / self.cell.width, self.cell_height / self.cell.height

    @property
    def size(self) -> tuple[int, int]:
        """Page pixels (width, height), with the margin that a page of so many cells has."""
        width, height = self.columns * self.cell.width, self.rows * self.cell.height
        sides = [mode.side for mode in modes_of(self.cell).values()]
        across = [side for side in sides if side // self.cell.width == self.columns]
        down = [side for side in sides if side // self.cell.height == self.rows]
        return (across[0] if across else width, down[0] if down else height)

    @property
    def has_header(self) -> bool:
        return self.likeness >= _KNOWN_HEADER


def find_grid(grey: NDArray[np.uint8], deadline: Deadline | None = None) -> Iterator[Grid]:
    """Candidate grids in the picture (height, width), the likeliest first; few, in bounded memory.

    Raises DeadlineExceeded past `deadline`.
    """
    until = deadline or unlimited()
    candidates = sorted(_whole_pages(grey), key=lambda grid: -grid.likeness)
    headed = [grid for grid in candidates if grid.has_header]
    yield from headed
    if headed:
        return
    heard = pitches(grey)
    for pitch in heard:
        until.check()
        for cell, x0, y0, scale, likeness in header_origins(grey, pitch):
            grids = [whole_page(mode, scale, (x0, y0), likeness < 0) for mode in modes_of(cell).values()]
            grids = [_within(grey, structs.replace(grid, likeness=abs(likeness))) for grid in grids]
            yield from sorted(grids, key=lambda grid: (not _ends_in_text(grey, grid), _beyond(grey, grid)))
    inverted = _is_dark(grey)
    for pitch in heard[:_MOST_CUT]:
        for phase in phases(grey, pitch, inverted=inverted, deadline=until):
            grid = cut_page(grey, phase, inverted=inverted)
            if grid.columns * grid.rows <= _MOST_CELLS * max(
                mode.columns * mode.rows for mode in modes_of(grid.cell).values()
            ):
                yield grid


def _beyond(grey: NDArray[np.uint8], grid: Grid) -> float:
    """The difference between the grid's width and the picture's."""
    return abs(grid.x0 + grid.columns * grid.cell_width - grey.shape[1])


def _ends_in_text(grey: NDArray[np.uint8], grid: Grid) -> bool:
    """Whether the grid's last columns hold paper with ink on it, and nothing else."""
    left, right = (
        round(grid.x0 + (grid.columns - 16) * grid.cell_width),
        round(grid.x0 + grid.columns * grid.cell_width),
    )
    top, bottom = round(grid.y0), round(grid.y0 + grid.rows * grid.cell_height)
    band = grey[max(top, 0) : bottom, max(left, 0) : right].astype(np.int16)
    if right > grey.shape[1] + grid.cell_width or not band.size:
        return False
    paper = int(np.median(grey[max(top, 0) : bottom, max(round(grid.x0), 0) : right]))
    away = np.abs(band - paper)
    return bool((away < 48).mean() > 0.6 and (away > 96).mean() > 0.01)


def _whole_pages(grey: NDArray[np.uint8]) -> Iterator[Grid]:
    """The picture as a page of each mode, where its size allows, whole or cut on the right or below."""
    height, width = grey.shape
    inverted = _is_dark(grey)
    for cell in CELLS:
        for mode in modes_of(cell).values():
            x, y = width / mode.side, height / mode.side
            skew = abs(x / y - 1)
            squeezed, cut = [(x, y)] * (skew <= _SKEWED), [(x, x), (y, y)] * (skew > _EVEN)
            for scale in squeezed + cut:
                if SMALLEST <= scale[0] <= LARGEST:
                    yield with_likeness(grey, _within(grey, whole_page(mode, scale, (0.0, 0.0), inverted)))


def whole_page(mode: Mode, scale: tuple[float, float], origin: tuple[float, float], inverted: bool) -> Grid:
    """All of a mode's cells, from `origin` (x, y) on."""
    return Grid(
        x0=origin[0],
        y0=origin[1],
        cell_width=mode.cell.width * scale[0],
        cell_height=mode.cell.height * scale[1],
        columns=mode.columns,
        rows=mode.rows,
        cell=mode.cell,
        inverted=inverted,
    )


def cut_page(grey: NDArray[np.uint8], phase: Phase, *, inverted: bool) -> Grid:
    """The cells of a page that lost its header: from the first to the last with ink, and to the page's right edge."""
    width, height = phase.cell.width * phase.scale[0], phase.cell.height * phase.scale[1]
    columns = max(1, int((grey.shape[1] - phase.x) / width + _MOST_OF_A_COLUMN))
    rows = max(1, int((grey.shape[0] - phase.y) / height + _MOST_OF_A_ROW))
    down, across = inked_cells(grey, (phase.x, phase.y), (width, height), (rows, columns))
    span = across.stop - across.start
    widths = [mode.columns for mode in modes_of(phase.cell).values() if span <= mode.columns]
    return Grid(
        x0=phase.x + across.start * width,
        y0=phase.y + down.start * height,
        cell_width=width,
        cell_height=height,
        columns=min([*widths, columns - across.start]),
        rows=down.stop - down.start,
        cell=phase.cell,
        inverted=inverted,
    )


def with_likeness(grey: NDArray[np.uint8], grid: Grid) -> Grid:
    """The same grid, with how far it looks as if a header stood there."""
    likeness = header_likeness(grey, (grid.x0, grid.y0), grid.scale, grid.cell)
    return Grid(
        grid.x0,
        grid.y0,
        grid.cell_width,
        grid.cell_height,
        grid.columns,
        grid.rows,
        grid.cell,
        inverted=grid.inverted,
        likeness=-likeness if grid.inverted else likeness,
    )


def _is_dark(grey: NDArray[np.uint8]) -> bool:
    step = max(1, min(grey.shape) // 256)
    return bool(np.median(grey[::step, ::step]) < 128)


def _within(grey: NDArray[np.uint8], grid: Grid) -> Grid:
    """Without the rows that the picture lost."""
    rows = int((grey.shape[0] - grid.y0) / grid.cell_height + _MOST_OF_A_ROW)
    return structs.replace(grid, rows=max(1, min(grid.rows, rows)))
