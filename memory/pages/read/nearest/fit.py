"""Glyphs weighed in context: the page whose picture would be most like the one that we have.

The model is picture = Y · page · Xᵀ and noise. Changing one glyph changes the picture's squared error by
-2⟨Yᵀ(picture - shown)X, d⟩ + ⟨d, (YᵀY) d (XᵀX)⟩ for the difference d in page pixels, so each glyph's candidates are
weighed by small products, with all its neighbours' light taken into account; a few sweeps settle.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memory.pages.read.arrays import Floats, Indices
from memory.pages.read.deadline import Deadline
from memory.pages.read.nearest.candidates import GlyphItems
from memory.pages.read.nearest.image_model import ImageModel
from memory.pages.read.nearest.shapes import GlyphShapes

_SWEEPS = 6
_BATCH = 1024
_LEAST_NOISE = 0.03**2  # of ink, squared: what a file's rounding and a resampler's clipping leave
_SPECK, _MOST_SPECKS = 0.6, 0.1
_CLIPPED = 0.1


class WeighedGlyphs(Struct, frozen=True):
    """Glyphs of one width after weighing: `costs` (n, k) in nats above the best, candidates as in `items`."""

    items: GlyphItems
    best: Indices  # (n,) which candidate
    costs: Floats


class PageFit:
    """A page being fitted to a sight of it."""

    def __init__(
        self, sight: ImageModel, kinds: tuple[tuple[GlyphShapes, GlyphItems], ...], deadline: Deadline
    ) -> None:
        self.sight, self.kinds, self._deadline = sight, kinds, deadline
        self.noise = self.misfit = _LEAST_NOISE
        self._seen = sight.gathered(sight.ink)
        cell = sight.grid.cell
        self._down = _runs(sight.y.gram, cell.height, cell.height)
        self._across = {shapes.size[1]: _runs(sight.x.gram, shapes.size[1], cell.width) for shapes, _ in kinds}
        self._last = sight.grid.columns + 3
        self._stirred = np.zeros((0, 0), np.bool_)
        self.best = [np.zeros(len(items.row), np.intp) for _, items in kinds]
        self.page: Floats = np.zeros((sight.y.size, sight.x.size), np.float32)
        for kind in range(len(kinds)):
            self._draw(kind, np.arange(len(self.best[kind])))

    def settle(self, penalties: tuple[Floats, Floats] | None = None) -> None:
        """Sweep until nothing changes. `penalties` (nats a glyph, by kind and place) decide what is open.

        A glyph is weighed again where one beside it changed. Raises DeadlineExceeded.
        """
        colours = [self._colours(kind) for kind in range(len(self.kinds))]
        grid = self.sight.grid
        self._stirred = np.ones((grid.rows + 2, grid.columns + 4), np.bool_)  # with a cell's border above, two left
        for _ in range(_SWEEPS):
            changed = 0
            for colour in range(4):
                self._deadline.check()
                chosen = [
                    np.flatnonzero(items.open & (of == colour) & self._stirred[items.row + 1, items.column + 2])
                    for (_, items), of in zip(self.kinds, colours, strict=True)
                ]
                if not any(len(choices) for choices in chosen):
                    continue
                rest = self._rest()
                for kind, choices in enumerate(chosen):
                    changed += self._choose(kind, choices, rest, penalties)
            if not changed:
                return

    def measure_noise(self) -> float:
        """The picture's squared distance from the page's, a pixel: the noise from now on.

        A file cannot be whiter than white: where the model is, and the picture white, the model's value is taken.
        Flipped pixels are no Gaussian noise: where there are some, one costs a glyph as much as it is rare.
        """
        shown = self.sight.overshot(self.page)
        clipped = self.sight.clipped(shown)
        away = np.abs(self.sight.ink - clipped)
        beyond = np.where(away < _CLIPPED, shown - clipped, 0)
        self._seen = self.sight.gathered(self.sight.ink + beyond)
        specks = float((away > _SPECK).mean())
        flat = 1 / (2 * np.log(1 / specks)) if 1e-5 < specks < _MOST_SPECKS else 0.0
        self.misfit = float((away * away).mean())
        self.noise = max(self.misfit, _LEAST_NOISE, flat)
        return self.noise

    def weigh(self, penalties: tuple[Floats, Floats] | None = None) -> list[WeighedGlyphs]:
        """Every glyph's candidates against the settled page."""
        rest = self._rest()
        weighed = list[WeighedGlyphs]()
        for kind, (_, items) in enumerate(self.kinds):
            costs = np.zeros(items.candidates.shape, np.float32)
            for at in range(0, len(items.row), _BATCH):
                batch = np.arange(at, min(at + _BATCH, len(items.row)))
                costs[batch] = self._costs(kind, batch, rest, penalties)
            costs -= costs[np.arange(len(costs)), self.best[kind]][:, None]
            weighed.append(WeighedGlyphs(items, self.best[kind], costs))
        return weighed

    def _rest(self) -> Floats:
        """What the page leaves unexplained, by page pixel."""
        return self._seen - self.sight.x.shared.right(self.sight.y.shared.left(self.page))

    def _choose(self, kind: int, rows: Indices, rest: Floats, penalties: tuple[Floats, Floats] | None) -> int:
        changed = 0
        for at in range(0, len(rows), _BATCH):
            batch = rows[at : at + _BATCH]
            best = self._costs(kind, batch, rest, penalties).argmin(axis=1)
            moved = best != self.best[kind][batch]
            self.best[kind][batch] = best
            self._draw(kind, batch[moved])
            self._stir(kind, batch, batch[moved])
            changed += int(moved.sum())
        return changed

    def _costs(self, kind: int, batch: Indices, rest: Floats, penalties: tuple[Floats, Floats] | None) -> Floats:
        """(some, k) nats of each candidate, the one now on the page at 0."""
        shapes, items = self.kinds[kind]
        cell = self.sight.grid.cell
        row, column = items.row[batch], items.column[batch]
        candidates = items.candidates[batch]
        ink = shapes.ink(candidates)
        change = ink - ink[np.arange(len(batch)), self.best[kind][batch]][:, None]
        height, width = shapes.size
        down = self._down[row][:, None]
        across = self._across[width][column][:, None]
        own = ((down @ change @ across) * change).sum(axis=(2, 3))
        lines = row[:, None] * cell.height + np.arange(height)
        ends = column[:, None] * cell.width + np.arange(width)
        here = rest[lines[:, :, None], ends[:, None, :]]
        cost = (own - 2 * (here[:, None] * change).sum(axis=(2, 3))) / (2 * self.noise)
        return cost if penalties is None else cost + penalties[kind][candidates]

    def _draw(self, kind: int, rows: Indices) -> None:
        shapes, items = self.kinds[kind]
        cell = self.sight.grid.cell
        for at in range(0, len(rows), 4096):
            batch = rows[at : at + 4096]
            lines = items.row[batch, None] * cell.height + np.arange(shapes.size[0])
            ends = items.column[batch, None] * cell.width + np.arange(shapes.size[1])
            ink = shapes.ink(items.candidates[batch, self.best[kind][batch]])
            self.page[lines[:, :, None], ends[:, None, :]] = ink

    def _stir(self, kind: int, weighed: Indices, moved: Indices) -> None:
        _, items = self.kinds[kind]
        self._stirred[items.row[weighed] + 1, items.column[weighed] + 2] = False
        for down in range(3):
            for across in range(5 + kind):
                self._stirred[items.row[moved] + down, np.minimum(items.column[moved] + across, self._last)] = True

    def _colours(self, kind: int) -> NDArray[np.intp]:
        """Glyphs of one colour of four share no light: they can be chosen at once."""
        _, items = self.kinds[kind]
        across = items.column // (self.kinds[kind][0].size[1] // self.sight.grid.cell.width)
        return (items.row & 1) * 2 + (across & 1)


def _runs(gram: Floats, length: int, step: int) -> Floats:
    """(n, length, length): the gram's square from each cell on."""
    count = (gram.shape[0] - length) // step + 1
    at: Indices = np.arange(count, dtype=np.intp)[:, None] * step + np.arange(length)
    return gram[at[:, :, None], at[:, None, :]]
