"""Alignment of a grid: its known content is fitted to the picture, to a hundredth of a pixel.

A page as a picture shows it: its grid's pixels as ink, and the model by which page pixels became picture pixels.

How a picture was scaled and in which greys, from what is known to stand on it: the header.
"""

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from memory.pages.read.arrays import Floats
from memory.pages.read.grid.detect import Grid
from memory.pages.read.nearest.resampling import KERNELS, Axis, axis


class ImageModel:
    """`ink` (height, width) are the picture's pixels on the grid, 0 paper to 1 ink; picture = y · page · xᵀ."""

    def __init__(
        self, grey: NDArray[np.uint8], grid: Grid, kernel: str, levels: tuple[float, float] | None = None
    ) -> None:
        self.grid, self.kernel = grid, kernel
        scale_x, scale_y = grid.scale
        width, height = grid.size
        self.x = axis(grid.x0, scale_x, width, grey.shape[1], kernel)
        self.y = axis(grid.y0, scale_y, height, grey.shape[0], kernel)
        crop = grey[self.y.first : self.y.last, self.x.first : self.x.last]
        self.levels = levels or _levels(crop, inverted=grid.inverted)
        paper, ink = self.levels
        self.ink: Floats = (crop.astype(np.float32) - np.float32(paper)) / np.float32(ink - paper)

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


def _levels(grey: NDArray[np.uint8], *, inverted: bool) -> tuple[float, float]:
    """The grey of paper, which most pixels have, and of ink, the other extreme."""
    counts = np.bincount(grey.ravel(), minlength=256)
    half = slice(0, 128) if inverted else slice(128, 256)
    paper = float(half.start + int(counts[half].argmax()))
    few = max(1, grey.size // 500)
    if inverted:
        ink = 255.0 - int(np.searchsorted(counts[::-1].cumsum(), few))
        return paper, max(ink, paper + 16)
    ink = float(np.searchsorted(counts.cumsum(), few))
    return paper, min(ink, paper - 16)


_ROUNDS = 4
_STILL = 0.01  # picture pixels: a grid that moves less is where it should be
_ODD = 0.5  # of ink: what differs more is no matter of alignment
_STEP = 0.05
_FARTHEST = 3
_SAME_SCALE = 0.002  # pages are scaled alike along both axes, or visibly not

Params = NDArray[np.float64]  # x0, y0, scale x, scale y


def square_grid(grid: Grid) -> Grid:
    """Both axes at one scale where they almost are: columns are twice as many as lines and tell it better."""
    x, y = grid.scale
    return structs.replace(grid, cell_height=x * grid.cell.height) if abs(x / y - 1) < _SAME_SCALE else grid


def align_grid(grey: NDArray[np.uint8], sight: ImageModel, known: Floats) -> Grid:
    """The sight's grid, moved and scaled (Gauss-Newton) to fit the known page pixels from the page's top on.

    A few lines of cells tell their own height badly, so the height is stretched only where the whole page is known.
    """
    grid, (paper, ink) = sight.grid, sight.levels
    page = known[: sight.y.size, : sight.x.size]
    at = np.array([grid.x0, grid.y0, *grid.scale])
    left = Axis(at[0], at[2], page.shape[1], grey.shape[1], sight.kernel)
    top = Axis(at[1], at[3], page.shape[0], grey.shape[0], sight.kernel)
    observed = (grey[top.first : top.last, left.first : left.last].astype(np.float32) - np.float32(paper)) / (
        ink - paper
    )
    free = [0, 2, 1, 3] if page.shape[0] == sight.y.size else [0, 2, 1]
    reach = np.array([1.0, 1.0, page.shape[1], page.shape[0]])  # picture pixels by which the far end goes along
    for _ in range(_ROUNDS):
        shown, slopes = _shown(page, left, top, at)
        rest = (observed - shown).ravel()
        fair = np.abs(rest) < _ODD
        by_parameter = np.stack([slopes[n].ravel()[fair] for n in free])
        squares = (by_parameter @ by_parameter.T).astype(np.float64)
        move = np.linalg.lstsq(squares, (by_parameter @ rest[fair]).astype(np.float64), rcond=None)[0]
        far = float((np.abs(move) * reach[free]).max())
        if far > _FARTHEST * max(grid.scale):
            break  # what is known does not stand there
        at[free] += move
        if far < _STILL:
            break
    return structs.replace(
        grid,
        x0=float(at[0]),
        y0=float(at[1]),
        cell_width=float(at[2]) * grid.cell.width,
        cell_height=float(at[3]) * grid.cell.height,
    )


def _shown(page: Floats, left: Axis, top: Axis, at: Params) -> tuple[Floats, list[Floats]]:
    """The page's picture, and how it changes with each parameter."""
    x, y = left.moved(at[0], at[2]), top.moved(at[1], at[3])
    lines, columns = y @ page, page @ x.T
    step_x, step_y = _STEP / page.shape[1], _STEP / page.shape[0]
    slopes: list[Floats] = [
        lines @ (left.moved(at[0] + _STEP, at[2]) - x).T / _STEP,
        (top.moved(at[1] + _STEP, at[3]) - y) @ columns / _STEP,
        lines @ (left.moved(at[0], at[2] + step_x) - x).T / step_x,
        (top.moved(at[1], at[3] + step_y) - y) @ columns / step_y,
    ]
    return lines @ x.T, slopes


_EDGE = 3  # page pixels below what is known that may shine into it
_SNAP = 6  # greys this near to black on white are just that


def calibrate(grey: NDArray[np.uint8], grid: Grid, known: Floats) -> ImageModel:
    """The sight under which the known page pixels (height, width), from its top on, resemble the picture most."""
    errors = list[tuple[float, str, tuple[float, float]]]()
    for kernel in KERNELS:
        errors.append((*_error(grey, grid, kernel, known),))
    _, kernel, levels = min(errors)
    return ImageModel(grey, grid, kernel, levels)


def _error(grey: NDArray[np.uint8], grid: Grid, kernel: str, known: Floats) -> tuple[float, str, tuple[float, float]]:
    scale_x, scale_y = grid.scale
    x = axis(grid.x0, scale_x, grid.size[0], grey.shape[1], kernel)
    y = axis(grid.y0, scale_y, known.shape[0], grey.shape[0], kernel)
    lines = max(1, y.last - y.first - int(np.ceil(_EDGE * scale_y)))
    observed = grey[y.first : y.first + lines, x.first : x.last].astype(np.float32)
    shown = y.weights[:lines] @ known[:, : x.size] @ x.weights.T
    levels = _fitted_levels(observed, shown)
    paper, ink = levels
    away = observed - np.clip(paper + (ink - paper) * shown, 0, 255)
    return float((away * away).mean()), kernel, levels


def _fitted_levels(observed: Floats, shown: Floats) -> tuple[float, float]:
    """The greys of paper and ink, least squares over what neither overshoots."""
    fair = (shown > -0.02) & (shown < 1.02)
    ink, light = shown[fair], observed[fair]
    spread = float(((ink - ink.mean()) ** 2).sum())
    slope = float(((ink - ink.mean()) * (light - light.mean())).sum()) / max(spread, 1e-6)
    paper = float(light.mean()) - slope * float(ink.mean())
    if abs(paper - 255) < _SNAP and abs(paper + slope) < _SNAP:
        return 255.0, 0.0
    return (paper, paper + slope) if abs(slope) >= 16 else (paper, paper - 16)
