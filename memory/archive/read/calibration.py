"""How a picture was scaled and in which greys, from what is known to stand on it: the header."""

import numpy as np
from numpy.typing import NDArray

from memory.archive.read.grid import Grid
from memory.archive.read.resampling import KERNELS, axis
from memory.archive.read.shapes import Floats
from memory.archive.read.sight import Sight

_EDGE = 3  # page pixels below what is known that may shine into it
_SNAP = 6  # greys this near to black on white are just that


def calibrated(grey: NDArray[np.uint8], grid: Grid, known: Floats) -> Sight:
    """The sight by which what is known looks most like the picture: page pixels (height, width) from its top on."""
    found = list[tuple[float, str, tuple[float, float]]]()
    for kernel in KERNELS:
        found.append((*_error(grey, grid, kernel, known),))
    _, kernel, levels = min(found)
    return Sight(grey, grid, kernel, levels)


def _error(grey: NDArray[np.uint8], grid: Grid, kernel: str, known: Floats) -> tuple[float, str, tuple[float, float]]:
    scale_x, scale_y = grid.scale
    x = axis(grid.x0, scale_x, grid.size[0], grey.shape[1], kernel)
    y = axis(grid.y0, scale_y, known.shape[0], grey.shape[0], kernel)
    lines = max(1, y.last - y.first - int(np.ceil(_EDGE * scale_y)))
    seen = grey[y.first : y.first + lines, x.first : x.last].astype(np.float32)
    shown = y.weights[:lines] @ known[:, : x.size] @ x.weights.T
    levels = _levels(seen, shown)
    paper, ink = levels
    away = seen - np.clip(paper + (ink - paper) * shown, 0, 255)
    return float((away * away).mean()), kernel, levels


def _levels(seen: Floats, shown: Floats) -> tuple[float, float]:
    """The greys of paper and ink, least squares over what neither overshoots."""
    fair = (shown > -0.02) & (shown < 1.02)
    ink, light = shown[fair], seen[fair]
    spread = float(((ink - ink.mean()) ** 2).sum())
    slope = float(((ink - ink.mean()) * (light - light.mean())).sum()) / max(spread, 1e-6)
    paper = float(light.mean()) - slope * float(ink.mean())
    if abs(paper - 255) < _SNAP and abs(paper + slope) < _SNAP:
        return 255.0, 0.0
    return (paper, paper + slope) if abs(slope) >= 16 else (paper, paper - 16)
