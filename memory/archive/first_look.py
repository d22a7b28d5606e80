"""A first look at the cells: which glyphs each may be, and where wide ones begin, before they are weighed in context."""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memory.archive.shapes import Floats, Places, Shapes

_SURE = 0.4  # no pixel of the cell is further from the glyph's than this: it is that glyph
_NARROW_MOST, _WIDE_MOST = 12, 16
_NEVER = np.float32(1e9)


class Items(Struct, frozen=True):
    """Glyphs of one width on the page: `row` and `column` (n,), and `candidates` (n, k) places, the likeliest first."""

    row: Places
    column: Places
    candidates: Places
    open: NDArray[np.bool_]  # (n,) False where the first candidate is beyond doubt


def first_look(cells: Floats, narrow: Shapes, wide: Shapes) -> tuple[Items, Items]:
    """The narrow and the wide glyphs that the cells (rows, columns, h, w) seem to hold; each cell is in one of them."""
    rows, columns = cells.shape[:2]
    flat = cells.reshape(rows * columns, *cells.shape[2:])
    candidates, away, sure = _narrow(flat, narrow)
    pairs = _pairs(sure.reshape(rows, columns))
    wide_candidates, wide_away = _wide(cells, pairs, wide)
    wide_cost = np.full(rows * columns, _NEVER, np.float32)
    wide_cost[pairs] = wide_away[:, 0]
    starts = _cheapest(away[:, 0].reshape(rows, columns), wide_cost.reshape(rows, columns)).ravel()
    begun = np.flatnonzero(starts)
    covered = starts.copy()
    covered[begun + 1] = True
    single = np.flatnonzero(~covered)
    at = np.searchsorted(pairs, begun)
    sure_wide = np.zeros(len(begun), np.bool_)
    return (
        Items(single // columns, single % columns, candidates[single], ~sure[single]),
        Items(begun // columns, begun % columns, wide_candidates[at], ~sure_wide),
    )


def _narrow(flat: Floats, narrow: Shapes) -> tuple[Places, Floats, NDArray[np.bool_]]:
    """Candidates, their distances, and which cells are beyond doubt. Cells alike to the bit are looked up once."""
    candidates = np.zeros((len(flat), _NARROW_MOST), np.intp)
    away = np.zeros((len(flat), _NARROW_MOST), np.float32)
    blank = np.abs(flat).max(axis=(1, 2)) < _SURE
    candidates[blank] = narrow.place[0x20]
    inked = np.flatnonzero(~blank)
    candidates[inked], away[inked] = narrow.nearest(flat[inked], _NARROW_MOST)
    sure = blank.copy()
    for at in range(0, len(inked), 4096):
        some = inked[at : at + 4096]
        sure[some] = np.abs(flat[some] - narrow.ink(candidates[some, 0])).max(axis=(1, 2)) < _SURE
    return candidates, away, sure


def _pairs(sure: NDArray[np.bool_]) -> Places:
    """Where a wide glyph may begin: no glyph's left half is like a narrow glyph, so not where one is beyond doubt."""
    begins = ~sure
    begins[:, -1] = False
    return np.flatnonzero(begins)


def _wide(cells: Floats, pairs: Places, wide: Shapes) -> tuple[Places, Floats]:
    rows, columns, height, width = cells.shape
    flat = cells.reshape(rows * columns, height, width)
    candidates = np.zeros((len(pairs), _WIDE_MOST), np.intp)
    away = np.zeros((len(pairs), _WIDE_MOST), np.float32)
    for at in range(0, len(pairs), 2048):
        some = pairs[at : at + 2048]
        both = np.concatenate([flat[some], flat[some + 1]], axis=2)
        candidates[at : at + 2048], away[at : at + 2048] = wide.nearest(both, _WIDE_MOST)
    return candidates, away


def _cheapest(narrow: Floats, wide: Floats) -> NDArray[np.bool_]:
    """(rows, columns): where wide glyphs begin, so that each row's distances sum to the least (Viterbi)."""
    rows, columns = narrow.shape
    total = np.zeros((columns + 1, rows), np.float32)
    by_wide = np.zeros((columns + 1, rows), np.bool_)
    total[1] = narrow[:, 0]
    for column in range(2, columns + 1):
        one = total[column - 1] + narrow[:, column - 1]
        two = total[column - 2] + wide[:, column - 2]
        by_wide[column] = two < one
        total[column] = np.minimum(one, two)
    starts = np.zeros((rows, columns), np.bool_)
    at = np.full(rows, columns)
    every = np.arange(rows)
    while (at > 0).any():
        takes = by_wide[at, every] & (at > 0)
        starts[every[takes], at[takes] - 2] = True
        at = np.maximum(at - 1 - takes, 0)
    return starts
