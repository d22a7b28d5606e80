"""Which of a grid's cells have ink."""

import numpy as np
from numpy.typing import NDArray

_CONTRAST = 0.3  # of the picture's: what a cell has within it where something is written


def written(
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
