"""Where in a picture the header begins, once the pitch of the lines is known."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from memory.archive.draw.modes import CELLS, Cell
from memory.archive.read.grid_header import header_likeness, opening
from memory.archive.read.grid_pitch import Pitch

Floats = NDArray[np.floating[Any]]

_MOST_PIXELS = 6_000_000  # of a page's own; a page has 1.6 million
_LIKE = 0.5


def header_origins(
    grey: NDArray[np.uint8], pitch: Pitch
) -> Iterator[tuple[Cell, float, float, tuple[float, float], float]]:
    """(cell, x0, y0, scale, likeness) where the opening words of a header stand, if anywhere; picture pixels."""
    found = list[tuple[Cell, float, float, tuple[float, float], float]]()
    for cell in CELLS:
        scale = (pitch.width / cell.width, pitch.height / cell.height)
        width, height = round(grey.shape[1] / scale[0]), round(grey.shape[0] / scale[1])
        if width < 11 * cell.width or height < cell.height or width * height > _MOST_PIXELS:
            continue
        page = np.asarray(Image.fromarray(grey).resize((width, height), Image.Resampling.BILINEAR))
        likeness = _likenesses(page.astype(np.float32), opening(cell))
        y, x = np.unravel_index(int(np.abs(likeness).argmax()), likeness.shape)
        if abs(likeness[y, x]) < _LIKE:
            continue
        exact = (grey.shape[1] / width, grey.shape[0] / height)
        found.append(_nearer(grey, cell, (float(x) * exact[0], float(y) * exact[1]), scale))
    yield from sorted(found, key=lambda one: -abs(one[4]))[:1]


def _likenesses(page: Floats, ink: Floats) -> Floats:
    """-1 to 1 for each place: the correlation of what stands there with ink that is darker than paper."""
    height, width = ink.shape
    rows, columns = page.shape[0] - height + 1, page.shape[1] - width + 1
    light = 255 - page
    shape = light.shape
    meant = ink - ink.mean()
    product = np.fft.irfft2(np.fft.rfft2(light) * np.conj(np.fft.rfft2(meant, shape)), shape)[:rows, :columns]
    mean = _sums(light, height, width) / ink.size
    spread = _sums(light * light, height, width) - ink.size * mean * mean
    spread[spread < ink.size * 16] = np.inf  # nothing is written there
    return (product / np.sqrt(spread * float((meant * meant).sum()))).astype(np.float32)


def _sums(values: Floats, height: int, width: int) -> NDArray[np.float64]:
    total = np.zeros((values.shape[0] + 1, values.shape[1] + 1))
    np.cumsum(np.cumsum(values, axis=0, dtype=np.float64), axis=1, out=total[1:, 1:])
    return total[height:, width:] - total[:-height, width:] - total[height:, :-width] + total[:-height, :-width]


def _nearer(
    grey: NDArray[np.uint8], cell: Cell, origin: tuple[float, float], scale: tuple[float, float]
) -> tuple[Cell, float, float, tuple[float, float], float]:
    """The place and scale by small steps to where the words look most like themselves."""
    at = [*origin, *scale]
    best = header_likeness(grey, origin, scale, cell)
    sign = 1 if best >= 0 else -1
    for step in (1.0, 0.5, 0.25, 0.1):
        steps = (step * scale[0], step * scale[1])
        for _ in range(4):
            moved = False
            for axis, change in ((0, steps[0]), (0, -steps[0]), (1, steps[1]), (1, -steps[1])):
                tried = at.copy()
                tried[axis] += change
                likeness = header_likeness(grey, (tried[0], tried[1]), (tried[2], tried[3]), cell)
                if likeness * sign > best * sign:
                    at, best, moved = tried, likeness, True
            if not moved:
                break
    return cell, at[0], at[1], (at[2], at[3]), best
