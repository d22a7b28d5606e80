"""Products with matrices whose rows reach only a few columns: each page pixel's light falls on a few picture pixels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

_BLOCK = 96  # rows taken together


class Banded:
    """A matrix (rows, columns) by its blocks of rows, each with the columns that it reaches."""

    def __init__(self, matrix: Floats) -> None:
        self._rows = matrix.shape[0]
        self._blocks = list[tuple[slice, slice, Floats]]()
        for at in range(0, self._rows, _BLOCK):
            rows = matrix[at : at + _BLOCK]
            reached = np.flatnonzero(rows.any(axis=0))
            first, last = (int(reached[0]), int(reached[-1]) + 1) if len(reached) else (0, 1)
            columns = slice(first, last)
            self._blocks.append((slice(at, at + len(rows)), columns, np.ascontiguousarray(rows[:, columns])))

    def left(self, other: Floats) -> Floats:
        """matrix @ other"""
        product = np.empty((self._rows, other.shape[1]), np.float32)
        for rows, columns, block in self._blocks:
            np.matmul(block, other[columns], out=product[rows])
        return product

    def right(self, other: Floats) -> Floats:
        """other @ matrixᵀ"""
        product = np.empty((other.shape[0], self._rows), np.float32)
        for rows, columns, block in self._blocks:
            product[:, rows] = other[:, columns] @ block.T
        return product
