"""How near each entry is to one question: the best of its passages, by the cosine of their vectors."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory.search.postings.growing import Column
from memory.search.vectors.scan import inverse_lengths, quantised, scores
from memory.search.vectors.segment import Segment

May = Callable[[Column], Column]
"""Which of these entries may be found."""

_SAMPLE = 4096
_WIDER = 8  # where too few of the nearest may be found, so many times as many are looked at


class Nearness(Protocol):
    """One question, asked of the vectors."""

    def nearest(self, most: int, may: May) -> tuple[Column, Column]:
        """Entries' seqs and cosines (f4), best first."""
        ...

    def of(self, entries: Column) -> Column:
        """Cosines of these entries (f4); NaN where an entry has no vector."""
        ...


class Asked:
    """A Nearness over the segments as they stood when it was asked."""

    def __init__(self, segments: Sequence[Segment], vector: NDArray[np.float32]) -> None:
        self._segments = segments
        self._query = quantised(vector.reshape(1, -1))
        self._inverse = inverse_lengths(self._query)[0]
        self._scanned: list[Column] | None = None

    def nearest(self, most: int, may: May) -> tuple[Column, Column]:
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
        found = np.full(len(entries), np.nan, np.float32)
        for segment in self._segments:
            first, last = segment.places(entries)
            here = np.flatnonzero(last > first)
            if len(here):
                best = self._best(segment, first[here], last[here])
                found[here] = np.fmax(found[here], best)
        return found

    def _best(self, segment: Segment, first: Column, last: Column) -> Column:
        """Of each run of rows the highest cosine; NaN where none of them has a vector."""
        counts = last - first
        starts = np.cumsum(counts) - counts
        places = np.repeat(first - starts, counts) + np.arange(int(counts.sum()))
        inverse = segment.rows.inverse[places]
        found = np.empty(len(places), np.float32)
        scores(self._query, segment.rows.vectors[places], inverse, found)
        found[inverse == 0] = np.nan
        return np.fmax.reduceat(found, starts) * self._inverse

    def _scores(self) -> list[Column]:
        """Every row's score, a segment each; 0 where there is no vector."""
        if self._scanned is None:
            found: list[Column] = []
            for segment in self._segments:
                some = np.empty(segment.header.rows, np.float32)
                scores(self._query, segment.rows.vectors, segment.rows.inverse, some)
                found.append(some)
            self._scanned = found
        return self._scanned

    def _above(self, scanned: list[Column], least: float, may: May) -> tuple[Column, Column]:
        """Entries that may be found with a row of at least so much, and the best of each, best first."""
        entries, best = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
        for segment, some in zip(self._segments, scanned, strict=True):
            places = np.flatnonzero(some >= least)
            places = places[(segment.rows.inverse[places] > 0) & (segment.rows.entry[places] > 0)]
            entries.append(segment.rows.entry[places])
            best.append(some[places])
        found, score = np.concatenate(entries), np.concatenate(best)
        allowed = may(found)
        found, score = found[allowed], score[allowed]
        order = np.lexsort((found, -score))
        _, firsts = np.unique(found[order], return_index=True)
        firsts = order[np.sort(firsts)]
        return found[firsts], score[firsts]


class Renumbered:
    """A Nearness whose entries go by other numbers: number n stands for keys[n]."""

    def __init__(self, inner: Nearness, keys: Column) -> None:
        self._inner = inner
        self._keys = keys

    def nearest(self, most: int, may: May) -> tuple[Column, Column]:
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
    """What about twice as many rows as wanted reach, by a sample: sorting a million takes longer than the scan."""
    step = max(1, rows // _SAMPLE)
    sample = np.sort(np.concatenate([some[::step] for some in scanned]))
    place = int(len(sample) * (1 - 2 * wanted / rows))
    return float(sample[place]) if place > 0 else -np.inf
