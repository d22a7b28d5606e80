"""The nearest wide glyphs of every pair of cells, without comparing each with all 45,000.

A page repeats its glyphs. Some pairs are looked up in the whole table; those that are clearly a glyph which was found
before take over its look-alikes, and a pair that overlaps a clear one is none.
"""

import numpy as np

from memory.archive.read.deadline import Deadline, unlimited
from memory.archive.read.shapes import Floats, Places, Shapes

_AT_ONCE = 512
_CLEARLY = 0.2  # of a pair's light may differ
_AS_NEAR = 1.6  # times the distance that a quarter of the pairs have from their glyph


class _Seen:
    """Glyphs that the page has, each with those that look like it: (n, most) places."""

    def __init__(self, wide: Shapes, most: int) -> None:
        self._wide = wide
        self.places: Places = np.zeros(0, np.intp)
        self.alike: Places = np.zeros((0, most), np.intp)

    def add(self, alike: Places) -> None:
        places, first = np.unique(alike[:, 0], return_index=True)
        new = ~np.isin(places, self.places)
        self.places = np.concatenate([self.places, places[new]])
        self.alike = np.concatenate([self.alike, alike[first[new]]])

    def nearest(self, told: Floats) -> tuple[Places, Floats]:
        """For each description: which of the glyphs, and its squared distance."""
        table = self._wide.told[self.places]
        away = (told * told).sum(axis=1)[:, None] + (table * table).sum(axis=1) - 2 * told @ table.T
        best = away.argmin(axis=1)
        return best, away[np.arange(len(told)), best]


def nearest_wide(
    told: Floats, at: Places, wide: Shapes, most: int, deadline: Deadline | None = None
) -> tuple[Places, Floats]:
    """As `wide.nearest`, for the pairs of cells that begin `at` (ascending). Raises OutOfTime."""
    found, away = np.zeros((len(told), most), np.intp), np.zeros((len(told), most), np.float32)
    light = (told * told).sum(axis=1)
    overlapped = np.zeros(int(at[-1]) + 3 if len(at) else 0, np.bool_)
    seen, limit = _Seen(wide, most), 0.0
    left: Places = np.random.default_rng(1).permutation(len(told))
    until = deadline or unlimited()
    while len(left):
        until.check()
        some, left = left[:_AT_ONCE], left[_AT_ONCE:]
        found[some], away[some] = wide.nearest(told[some], most)
        limit = limit or _AS_NEAR * float(np.quantile(away[some, 0], 0.25))
        clear = some[away[some, 0] < np.minimum(limit, _CLEARLY * light[some])]
        if not len(clear) or not len(left):
            continue
        seen.add(found[clear])
        which, near = seen.nearest(told[left])
        is_clear = near < np.minimum(limit, _CLEARLY * light[left])
        for beside in (at[clear], at[left[is_clear]]):
            overlapped[beside + 1] = True
            overlapped[np.maximum(beside - 1, 0)] = True
        done = is_clear | overlapped[at[left]]
        found[left[done]], away[left[done]] = _ranked(told[left[done]], seen.alike[which[done]], wide)
        left = left[~done]
    return found, away


def _ranked(told: Floats, candidates: Places, wide: Shapes) -> tuple[Places, Floats]:
    """These candidates, the nearest first, and their squared distances."""
    away = np.empty(candidates.shape, np.float32)
    for at in range(0, len(told), 512):
        apart = wide.told[candidates[at : at + 512]] - told[at : at + 512, None]
        away[at : at + 512] = (apart * apart).sum(axis=2)
    order = np.argsort(away, axis=1)
    rows = np.arange(len(told))[:, None]
    return candidates[rows, order], away[rows, order]
