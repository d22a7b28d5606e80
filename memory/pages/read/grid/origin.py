"""Finds where a header begins in a picture, once the pitch of the lines is known.

It correlates the picture with the first word of every header, `PALIMPSEST-`.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from memory.pages.font.glyphs import load_glyphs
from memory.pages.read.arrays import Floats
from memory.pages.read.grid.pitch import Pitch
from memory.pages.read.nearest.resampling import Axis
from memory.pages.render.modes import CELLS, Cell

OPENING = "PALIMPSEST-"


@cache
def header_opening(cell: Cell) -> Floats:
    """(cell height, 11 cells) of 0 and 1: the opening words' ink."""
    table = load_glyphs(cell)
    cells = table.cells[table.first_cell[np.frombuffer(OPENING.encode(), np.uint8)]]
    ink = np.unpackbits(cells[:, :, None], axis=2)[:, :, : cell.width]
    return np.concatenate(list(ink), axis=1).astype(np.float32)


def header_likeness(
    grey: NDArray[np.uint8], origin: tuple[float, float], scale: tuple[float, float], cell: Cell
) -> float:
    """-1 to 1: the likeness of the opening words at that origin, ink darker than paper; below 0 where it is lighter."""
    ink = header_opening(cell)
    x = Axis(origin[0], scale[0], ink.shape[1], grey.shape[1], "bilinear")
    y = Axis(origin[1], scale[1], ink.shape[0], grey.shape[0], "bilinear")
    observed = 255.0 - grey[y.first : y.last, x.first : x.last].astype(np.float32)
    expected = y.weights @ ink @ x.weights.T
    if observed.shape != expected.shape or observed.size < 64:
        return 0.0
    observed, expected = observed - observed.mean(), expected - expected.mean()
    length = float(np.sqrt((observed * observed).sum() * (expected * expected).sum()))
    return float((observed * expected).sum()) / length if length > 1e-3 else 0.0


_MOST_PIXELS = 6_000_000  # of a page's own; a page has 1.6 million
_LIKE = 0.5


def header_origins(
    grey: NDArray[np.uint8], pitch: Pitch
) -> Iterator[tuple[Cell, float, float, tuple[float, float], float]]:
    """(cell, x0, y0, scale, likeness) of each candidate for the opening words of a header, in picture pixels."""
    origins = list[tuple[Cell, float, float, tuple[float, float], float]]()
    for cell in CELLS:
        scale = (pitch.width / cell.width, pitch.height / cell.height)
        width, height = round(grey.shape[1] / scale[0]), round(grey.shape[0] / scale[1])
        if width < 11 * cell.width or height < cell.height or width * height > _MOST_PIXELS:
            continue
        page = np.asarray(Image.fromarray(grey).resize((width, height), Image.Resampling.BILINEAR))
        likeness = _likenesses(page.astype(np.float32), header_opening(cell))
        y, x = np.unravel_index(int(np.abs(likeness).argmax()), likeness.shape)
        if abs(likeness[y, x]) < _LIKE:
            continue
        exact = (grey.shape[1] / width, grey.shape[0] / height)
        origins.append(_refine(grey, cell, (float(x) * exact[0], float(y) * exact[1]), scale))
    yield from sorted(origins, key=lambda origin: -abs(origin[4]))[:1]


def _likenesses(page: Floats, ink: Floats) -> Floats:
    """-1 to 1 for each offset: the correlation of the picture there with ink that is darker than paper."""
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


def _refine(
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
