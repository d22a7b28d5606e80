"""A grid moved to where what is known to stand on it fits the picture best, to a hundredth of a pixel."""

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from memory.archive.read.grid import Grid
from memory.archive.read.resampling import Axis
from memory.archive.read.shapes import Floats
from memory.archive.read.sight import Sight

_ROUNDS = 4
_STILL = 0.01  # picture pixels: a grid that moves less is where it should be
_ODD = 0.5  # of ink: what differs more is no matter of alignment
_STEP = 0.05
_FARTHEST = 3
_SAME_SCALE = 0.002  # pages are scaled alike along both axes, or visibly not

Params = NDArray[np.float64]  # x0, y0, scale x, scale y


def square(grid: Grid) -> Grid:
    """Both axes at one scale where they almost are: columns are twice as many as lines and tell it better."""
    x, y = grid.scale
    return structs.replace(grid, cell_height=x * grid.cell.height) if abs(x / y - 1) < _SAME_SCALE else grid


def aligned(grey: NDArray[np.uint8], sight: Sight, known: Floats) -> Grid:
    """The sight's grid, moved and stretched (Gauss-Newton) to fit what is known: page pixels from the page's top on.

    A few lines of cells tell their own height badly, so the height is stretched only where the whole page is known.
    """
    grid, (paper, ink) = sight.grid, sight.levels
    page = known[: sight.y.size, : sight.x.size]
    at = np.array([grid.x0, grid.y0, *grid.scale])
    left = Axis(at[0], at[2], page.shape[1], grey.shape[1], sight.kernel)
    top = Axis(at[1], at[3], page.shape[0], grey.shape[0], sight.kernel)
    seen = (grey[top.first : top.last, left.first : left.last].astype(np.float32) - np.float32(paper)) / (ink - paper)
    free = [0, 2, 1, 3] if page.shape[0] == sight.y.size else [0, 2, 1]
    reach = np.array([1.0, 1.0, page.shape[1], page.shape[0]])  # picture pixels by which the far end goes along
    for _ in range(_ROUNDS):
        shown, slopes = _shown(page, left, top, at)
        rest = (seen - shown).ravel()
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
