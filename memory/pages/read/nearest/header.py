"""The header read by nearest glyph: each place allows few signs, and the CRC tells whether they are right.

Other readings of what is in doubt, the likeliest first, until a checksum says which is right.
"""

import heapq
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memory.pages.read.arrays import Floats
from memory.pages.read.nearest.shapes import GlyphShapes
from memory.pages.render.header import HEADER_CELLS, PageHeader, read_header


class Alternative(Struct, frozen=True):
    """`value` as an alternative to the reading at `at`; `cost` (nats, above 0) is how much less likely it is."""

    cost: float
    at: int
    value: int


def combinations(choices: Sequence[Alternative], most: int) -> Iterator[tuple[Alternative, ...]]:
    """Up to `most` sets of alternatives, no two for one place, by the sum of their costs from the least on.

    Sets grow by the next dearer alternative, or have their dearest replaced by it: each comes once, in order.
    """
    ranked = sorted(choices, key=lambda choice: choice.cost)
    if not ranked:
        return
    heap: list[tuple[float, tuple[int, ...]]] = [(ranked[0].cost, (0,))]
    count = 0
    while heap and count < most:
        cost, indexes = heapq.heappop(heap)
        chosen = tuple(ranked[n] for n in indexes)
        if len({choice.at for choice in chosen}) == len(chosen):
            count += 1
            yield chosen
        after = indexes[-1] + 1
        if after < len(ranked):
            heapq.heappush(heap, (cost + ranked[after].cost, (*indexes, after)))
            heapq.heappush(heap, (cost + ranked[after].cost - ranked[after - 1].cost, (*indexes[:-1], after)))


_HEX, _DIGIT, _ID = "0123456789abcdef", "0123456789", "0123456789abcdefghijklmnopqrstuvwxyz"
_MOST_TRIED = 3000
_LAYOUTS = (
    (
        "PALIMPSEST-2 ",
        8 * [_HEX],
        " pg_",
        12 * [_ID],
        " ",
        7 * [_DIGIT],
        " ",
        5 * [_DIGIT],
        " ",
        3 * [_HEX],
        " ",
        72 * [_HEX],
    ),
    (
        "PALIMPSEST-1 ",
        8 * [_HEX],
        " pg_",
        12 * [_ID],
        " ",
        7 * [_DIGIT],
        " ",
        5 * [_DIGIT],
        " ",
        64 * [_HEX],
        " ",
        8 * [_HEX],
    ),
)


def nearest_header(cells: Floats, narrow: GlyphShapes) -> PageHeader | None:
    """The header in the first 128 cells (n, h, w), where some likely reading of them has the right CRC."""
    if len(cells) < HEADER_CELLS:
        return None
    features = narrow.describe(cells[:HEADER_CELLS])
    away = _distances(features, narrow)
    allowed = _allowed()
    costs = [np.where(mask, away, np.inf) for mask in allowed]
    for cost in sorted(costs, key=lambda cost: float(cost.min(axis=1).sum())):
        if (header := _right(cost)) is not None:
            return header
    return None


def _right(cost: Floats) -> PageHeader | None:
    """The likeliest header with the right CRC, `cost` (128, signs)."""
    best = cost.argmin(axis=1)
    alphabet = list(_alphabet())
    words = [alphabet[int(n)] for n in np.asarray(best, np.intp)]
    if (header := read_header("".join(words))) is not None:
        return header
    above = cost - cost.min(axis=1, keepdims=True)
    positions, values = np.nonzero(np.isfinite(above) & (above > 0))
    choices = [
        Alternative(float(above[at, value]), int(at), int(value)) for at, value in zip(positions, values, strict=True)
    ]
    for combination in combinations(sorted(choices, key=lambda choice: choice.cost)[:64], _MOST_TRIED):
        other = words.copy()
        for choice in combination:
            other[choice.at] = alphabet[choice.value]
        if (header := read_header("".join(other))) is not None:
            return header
    return None


def _distances(features: Floats, narrow: GlyphShapes) -> Floats:
    """(128, signs): squared distances of each cell from each sign that a header may hold."""
    known = narrow.features[narrow.place[[ord(character) for character in _alphabet()]]]
    return ((features[:, None] - known[None]) ** 2).sum(axis=2)


@cache
def _alphabet() -> str:
    return "".join(
        sorted({character for layout in _LAYOUTS for part in layout for alphabet in part for character in alphabet})
    )


@cache
def _allowed() -> tuple[NDArray[np.bool_], ...]:
    """(128, characters) for each layout: the characters allowed at each position."""
    masks = list[NDArray[np.bool_]]()
    for layout in _LAYOUTS:
        alphabets = [alphabet for part in layout for alphabet in part]
        alphabets += " " * (HEADER_CELLS - len(alphabets))
        masks.append(np.array([[character in alphabet for character in _alphabet()] for alphabet in alphabets]))
    return tuple(masks)
