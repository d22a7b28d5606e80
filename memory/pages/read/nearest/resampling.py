"""How a picture's pixels came from a page's, along one axis, and the way back.

Scaling a page is linear and separable: picture = Y · page · Xᵀ. `Axis.weights` is such a Y or X, built as Pillow builds
its own (libImaging/Resample.c: a kernel widened by the factor of reduction, its weights summing to one).

Products with matrices whose rows reach only a few columns: each page pixel's light falls on a few picture pixels.
"""

from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from memory.pages.read.arrays import Floats

_BLOCK = 96  # rows taken together


class BandedMatrix:
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


KERNELS = ("bicubic", "lanczos", "bilinear", "box", "nearest")
"""How pictures are scaled, the likeliest first."""

_DAMPING = 0.003  # of a page pixel's own weight: what is lost in reduction is not made up from noise


class Axis:
    """One axis of a page within a picture: `size` page pixels from `start` (picture pixels), `scale` picture to a page.

    `first` and `last` bound the picture's pixels that lie on the page; `weights` is (last - first, size) float32.
    """

    def __init__(self, start: float, scale: float, size: int, extent: int, kernel: str) -> None:
        self.start, self.scale, self.size = start, scale, size
        self.first = max(0, int(np.floor(start + 0.49)))
        self.last = min(extent, int(np.ceil(start + scale * size - 0.49)))
        self.kernel = kernel
        self.weights = _weights(start - self.first, scale, size, self.last - self.first, kernel)

    def moved(self, start: float, scale: float) -> Floats:
        """The weights of the same pixels, were the page there."""
        kernel = "bilinear" if self.kernel == "nearest" else self.kernel  # a step has no slope
        return _weights(start - self.first, scale, self.size, self.last - self.first, kernel)

    @cached_property
    def inverse(self) -> Floats:
        """(size, pixels): the page as the picture's pixels tell it, least squares with a little damping."""
        return np.linalg.solve(self._damped, self.weights.T)

    def on_page(self, lines: Floats) -> Floats:
        """(n, size) page pixels from (n, pixels) of the picture, as by `inverse`, which costs more for a few lines."""
        if "inverse" in self.__dict__:
            return lines @ self.inverse.T
        return np.linalg.solve(self._damped, self.weights.T @ lines.T).T

    @cached_property
    def _damped(self) -> Floats:
        return self.gram + _DAMPING * max(self.scale, 0.5) * _one(self.size)

    @cached_property
    def forth(self) -> BandedMatrix:
        """From page to picture: `weights`."""
        return BandedMatrix(self.weights)

    @cached_property
    def back(self) -> BandedMatrix:
        """From picture to page: the transpose of `weights`."""
        return BandedMatrix(self.weights.T)

    @cached_property
    def shared(self) -> BandedMatrix:
        """`gram`."""
        return BandedMatrix(self.gram)

    @cached_property
    def gram(self) -> Floats:
        """(size, size): how much of one page pixel's light two of them share in the picture."""
        return self.back.left(self.weights)


@lru_cache(maxsize=16)
def axis(start: float, scale: float, size: int, extent: int, kernel: str) -> Axis:
    """The same, kept for the next page of the same make: a batch of pages is scaled alike."""
    return Axis(start, scale, size, extent, kernel)


def _weights(start: float, scale: float, size: int, pixels: int, kernel: str) -> Floats:
    centre = (np.arange(pixels) + 0.5 - start) / scale  # in page pixels
    if kernel == "nearest":
        steps = np.full(pixels, 1 / scale)
        steps[0] = (0.5 - start) / scale
        source = np.clip(steps.cumsum().astype(np.intp), 0, size - 1)  # summed as Pillow does, to its last bit
        weights = np.zeros((pixels, size), np.float32)
        weights[np.arange(pixels), source] = 1
        return weights
    widened = max(1.0, 1 / scale)
    at = (np.arange(size) + 0.5 - centre[:, None]) / widened
    shape = _SHAPES[kernel](at)
    total = shape.sum(axis=1, keepdims=True)
    return (shape / np.where(np.abs(total) < 1e-6, 1, total)).astype(np.float32)


def _one(size: int) -> Floats:
    return np.eye(size, dtype=np.float32)


def _bicubic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    x = np.abs(x)
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _lanczos(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0.0)


def _bilinear(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(1 - np.abs(x), 0.0)


def _box(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return ((x > -0.5) & (x <= 0.5)).astype(np.float64)


_SHAPES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "bicubic": _bicubic,
    "lanczos": _lanczos,
    "bilinear": _bilinear,
    "box": _box,
}
