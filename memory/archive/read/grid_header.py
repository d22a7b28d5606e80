"""The first words of every header, as a picture to look for: `PALIMPSEST-`."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.archive.draw.glyphs import glyphs
from memory.archive.draw.modes import Cell
from memory.archive.read.resampling import Axis

OPENING = "PALIMPSEST-"

Floats = NDArray[np.floating[Any]]


@cache
def opening(cell: Cell) -> Floats:
    """(cell height, 11 cells) of 0 and 1: the opening words' ink."""
    table = glyphs(cell)
    cells = table.cells[table.first_cell[np.frombuffer(OPENING.encode(), np.uint8)]]
    ink = np.unpackbits(cells[:, :, None], axis=2)[:, :, : cell.width]
    return np.concatenate(list(ink), axis=1).astype(np.float32)


def header_likeness(
    grey: NDArray[np.uint8], origin: tuple[float, float], scale: tuple[float, float], cell: Cell
) -> float:
    """-1 to 1: how far the opening words seem to stand there, ink darker than paper; below 0 where it is lighter."""
    ink = opening(cell)
    x = Axis(origin[0], scale[0], ink.shape[1], grey.shape[1], "bilinear")
    y = Axis(origin[1], scale[1], ink.shape[0], grey.shape[0], "bilinear")
    seen = 255.0 - grey[y.first : y.last, x.first : x.last].astype(np.float32)
    meant = y.weights @ ink @ x.weights.T
    if seen.shape != meant.shape or seen.size < 64:
        return 0.0
    seen, meant = seen - seen.mean(), meant - meant.mean()
    length = float(np.sqrt((seen * seen).sum() * (meant * meant).sum()))
    return float((seen * meant).sum()) / length if length > 1e-3 else 0.0
