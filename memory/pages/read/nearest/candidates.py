"""A look at the cells one by one: which glyphs each may be, and where wide ones begin.

The nearest wide glyphs of every pair of cells, without comparing each with all 45,000.

A page repeats its glyphs. Some pairs are looked up in the whole table; those that are clearly a glyph which was found
before take over its look-alikes, and a pair that overlaps a clear one is none.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memory.pages.read.arrays import Floats, Indices
from memory.pages.read.deadline import Deadline, unlimited
from memory.pages.read.nearest.shapes import GlyphShapes

_AT_ONCE = 512
_CLEARLY_OF_A_PAIR = 0.2  # of a pair's light may differ
_AS_NEAR = 1.6  # times the distance that a quarter of the pairs have from their glyph


class _GlyphNeighbours:
    """Glyphs that the page has, each with those that look like it: (n, most) places."""

    def __init__(self, wide: GlyphShapes, most: int) -> None:
        self._wide = wide
        self.places: Indices = np.zeros(0, np.intp)
        self.alike: Indices = np.zeros((0, most), np.intp)

    def add(self, alike: Indices) -> None:
        rows, first = np.unique(alike[:, 0], return_index=True)
        new = ~np.isin(rows, self.places)
        self.places = np.concatenate([self.places, rows[new]])
        self.alike = np.concatenate([self.alike, alike[first[new]]])

    def nearest(self, features: Floats) -> tuple[Indices, Floats]:
        """For each description: which of the glyphs, and its squared distance."""
        table = self._wide.features[self.places]
        away = (features * features).sum(axis=1)[:, None] + (table * table).sum(axis=1) - 2 * features @ table.T
        best = away.argmin(axis=1)
        return best, away[np.arange(len(features)), best]


def nearest_wide(
    features: Floats, at: Indices, wide: GlyphShapes, most: int, deadline: Deadline | None = None
) -> tuple[Indices, Floats]:
    """As `wide.nearest`, for the pairs of cells that begin `at` (ascending). Raises DeadlineExceeded."""
    neighbours, distances = np.zeros((len(features), most), np.intp), np.zeros((len(features), most), np.float32)
    light = (features * features).sum(axis=1)
    overlapped = np.zeros(int(at[-1]) + 3 if len(at) else 0, np.bool_)
    cache, limit = _GlyphNeighbours(wide, most), 0.0
    left: Indices = np.random.default_rng(1).permutation(len(features))
    until = deadline or unlimited()
    while len(left):
        until.check()
        batch, left = left[:_AT_ONCE], left[_AT_ONCE:]
        neighbours[batch], distances[batch] = wide.nearest(features[batch], most)
        limit = limit or _AS_NEAR * float(np.quantile(distances[batch, 0], 0.25))
        clear = batch[distances[batch, 0] < np.minimum(limit, _CLEARLY_OF_A_PAIR * light[batch])]
        if not len(clear) or not len(left):
            continue
        cache.add(neighbours[clear])
        which, near = cache.nearest(features[left])
        is_clear = near < np.minimum(limit, _CLEARLY_OF_A_PAIR * light[left])
        for group in (at[clear], at[left[is_clear]]):
            overlapped[group + 1] = True
            overlapped[np.maximum(group - 1, 0)] = True
        done = is_clear | overlapped[at[left]]
        neighbours[left[done]], distances[left[done]] = _ranked(features[left[done]], cache.alike[which[done]], wide)
        left = left[~done]
    return neighbours, distances


def _ranked(features: Floats, candidates: Indices, wide: GlyphShapes) -> tuple[Indices, Floats]:
    """These candidates, the nearest first, and their squared distances."""
    away = np.empty(candidates.shape, np.float32)
    for at in range(0, len(features), 512):
        apart = wide.features[candidates[at : at + 512]] - features[at : at + 512, None]
        away[at : at + 512] = (apart * apart).sum(axis=2)
    order = np.argsort(away, axis=1)
    rows = np.arange(len(features))[:, None]
    return candidates[rows, order], away[rows, order]


_SURE = 0.4  # no pixel of the cell is further from the glyph's than this: it is that glyph
_NARROW_MOST, _WIDE_MOST, _KNOWN_MOST = 12, 16, 16
_MOST_WEIGHED = 16
_COMMON = 10.0  # nats: a glyph less expected than that is never beyond doubt; a speck makes a dot an odd letter
_CLEARLY = 0.15  # of a cell's light may differ
_STROKES = (0x2500, 0x2501, 0x2504, 0x2505, 0x2508, 0x2509, 0x254C, 0x254D)  # what half of 一 looks like
_NEVER = np.float32(1e9)
_LEAST_NOISE = 0.03**2


class GlyphItems(Struct, frozen=True):
    """Glyphs of one width on the page: `row` and `column` (n,), and `candidates` (n, k) places, the likeliest first."""

    row: Indices
    column: Indices
    candidates: Indices
    open: NDArray[np.bool_]  # (n,) False where the first candidate is beyond doubt


class GlyphCandidates:
    """Each cell's nearest glyphs, and each pair's. Cells are (rows, columns, h, w); `expected` as for `items`.

    Raises DeadlineExceeded.
    """

    def __init__(
        self, cells: Floats, narrow: GlyphShapes, wide: GlyphShapes, expected: Floats, deadline: Deadline
    ) -> None:
        self.rows, self.columns = cells.shape[:2]
        self._kinds = (narrow, wide)
        flat = cells.reshape(self.rows * self.columns, *cells.shape[2:])
        self._features = (narrow.describe(flat), np.zeros((0, 0), np.float32))
        candidates, away, self.sure = _singles(flat, narrow)
        self.sure &= (expected[candidates[:, 0]] < _COMMON) & ~np.isin(narrow.codes[candidates[:, 0]], _STROKES)
        plain = self.sure | _letters(narrow, candidates[:, 0], away[:, 0], self._features[0])
        self.pairs = _pairs(self.sure.reshape(self.rows, self.columns), plain.reshape(self.rows, self.columns))
        both = np.concatenate([flat[self.pairs], flat[self.pairs + 1]], axis=2)
        self._features = (self._features[0], wide.describe(both))
        wide_candidates, wide_away = nearest_wide(self._features[1], self.pairs, wide, _WIDE_MOST, deadline)
        self._candidates, self._away = (candidates, wide_candidates), (away, wide_away)
        self.noise = self._misfit()

    def items(self, expected: tuple[Floats, Floats], known: tuple[Indices, Indices]) -> tuple[GlyphItems, GlyphItems]:
        """The narrow and the wide glyphs that are likeliest together, every cell in one of them.

        `expected` are the nats against each glyph; `known` are glyphs that the page has elsewhere: they stand for
        election in every cell.
        """
        self.sure &= expected[0][self._candidates[0][:, 0]] < _COMMON
        every: Indices = np.arange(self.rows * self.columns, dtype=np.intp)
        narrow, narrow_cost = self._ranked(0, expected[0], known[0], every)
        wide, wide_cost = self._ranked(1, expected[1], known[1], self.pairs)
        narrow_cost[self.sure] = 0
        begins = np.full(self.rows * self.columns, _NEVER, np.float32)
        begins[self.pairs] = wide_cost
        shape = (self.rows, self.columns)
        starts = _cheapest(narrow_cost.reshape(shape), begins.reshape(shape)).ravel()
        first_rows = np.flatnonzero(starts)
        starts[first_rows + 1] = True
        single = np.flatnonzero(~starts)
        at = np.searchsorted(self.pairs, first_rows)
        return (
            GlyphItems(single // self.columns, single % self.columns, narrow[single], ~self.sure[single]),
            GlyphItems(
                first_rows // self.columns, first_rows % self.columns, wide[at], np.ones(len(first_rows), np.bool_)
            ),
        )

    def _ranked(self, kind: int, expected: Floats, known: Indices, cells: Indices) -> tuple[Indices, Floats]:
        """Candidates (n, k), the likeliest first, and the first's nats."""
        candidates, away = self._candidates[kind], self._away[kind]
        if len(known):
            more, further = self._among(kind, known)
            candidates, away = np.concatenate([candidates, more], axis=1), np.concatenate([away, further], axis=1)
        cost = away / (2 * self.noise) + expected[candidates]
        if kind == 0:
            cost[self.sure, 0] = -1  # what is beyond doubt stays first
        order = np.argsort(cost, axis=1, kind="stable")
        rows = np.arange(len(cells))[:, None]
        order = order[:, :_MOST_WEIGHED]
        return candidates[rows, order], cost[rows, order[:, :1]][:, 0]

    def _among(self, kind: int, known: Indices) -> tuple[Indices, Floats]:
        """The nearest of the glyphs that are known, and their squared distances."""
        features, table = self._features[kind], self._kinds[kind].features[known]
        most = min(_KNOWN_MOST, len(known))
        candidates = np.zeros((len(features), most), np.intp)
        away = np.zeros((len(features), most), np.float32)
        norms = (table * table).sum(axis=1)
        for at in range(0, len(features), 1024):
            batch = features[at : at + 1024]
            distance = (batch * batch).sum(axis=1)[:, None] + norms - 2 * batch @ table.T
            best = np.argpartition(distance, most - 1, axis=1)[:, :most]
            candidates[at : at + 1024] = known[best]
            away[at : at + 1024] = np.take_along_axis(distance, best, axis=1)
        return candidates, np.maximum(away, 0)

    def _misfit(self) -> float:
        """The squared distance a number from the nearest glyph, in a middling cell with ink."""
        away = self._away[0][:, 0].copy()
        size, pair = self._features[0].shape[1], self._away[1][:, 0] / 2
        away[self.pairs] = np.minimum(away[self.pairs], pair)
        away[self.pairs + 1] = np.minimum(away[self.pairs + 1], pair)
        inked = away[away > 0]
        return max(float(np.median(inked)) / size, _LEAST_NOISE) if len(inked) else _LEAST_NOISE


