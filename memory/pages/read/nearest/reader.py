"""The second reader: each cell is the glyph that it looks most like. For pages that were rescaled, compressed or cut.

Exact only where the text has the SHA-256 that the header names; where it has not, the likeliest other readings of the
doubtful glyphs are tried before the page is given out as approximate.
"""

import time
from collections.abc import Sequence

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from foundation.program import PROGRAM
from foundation.trust import Trust
from memory.errors import NotAPage
from memory.pages.font.glyphs import FILLER, NEWLINE, load_glyphs
from memory.pages.read.arrays import Floats, Indices
from memory.pages.read.deadline import Deadline, DeadlineExceeded, unlimited
from memory.pages.read.exact import PageReading, read_cells, text_and_heads
from memory.pages.read.grid.detect import Grid, find_grid
from memory.pages.read.nearest.candidates import GlyphCandidates
from memory.pages.read.nearest.fit import PageFit, WeighedGlyphs
from memory.pages.read.nearest.header import Alternative, combinations, nearest_header
from memory.pages.read.nearest.image_model import ImageModel, align_grid, calibrate, square_grid
from memory.pages.read.nearest.resampling import KERNELS
from memory.pages.read.nearest.shapes import GlyphShapes, load_shapes, penalties
from memory.pages.render.header import HEADER_CELLS, PageHeader, text_digest, write_header
from memory.pages.render.modes import Cell
from memory.pages.render.png import decode_grey

ENGINE = "nearest"
_FINE_ENOUGH = 3.0  # picture pixels a page pixel; more are halved
_DOUBT = 12.0  # nats: a second best as near as this leaves a glyph in doubt
_ROUGHLY, _CLOSELY = 0.25, 0.12  # of ink: what a pixel may differ before and after the grid is adjusted
_BESIDE_HEADER = 2  # rows below it, whose light falls into its own
_TRIED_WITHIN = 100.0
_MOST_TRIED, _MOST_CHOICES = 3000, 64

_LONGEST = 12.0  # seconds of this thread's CPU after which no other grid is begun; a page of ours takes 1 to 6
_TOO_LONG = 15.0  # after which nothing goes on
_LONGEST_REPAIR = 2.0

Codes = NDArray[np.int32]


def read_nearest(picture: bytes) -> PageReading:
    """The text of the page in the picture. Raises NotAPage where none is found, or not within 15 seconds of CPU."""
    deadline = Deadline(_TOO_LONG)
    grey = decode_grey(picture)
    tried = _ReadAttempts()
    try:
        _try_grids(grey, tried, deadline)
    except DeadlineExceeded:
        tried.out_of_time = True
    if tried.best is None:
        raise NotAPage(
            "Not a Palimpsest page",
            tried.why(deadline),
            f"An OCR engine can read other pictures: see `{PROGRAM} recall --help`, --engine.",
        )
    return tried.best


class _ReadAttempts:
    """What came of the grids so far: the best reading, and the first grid whose header cannot be read."""

    def __init__(self) -> None:
        self.best: PageReading | None = None
        self.unread: Grid | None = None
        self.out_of_time = False

    def why(self, deadline: Deadline) -> str:
        """Why there is no reading."""
        within = f" within {deadline.seconds:g} seconds of computing" if self.out_of_time else ""
        if self.unread is not None:
            return (
                f"The picture starts like a page, but its cells could not be read{within}: it may be "
                "rotated, bent or blurred."
            )
        return f"No grid of page cells was found in the picture{within}."


def _try_grids(grey: NDArray[np.uint8], tried: _ReadAttempts, deadline: Deadline) -> None:
    """Reads grid after grid, until one is exact or no other can be better. Raises DeadlineExceeded."""
    for grid in find_grid(grey, deadline):
        if (tried.best is not None and not grid.has_header) or deadline.spent > _LONGEST:
            tried.out_of_time = tried.best is None and deadline.spent > _LONGEST
            break
        reading = read_grid(grey, grid, headless=not grid.has_header, deadline=deadline)
        if reading is None:
            tried.unread = tried.unread or (grid if grid.has_header else None)
            continue
        reading = structs.replace(reading, grid=grid)
        if tried.best is None or reading.trust is Trust.EXACT or reading.noise < tried.best.noise:
            tried.best = reading
        if reading.trust is Trust.EXACT:
            return
        if reading.header is None or (_lost(reading, grid) and reading.noise < _CLOSELY**2):
            break  # no other width of page brings that back
    if tried.best is None and tried.unread is not None and deadline.spent < _LONGEST:
        best = read_grid(grey, tried.unread, headless=True, deadline=deadline)
        tried.best = best and structs.replace(best, grid=tried.unread)


