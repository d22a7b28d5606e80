"""The glyph table as shapes to compare with: each glyph's ink, and a short description that blur hardly changes.

What a page's own glyphs say about its doubtful ones: a page of English has few Cherokee letters.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from memory.pages.font.glyphs import FILLER, Glyphs, load_glyphs
from memory.pages.read.arrays import Floats, Indices
from memory.pages.render.modes import Cell

_KEPT = 0.625  # of the frequencies: those that a page still has when scaled to 0.7
_BATCH = 4096


class GlyphShapes:
    """All narrow glyphs, or all wide ones. `codes` (n,); `features` (n, d); `size` is their (h, w)."""

    def __init__(self, table: Glyphs, *, wide: bool) -> None:
        self._cells, self._cell = table.cells, table.cell
        self._wide = wide
        first = table.narrow if wide else 0
        count = (len(table.cells) - table.narrow) // 2 if wide else table.narrow
        self.size = (table.cell.height, table.cell.width * (2 if wide else 1))
        self._first = first + np.arange(count) * (2 if wide else 1)
        known = np.flatnonzero(table.first_cell >= 0)
        by_cell = known[np.argsort(table.first_cell[known])]
        self.codes: NDArray[np.int32] = (by_cell[table.narrow :] if wide else by_cell[: table.narrow]).astype(np.int32)
        self.place: NDArray[np.int32] = np.full(len(table.first_cell), -1, np.int32)  # of a code, within `codes`
        self.place[self.codes] = np.arange(count, dtype=np.int32)
        self.features: Floats = np.concatenate(
            [self.describe(self.ink(np.arange(at, min(at + _BATCH, count)))) for at in range(0, count, _BATCH)]
        )
        self._half_norms: Floats = (self.features * self.features).sum(axis=1) / 2

    def ink(self, at: Indices) -> Floats:
        """(…, h, w) of 0 and 1, for places within `codes`."""
        first = self._first[at]
        halves = (first, first + 1) if self._wide else (first,)
        bits = [np.unpackbits(self._cells[half][..., None], axis=-1)[..., : self._cell.width] for half in halves]
        return np.concatenate(bits, axis=-1).astype(np.float32)

    def describe(self, ink: Floats) -> Floats:
        """(n, d) of (n, h, w): the low frequencies. Distances between them are at most those between the inks."""
        down, across = _cosines(self.size[0]), _cosines(self.size[1])
        return (down @ ink @ across.T).reshape(len(ink), len(down) * len(across))

    def nearest(self, features: Floats, most: int) -> tuple[Indices, Floats]:
        """(n, most) places of the glyphs nearest to each description, nearest first, and their squared distances.

        In batches of bounded memory. Two of the nearest are missed where they fall in one block of 128 together; the
        table's order is stirred so that look-alikes, which are neighbours in Unicode, do not.
        """
        neighbours = np.empty((len(features), most), np.intp)
        away = np.empty((len(features), most), np.float32)
        for at in range(0, len(features), 256):
            batch = features[at : at + 256]
            neighbours[at : at + 256], away[at : at + 256] = self._nearest(batch, most)
        return neighbours, away

    def _nearest(self, features: Floats, most: int) -> tuple[Indices, Floats]:
        order, table, half_norms = self._stirred()
        likeness = (features @ table - half_norms).reshape(len(features), -1, 128)
        blocks = likeness.max(axis=2)
        best = np.argpartition(blocks, -most, axis=1)[:, -most:]
        rows = np.arange(len(features))[:, None]
        within = likeness[rows, best].argmax(axis=2)
        value = blocks[rows, best]
        ranked = np.argsort(-value, axis=1)
        neighbours = order[(best * 128 + within)[rows, ranked]]
        away = (features * features).sum(axis=1)[:, None] - 2 * value[rows, ranked]
        return neighbours, np.maximum(away, 0)

    def _stirred(self) -> tuple[Indices, Floats, Floats]:
        if not hasattr(self, "_order"):
            count = len(self.codes)
            padded = -(-count // 128) * 128
            order = np.random.default_rng(1).permutation(padded)
            self._order = np.where(order < count, order, 0)
            table = self.features[self._order]
            norms = np.where(order < count, self._half_norms[self._order], np.float32(np.inf))
            self._table, self._norms = np.ascontiguousarray(table.T), norms.astype(np.float32)
        return self._order, self._table, self._norms


@cache
def load_shapes(cell: Cell) -> tuple[GlyphShapes, GlyphShapes]:
    """The narrow and the wide glyphs of that cell's table, made once a process."""
    return GlyphShapes(load_glyphs(cell), wide=False), GlyphShapes(load_glyphs(cell), wide=True)


@cache
def _cosines(length: int) -> Floats:
    """(kept, length): the first rows of the orthonormal cosine transform (DCT-II)."""
    count = round(length * _KEPT)
    wave = np.cos(np.pi / length * np.arange(count)[:, None] * (np.arange(length) + 0.5))
    return (wave * np.where(np.arange(count) == 0, 1 / length, 2 / length)[:, None] ** 0.5).astype(np.float32)


_BLOCK = 256  # code points that count as one script
_OWN, _KIN = 0.6, 0.35  # how much of the expectation is the page's glyphs, and how much their scripts; the rest is any
_ESTABLISHED, _LEAST_SHARE = 6, 0.01  # different glyphs, and share of the page, of a script that is really there
_EVERYWHERE = 0.05
_COMMON = (  # first, last, and how much of any text they are together
    (0x20, 0x7E, 0.5),
    (0x0A, 0x0A, 0.02),
    (0x4E00, 0x9FFF, 0.3),
    (0x3000, 0x30FF, 0.05),
    (0xAC00, 0xD7A3, 0.05),
    (0xA1, 0x24F, 0.02),
    (0x370, 0x4FF, 0.02),
    (0x2010, 0x2026, 0.01),
    (0x2500, 0x259F, 0.01),
    (0xFF00, 0xFFEF, 0.01),
)


def penalties(shapes: GlyphShapes, codes: NDArray[np.int32]) -> Floats:
    """Nats for each of the glyphs, given the codes that the page seems to hold."""
    anyone = np.full(len(shapes.codes), 1e-8)
    for first, last, share in _COMMON:
        anyone[(shapes.codes >= first) & (shapes.codes <= last)] = share / (last - first + 1)
    inked = codes[codes != FILLER]
    if not len(inked):
        return (-np.log(anyone)).astype(np.float32)
    most = int(shapes.codes.max())
    of_block = np.bincount(np.unique(inked) // _BLOCK, minlength=most // _BLOCK + 1)
    share = np.bincount(inked // _BLOCK, minlength=most // _BLOCK + 1) / len(inked)
    there = (of_block >= _ESTABLISHED) & (share >= _LEAST_SHARE)
    inked = inked[there[inked // _BLOCK] | _is_common(inked)]
    own = np.bincount(inked, minlength=most + 1)[shapes.codes]
    kin = np.bincount(inked // _BLOCK, minlength=most // _BLOCK + 1)[shapes.codes // _BLOCK]
    chance = (_OWN * own + _KIN * kin / _BLOCK) / max(len(inked), 1) + (1 - _OWN - _KIN) * anyone
    return (-np.log(chance)).astype(np.float32)


def _is_common(codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    within = np.zeros(len(codes), np.bool_)
    for first, last, share in _COMMON:
        if share >= _EVERYWHERE:
            within |= (codes >= first) & (codes <= last)
    return within