def _singles(flat: Floats, narrow: GlyphShapes) -> tuple[Indices, Floats, NDArray[np.bool_]]:
    """Candidates, their distances, and which cells are beyond doubt."""
    candidates = np.zeros((len(flat), _NARROW_MOST), np.intp)
    away = np.zeros((len(flat), _NARROW_MOST), np.float32)
    blank = np.abs(flat).max(axis=(1, 2)) < _SURE
    candidates[blank] = narrow.place[0x20]
    inked = np.flatnonzero(~blank)
    candidates[inked], away[inked] = narrow.nearest(narrow.describe(flat[inked]), _NARROW_MOST)
    sure = blank.copy()
    for at in range(0, len(inked), 4096):
        batch = inked[at : at + 4096]
        sure[batch] = np.abs(flat[batch] - narrow.ink(candidates[batch, 0])).max(axis=(1, 2)) < _SURE
    return candidates, away, sure


def _letters(narrow: GlyphShapes, first: Indices, distances: Floats, features: Floats) -> NDArray[np.bool_]:
    """Cells that are clearly a letter or digit of ASCII; no half of a wide glyph looks like one."""
    codes = narrow.codes[first]
    letters = np.zeros(0x80, np.bool_)
    letters[[code for code in range(0x80) if chr(code).isalnum()]] = True
    return letters[np.minimum(codes, 0x7F)] & (distances < _CLEARLY * (features * features).sum(axis=1))