def _lost(reading: PageReading, grid: Grid) -> bool:
    """Whether rows with text are missing below."""
    header = reading.header
    return header is not None and header.used > grid.rows * grid.columns - _head_cells(grid)


def read_grid(
    grey: NDArray[np.uint8], grid: Grid, *, headless: bool = False, deadline: Deadline | None = None
) -> PageReading | None:
    """The text on that grid; None where its header cannot be read. `headless`: None where its cells are not ours.

    Raises DeadlineExceeded where `deadline` passes.
    """
    deadline = deadline or unlimited()
    grey, grid = _fine(grey, square_grid(grid))
    narrow, wide = load_shapes(grid.cell)
    sight, header = _headed(grey, grid, narrow, deadline)
    if header is not None:
        known = _header_page(header, grid, narrow)
        if _may_be_off(sight):
            grid = square_grid(align_grid(grey, sight, known))
        sight = calibrate(grey, grid, known)
        cells = sight.page()
        if (reading := _as_they_are(cells, header, grid.cell)) is not None:
            return reading
    elif headless:
        cells = sight.page()
    else:
        return None
    fitted = _fitted(sight, cells, narrow, wide, deadline)
    if header is None:
        return _headless(grey, sight, fitted, deadline)
    reading = fitted.reading(header)
    if reading.trust is Trust.EXACT or not _may_be_off(sight):
        return reading
    grid = align_grid(grey, sight, fitted.page)
    if not _moved(grid, sight.grid):
        return reading
    sight = calibrate(grey, grid, _header_page(header, grid, narrow))
    return _fitted(sight, sight.page(), narrow, wide, deadline).reading(header)


def _headless(
    grey: NDArray[np.uint8], before: ImageModel, fitted: "FittedPage", deadline: Deadline
) -> PageReading | None:
    """The page as its own glyphs, once read, show how it was scaled; None where they are not ours."""
    if not fitted.is_ours(_ROUGHLY):
        return None
    grid = align_grid(grey, before, fitted.page)
    sight = calibrate(grey, grid, fitted.page)
    if _moved(grid, before.grid) or sight.kernel != before.kernel:
        fitted = _fitted(sight, sight.page(), *load_shapes(grid.cell), deadline)
    return fitted.reading(None) if fitted.is_ours(_CLOSELY) else None


def _may_be_off(sight: ImageModel) -> bool:
    """A page that fills its picture begins in its corner; any other was found by measuring."""
    return (sight.x.start, sight.y.start) != (0, 0)


def _moved(grid: Grid, before: Grid) -> bool:
    """Whether some cell went further than a hundredth of its width."""
    corner = abs(grid.x0 - before.x0), abs(grid.y0 - before.y0)
    end = (
        grid.columns * abs(grid.cell_width - before.cell_width),
        grid.rows * abs(grid.cell_height - before.cell_height),
    )
    return max(*corner, *end) > before.cell_width / 100


