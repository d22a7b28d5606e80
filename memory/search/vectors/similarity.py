"""Similarity of entries to one question: the highest cosine of an entry's passages.

Dot products of one int8 vector with many, exactly and at the speed of memory.

By NumKong where it is installed: 1,000,000 × 384 takes 1.4 times what reading the bytes takes. Without it numpy, some
five times as long. No approximate index: to a million none is needed.
"""

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memory.search.column import Column
from memory.search.vectors.segment import VectorSegment

VectorMatrix = NDArray[np.int8]
DotProduct = Callable[[VectorMatrix, VectorMatrix, NDArray[np.float64]], None]
"""(query of (1, d), rows of (n, d), out of (1, n)): `out` is filled."""

AT_ONCE = 32_768  # rows: their results, 256 kB, stay in a core's own cache
_NUMPY_ROWS = 1024


def quantised(vector: NDArray[np.floating]) -> VectorMatrix:
    """int8 (n, d) of float (n, d): each row scaled so that its largest number is 127, which cosines ignore."""
    largest = np.abs(vector).max(axis=1, keepdims=True)
    return np.rint(vector * (127.0 / np.maximum(largest, 1e-12))).astype(np.int8)


def inverse_lengths(rows: VectorMatrix) -> NDArray[np.float32]:
    """1 / length of each row; 0 for a row of zeros, which means no vector."""
    lengths = np.sqrt(np.square(rows, dtype=np.float32).sum(axis=1))
    return np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def scores(query: VectorMatrix, rows: VectorMatrix, inverse: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """Scores of the query (1, d) with each row (n, d), into `out` (n,): the cosine, times the length of the query.

    `inverse` are the rows' inverse lengths; a row without one scores 0.
    """
    dots = kernel()
    room = np.empty((1, min(AT_ONCE, max(len(rows), 1))))
    for start in range(0, len(rows), AT_ONCE):
        end = min(start + AT_ONCE, len(rows))
        dot_products, part = room[:, : end - start], out[start:end]
        dots(query, rows[start:end], dot_products)
        part[:] = dot_products[0]  # to float32 first: twice as fast as a product that casts
        part *= inverse[start:end]


@cache
def kernel() -> DotProduct:
    """NumKong's, where it is installed and computes correctly on this machine."""
    try:
        library: Any = importlib.import_module("numkong")
        return _verified(_by_numkong(library))
    except Exception:  # a native library may fail on an untested processor
        return by_numpy


def by_numpy(query: VectorMatrix, rows: VectorMatrix, out: NDArray[np.float64]) -> None:
    """Products of int8 are whole numbers below 2²⁴ for up to a thousand dimensions: float32 holds them."""
    wanted = query[0].astype(np.float32)
    room = np.empty((min(_NUMPY_ROWS, max(len(rows), 1)), rows.shape[1]), np.float32)
    for start in range(0, len(rows), _NUMPY_ROWS):
        part = rows[start : start + _NUMPY_ROWS]
        np.copyto(room[: len(part)], part)
        out[0, start : start + len(part)] = room[: len(part)] @ wanted


def _by_numkong(library: Any) -> DotProduct:
    def dots(query: VectorMatrix, rows: VectorMatrix, out: NDArray[np.float64]) -> None:
        library.cdist(query, rows, metric="dot", out=out)

    return dots


def _verified(dots: DotProduct) -> DotProduct:
    """The function; raises ArithmeticError where its results differ from numpy's."""
    chance = np.random.default_rng(1)
    for dimensions in (7, 384, 1000):
        rows = chance.integers(-128, 128, (9, dimensions), dtype=np.int8)
        results, wanted = np.empty((1, 8)), np.empty((1, 8))
        dots(rows[:1], rows[1:], results)
        by_numpy(rows[:1], rows[1:], wanted)
        if not np.allclose(results, wanted, rtol=1e-6):
            raise ArithmeticError("numkong counts wrong here")
    return dots


RowFilter = Callable[[Column], Column]
"""Filter of entries that may be found."""

_SAMPLE = 4096
_WIDER = 8  # where too few of the nearest pass the filter, so many times as many are tried


class Similarity(Protocol):
    """Similarity to one question."""

    def nearest(self, most: int, may: RowFilter) -> tuple[Column, Column]:
        """Entries' seqs and cosines (f4), best first."""
        ...

    def of(self, entries: Column) -> Column:
        """Cosines of these entries (f4); NaN where an entry has no vector."""
        ...


class SegmentSimilarity:
    """A Similarity over a snapshot of the segments."""

    def __init__(self, segments: Sequence[VectorSegment], vector: NDArray[np.float32]) -> None:
        self._segments = segments
        self._query = quantised(vector.reshape(1, -1))
        self._inverse = inverse_lengths(self._query)[0]
        self._scanned: list[Column] | None = None

    def nearest(self, most: int, may: RowFilter) -> tuple[Column, Column]:
        scanned = self._scores()
        rows = sum(map(len, scanned))
        wanted = 4 * most
        while True:
            least = _threshold(scanned, wanted, rows) if wanted < rows else -np.inf
            entries, best = self._above(scanned, least, may)
            if len(entries) >= most or wanted >= rows:
                return entries[:most], best[:most] * self._inverse
            wanted *= _WIDER

    def of(self, entries: Column) -> Column:
        entries = np.asarray(entries, np.int64)
        cosines = np.full(len(entries), np.nan, np.float32)
        for segment in self._segments:
            first, last = segment.places(entries)
            is_here = np.flatnonzero(last > first)
            if len(is_here):
                best = self._best(segment, first[is_here], last[is_here])
                cosines[is_here] = np.fmax(cosines[is_here], best)
        return cosines

    def _best(self, segment: VectorSegment, first: Column, last: Column) -> Column:
        """The highest cosine of each run of rows; NaN where none of them has a vector."""
        counts = last - first
        starts = np.cumsum(counts) - counts
        rows = np.repeat(first - starts, counts) + np.arange(int(counts.sum()))
        inverse = segment.rows.inverse[rows]
        values = np.empty(len(rows), np.float32)
        scores(self._query, segment.rows.vectors[rows], inverse, values)
        values[inverse == 0] = np.nan
        return np.fmax.reduceat(values, starts) * self._inverse

    def _scores(self) -> list[Column]:
        """Every row's score, an array per segment; 0 where there is no vector."""
        if self._scanned is None:
            arrays: list[Column] = []
            for segment in self._segments:
                row_scores = np.empty(segment.header.rows, np.float32)
                scores(self._query, segment.rows.vectors, segment.rows.inverse, row_scores)
                arrays.append(row_scores)
            self._scanned = arrays
        return self._scanned

    def _above(self, scanned: list[Column], least: float, may: RowFilter) -> tuple[Column, Column]:
        """Entries that pass the filter and have a row with at least this score, and the best of each, best first."""
        entries, best = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
        for segment, row_scores in zip(self._segments, scanned, strict=True):
            rows = np.flatnonzero(row_scores >= least)
            rows = rows[(segment.rows.inverse[rows] > 0) & (segment.rows.entry[rows] > 0)]
            entries.append(segment.rows.entry[rows])
            best.append(row_scores[rows])
        found, score = np.concatenate(entries), np.concatenate(best)
        allowed = may(found)
        found, score = found[allowed], score[allowed]
        order = np.lexsort((found, -score))
        _, firsts = np.unique(found[order], return_index=True)
        firsts = order[np.sort(firsts)]
        return found[firsts], score[firsts]


class RenumberedSimilarity:
    """A Similarity with renumbered entries: number n is entry keys[n]."""

    def __init__(self, inner: Similarity, keys: Column) -> None:
        self._inner = inner
        self._keys = keys

    def nearest(self, most: int, may: RowFilter) -> tuple[Column, Column]:
        numbers = np.arange(len(self._keys))
        numbers = numbers[may(numbers)]
        scores = self.of(numbers)
        has = ~np.isnan(scores)
        numbers, scores = numbers[has], scores[has]
        order = np.argsort(-scores, kind="stable")[:most]
        return numbers[order], scores[order]

    def of(self, entries: Column) -> Column:
        return self._inner.of(self._keys[entries])


def _threshold(scanned: list[Column], wanted: int, rows: int) -> float:
    """Score that about twice as many rows as wanted reach, by a sample: sorting a million takes longer than the
    scan."""
    step = max(1, rows // _SAMPLE)
    sample = np.sort(np.concatenate([row_scores[::step] for row_scores in scanned]))
    index = int(len(sample) * (1 - 2 * wanted / rows))
    return float(sample[index]) if index > 0 else -np.inf