def _pairs(sure: NDArray[np.bool_], plain: NDArray[np.bool_]) -> Indices:
    """Where a wide glyph may begin: no glyph's left half is like a narrow glyph, so not where one is beyond doubt."""
    begins = ~sure & ~plain
    begins[:, :-1] &= ~(plain & ~sure)[:, 1:]
    begins[:, -1] = False
    return np.flatnonzero(begins)


def _cheapest(narrow: Floats, wide: Floats) -> NDArray[np.bool_]:
    """(rows, columns): where wide glyphs begin, so that each row's costs sum to the least (Viterbi)."""
    rows, columns = narrow.shape
    total = np.zeros((columns + 1, rows), np.float32)
    by_wide = np.zeros((columns + 1, rows), np.bool_)
    total[1] = narrow[:, 0]
    for column in range(2, columns + 1):
        with_narrow = total[column - 1] + narrow[:, column - 1]
        two = total[column - 2] + wide[:, column - 2]
        by_wide[column] = two < with_narrow
        total[column] = np.minimum(with_narrow, two)
    starts = np.zeros((rows, columns), np.bool_)
    at = np.full(rows, columns)
    every: Indices = np.arange(rows, dtype=np.intp)
    while (at > 0).any():
        takes = by_wide[at, every] & (at > 0)
        starts[every[takes], at[takes] - 2] = True
        at = np.maximum(at - 1 - takes, 0)
    return starts