def _headed(
    grey: NDArray[np.uint8], grid: Grid, narrow: GlyphShapes, deadline: Deadline
) -> tuple[ImageModel, PageHeader | None]:
    """The page as it seems under the first kernel under which its header can be read, or under the likeliest.

    Only the header's rows, and those beside them, are looked at: they tell whether the grid fits at all.
    """
    rows = min(grid.rows, -(-HEADER_CELLS // grid.columns) + _BESIDE_HEADER)
    first: ImageModel | None = None
    for kernel in KERNELS if grid.has_header else KERNELS[:1]:
        deadline.check()
        sight = ImageModel(grey, grid, kernel)
        cells = ImageModel(grey, structs.replace(grid, rows=rows), kernel, sight.levels).strip()
        if (header := nearest_header(cells.reshape(-1, *cells.shape[2:]), narrow)) is not None:
            return sight, header
        first = first or sight
    assert first is not None
    return first, None


class FittedPage(Struct, frozen=True):
    """A page's glyphs as they were weighed. `codes` (rows·columns,) has FILLER in the second cell of a wide glyph."""

    grid: Grid
    codes: Codes
    doubtful: Codes  # cells
    choices: tuple[Alternative, ...]  # at: a cell; value: a code
    misfit: float  # a pixel's squared distance from what is shown, of ink
    page: Floats  # page pixels

    def is_ours(self, most: float) -> bool:
        """Whether the glyphs explain the picture, but for that much of a pixel's ink."""
        inked = self.codes[(self.codes != 0x20) & (self.codes != FILLER)]
        return len(np.unique(inked)) >= 8 and self.misfit < most**2

    def reading(self, header: PageHeader | None) -> PageReading:
        """The text of these glyphs, or of the likeliest others that have the header's hash."""
        head = _head_cells(self.grid) if header else 0
        end = min(head + header.used, len(self.codes)) if header else _last_inked(self.codes)
        if header is not None and (exact := _vouched(self.codes[head:end], header)) is not None:
            return exact
        if header is not None and (exact := self._repaired(header, head, end)) is not None:
            return exact
        text, heads = text_and_heads(self.codes[head:end])
        lines = range(1, text.count("\n") + 2)
        line = 1 + np.cumsum(self.codes[head:end] == NEWLINE)
        inside = self.doubtful[(self.doubtful >= head) & (self.doubtful < end)] - head
        doubt = set(np.unique(line[inside]).tolist())
        if header is not None and header.used > end - head:
            doubt.add(lines[-1])  # what followed it is lost; that the hash differs says nothing of the others
        elif header is None or not doubt:
            doubt = set(lines)
        doubted = tuple(sorted(doubt & set(lines)))
        return PageReading(text, Trust.APPROXIMATE, doubted, header, heads, noise=self.misfit)

    def _repaired(self, header: PageHeader, head: int, end: int) -> PageReading | None:
        if header.used > end - head:
            return None  # the picture lost some of it
        choices = [choice for choice in self.choices if head <= choice.at < end]
        codes, until = self.codes.copy(), time.thread_time() + _LONGEST_REPAIR
        for combination in combinations(choices, _MOST_TRIED):
            if time.thread_time() > until:
                return None
            at = [choice.at for choice in combination]
            before = codes[at]
            codes[at] = [choice.value for choice in combination]
            if (exact := _vouched(codes[head:end], header)) is not None:
                line = 1 + np.cumsum(codes[head:end] == NEWLINE)
                other = sorted({int(line[choice.at - head]) for choice in combination if choice.cost > _DOUBT})
                return structs.replace(exact, altered=tuple(other))
            codes[at] = before
        return None


def _fitted(sight: ImageModel, cells: Floats, narrow: GlyphShapes, wide: GlyphShapes, deadline: Deadline) -> FittedPage:
    """Twice over: what the page is found to be written in says what its doubtful glyphs may be."""
    both = (narrow, wide)
    nothing = np.zeros(0, np.int32)
    expected = (penalties(narrow, nothing), penalties(wide, nothing))
    look = GlyphCandidates(cells, narrow, wide, expected[0], deadline)
    fit: PageFit | None = None
    known: tuple[Indices, Indices] = (nothing.astype(np.intp), nothing.astype(np.intp))
    for _ in range(2):
        deadline.check()
        fit = PageFit(sight, tuple(zip(both, look.items(expected, known), strict=True)), deadline)
        fit.settle()
        fit.measure_noise()
        codes = _codes(fit, sight.grid)
        expected = (penalties(narrow, codes), penalties(wide, codes))
        known = (_repeated_glyphs(narrow, codes), _repeated_glyphs(wide, codes))
    assert fit is not None
    for _ in range(4):
        deadline.check()
        fit.settle(expected)
        fit.measure_noise()
    doubtful, choices = _doubts(fit.kinds, fit.weigh(expected), sight.grid)
    return FittedPage(sight.grid, _codes(fit, sight.grid), doubtful, choices, fit.misfit, fit.page)


def _repeated_glyphs(kind: GlyphShapes, codes: Codes) -> Indices:
    """The glyphs of that width that the page seems to contain more than once."""
    values, counts = np.unique(codes, return_counts=True)
    glyph_codes = kind.place[values[counts > 1]]
    return glyph_codes[glyph_codes >= 0].astype(np.intp)


def _codes(fit: PageFit, grid: Grid) -> Codes:
    codes = np.full(grid.rows * grid.columns, FILLER, np.int32)
    for (kind, items), best in zip(fit.kinds, fit.best, strict=True):
        chosen = items.candidates[np.arange(len(best)), best]
        codes[items.row * grid.columns + items.column] = kind.codes[chosen]
    return codes


def _doubts(
    kinds: Sequence[tuple[GlyphShapes, object]], weighed: Sequence[WeighedGlyphs], grid: Grid
) -> tuple[Codes, tuple[Alternative, ...]]:
    """The cells whose second best is near, and what else they may be."""
    doubtful = list[NDArray[np.intp]]()
    choices = list[Alternative]()
    for (shapes_of, _), glyph in zip(kinds, weighed, strict=True):
        other = glyph.items.candidates != glyph.items.candidates[np.arange(len(glyph.best)), glyph.best][:, None]
        near = other & (glyph.costs < _TRIED_WITHIN) & glyph.items.open[:, None]
        at = glyph.items.row * grid.columns + glyph.items.column
        doubtful.append(at[(near & (glyph.costs < _DOUBT)).any(axis=1)])
        for n, k in zip(*np.nonzero(near), strict=True):
            cost = max(float(glyph.costs[n, k]), 0.01)
            choices.append(Alternative(cost, int(at[n]), int(shapes_of.codes[glyph.items.candidates[n, k]])))
    choices.sort(key=lambda choice: choice.cost)
    return np.sort(np.concatenate(doubtful)).astype(np.int32), tuple(choices[:_MOST_CHOICES])


def _as_they_are(cells: Floats, header: PageHeader, cell: Cell) -> PageReading | None:
    """The text, where every pixel is clear enough for the cell reader."""
    rows, columns, height, width = cells.shape
    bits = np.zeros((rows * columns, height, 8), np.uint8)
    bits[:, :, :width] = cells.reshape(rows * columns, height, width) > 0.5
    table = load_glyphs(cell)
    codes = read_cells(np.packbits(bits, axis=2)[:, :, 0], table)
    head = -(-HEADER_CELLS // columns) * columns
    return _vouched(codes[head : head + header.used], header)


def _vouched(codes: Codes, header: PageHeader) -> PageReading | None:
    text, heads = text_and_heads(codes)
    if text_digest(text).hex() != header.sha256 or len(heads) != header.heads:
        return None
    return PageReading(text, Trust.EXACT, (), header, heads)


def _header_page(header: PageHeader, grid: Grid, narrow: GlyphShapes) -> Floats:
    """The page pixels of the header's rows."""
    head = _head_cells(grid)
    codes = np.full(head, 0x20)
    codes[:HEADER_CELLS] = np.frombuffer(write_header(header).encode("ascii"), np.uint8)
    ink = narrow.ink(narrow.place[codes].astype(np.intp)).reshape(-1, grid.columns, grid.cell.height, grid.cell.width)
    lines = ink.transpose(0, 2, 1, 3).reshape(-1, grid.columns * grid.cell.width)
    return np.pad(lines, ((0, 0), (0, grid.size[0] - lines.shape[1])))


def _head_cells(grid: Grid) -> int:
    return -(-HEADER_CELLS // grid.columns) * grid.columns


def _last_inked(codes: Codes) -> int:
    inked = np.flatnonzero(codes != 0x20)
    return int(inked[-1]) + 1 if len(inked) else 0


def _fine(grey: NDArray[np.uint8], grid: Grid) -> tuple[NDArray[np.uint8], Grid]:
    """A picture much larger than the page, halved as often as leaves enough."""
    while min(grid.scale) >= _FINE_ENOUGH:
        height, width = grey.shape[0] // 2 * 2, grey.shape[1] // 2 * 2
        four = grey[:height, :width].reshape(height // 2, 2, width // 2, 2)
        grey = four.mean(axis=(1, 3), dtype=np.float32).round().astype(np.uint8)
        grid = structs.replace(
            grid, x0=grid.x0 / 2, y0=grid.y0 / 2, cell_width=grid.cell_width / 2, cell_height=grid.cell_height / 2
        )
    return grey, grid
