"""A page as a picture shows it: its grid's pixels as ink, and the model by which page pixels became picture pixels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.archive.read.grid import Grid
from memory.archive.read.resampling import axis

Floats = NDArray[np.floating[Any]]


class Sight:
    """`ink` (height, width) are the picture's pixels on the grid, 0 paper to 1 ink; picture = y · page · xᵀ."""

    def __init__(
        self, grey: NDArray[np.uint8], grid: Grid, kernel: str, levels: tuple[float, float] | None = None
    ) -> None:
        self.grid, self.kernel = grid, kernel
        scale_x, scale_y = grid.scale
        width, height = grid.size
        self.x = axis(grid.x0, scale_x, width, grey.shape[1], kernel)
        self.y = axis(grid.y0, scale_y, height, grey.shape[0], kernel)
        seen = grey[self.y.first : self.y.last, self.x.first : self.x.last]
        self.levels = levels or _levels(seen, inverted=grid.inverted)
        paper, ink = self.levels
        self.ink: Floats = (seen.astype(np.float32) - np.float32(paper)) / np.float32(ink - paper)

    def page(self) -> Floats:
        """(rows, columns, cell height, cell width): the page's pixels as far as the picture tells them."""
        return self.cells(self.y.inverse @ self.ink @ self.x.inverse.T)

    def strip(self) -> Floats:
        """As `page`, for a few rows."""
        return self.cells(self.x.on_page(self.y.inverse @ self.ink))

    def cells(self, page: Floats) -> Floats:
        """A page's pixels, cut into its cells."""
        grid = self.grid
        cut = page[: grid.rows * grid.cell.height, : grid.columns * grid.cell.width]
        cut = cut.reshape(grid.rows, grid.cell.height, grid.columns, grid.cell.width)
        return np.ascontiguousarray(cut.transpose(0, 2, 1, 3))

    def overshot(self, page: Floats) -> Floats:
        """The picture of such a page, before it is cut off at white and black."""
        return self.x.forth.right(self.y.forth.left(page))

    def gathered(self, shown: Floats) -> Floats:
        """How much of each page pixel's light such a picture has."""
        return self.x.back.right(self.y.back.left(shown))

    def clipped(self, shown: Floats) -> Floats:
        """As a file holds it."""
        return np.clip(shown, *self._ends())

    def _ends(self) -> tuple[float, float]:
        paper, ink = self.levels
        ends = ((0 - paper) / (ink - paper), (255 - paper) / (ink - paper))
        return min(ends), max(ends)


def _levels(seen: NDArray[np.uint8], *, inverted: bool) -> tuple[float, float]:
    """The grey of paper, which most pixels have, and of ink, the other extreme."""
    counts = np.bincount(seen.ravel(), minlength=256)
    half = slice(0, 128) if inverted else slice(128, 256)
    paper = float(half.start + int(counts[half].argmax()))
    few = max(1, seen.size // 500)
    if inverted:
        ink = 255.0 - int(np.searchsorted(counts[::-1].cumsum(), few))
        return paper, max(ink, paper + 16)
    ink = float(np.searchsorted(counts.cumsum(), few))
    return paper, min(ink, paper - 16)
