"""The cell reader: decodes a page's pixels to its text, exact or marked as approximate.

It needs the picture alone: no database, no metadata, no file name.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from foundation.program import PROGRAM
from foundation.trust import Trust
from memory.errors import NotAPage
from memory.pages.font.glyphs import ESCAPE, FILLER, HEAD, Glyphs, hash_cells, hash_pairs, load_glyphs
from memory.pages.render.entry_heads import SIGN, ParsedHead, read_head_line
from memory.pages.render.header import HEADER_CELLS, PageHeader, read_header, text_digest
from memory.pages.render.modes import CELLS, MODES, Cell
from memory.pages.render.png import decode
from memory.pages.render.raster import cells_of, margin_is_blank

if TYPE_CHECKING:  # the cell reader measures nothing
    from memory.pages.read.grid.detect import Grid

ENGINE = "cells"
UNKNOWN = "\ufffd"
_LARGEST_SCALE = 4
_SIDES = {mode.side for mode in MODES.values()}
_FEWEST_GLYPHS = 8  # a header alone has more; a black square reads as one glyph, █
_ESCAPE = re.compile("\u241b([0-9A-F]{1,6});")


class PageReading(Struct, frozen=True):
    """The decoded text. `doubt` are its lines, from 1, that may be wrong; none where trust is exact.

    `grid` is the grid of the nearest-glyph reader; `noise` is the distance of the picture from the page that was read:
    squared ink a pixel. `altered` are the lines where the picture clearly shows another glyph than the page that its
    hash proves it to be.
    """

    text: str
    trust: Trust
    doubt: tuple[int, ...]
    header: PageHeader | None  # None where it is damaged
    heads: tuple[ParsedHead, ...] = ()
    grid: "Grid | None" = None
    noise: float = 0.0
    altered: tuple[int, ...] = ()


def read_exact(picture: bytes) -> PageReading:
    """The text of one page. Raises NotAPage where the picture does not hold our cells."""
    ink_as_it_is = decode(picture)
    for ink in _at_scale(ink_as_it_is):
        for cell in CELLS:
            if (header := _header(ink, cell)) is not None:
                return _reading(_page(ink, cell), header)
    for ink in _at_scale(ink_as_it_is):
        for cell in CELLS:
            if _looks_like_a_page((page := _page(ink, cell)).codes):
                return _doubtful(*text_and_heads(_trimmed(page.codes[page.head :])), None)
    raise NotAPage(
        "Not a Palimpsest page",
        "The picture does not have the cells of a Palimpsest page.",
        f"An OCR engine can read other pictures: see `{PROGRAM} recall --help`, --engine.",
    )


class _CellPage(Struct, frozen=True):
    """A grid of cells and their codes; `head` is how many cells the header rows have."""

    cells: NDArray[np.uint8]
    codes: NDArray[np.int32]
    head: int
    margin_is_blank: bool


def _header(ink: NDArray[np.uint8], cell: Cell) -> PageHeader | None:
    """The header in the first rows of these cells."""
    cells = cells_of(ink[: _header_rows(ink, cell) * cell.height], cell)
    return read_header(_string(read_cells(cells, load_glyphs(cell))[:HEADER_CELLS]))


def _page(ink: NDArray[np.uint8], cell: Cell) -> _CellPage:
    cells = cells_of(ink, cell)
    columns = ink.shape[1] * 8 // cell.width
    head = _header_rows(ink, cell) * columns
    return _CellPage(cells, read_cells(cells, load_glyphs(cell)), head, margin_is_blank(ink, cell))


def _header_rows(ink: NDArray[np.uint8], cell: Cell) -> int:
    return -(-HEADER_CELLS // (ink.shape[1] * 8 // cell.width))


def _reading(page: _CellPage, header: PageHeader) -> PageReading:
    end = page.head + header.used
    text, heads = text_and_heads(page.codes[page.head : end])
    rest = (page.cells[HEADER_CELLS : page.head], page.cells[end:])
    rest_is_blank = page.margin_is_blank and not any(cells.any() for cells in rest)
    if rest_is_blank and text_digest(text).hex() == header.sha256 and len(heads) == header.heads:
        return PageReading(text, Trust.EXACT, (), header, heads)
    return _doubtful(text, heads, header)


def _at_scale(ink: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    """The ink as it is, where it has a page's size, then brought down from each whole multiple that it may be.

    A square of pixels is brought down to the one in its middle. A tiny page doubled has a base page's size: both come.
    """
    height, width = ink.shape[0], ink.shape[1] * 8
    scales = [n for n in range(1, _LARGEST_SCALE + 1) if height == width and height / n in _SIDES]
    if not scales:
        sizes = ", ".join(map(str, sorted(_SIDES)))
        raise NotAPage(
            "Not a Palimpsest page",
            f"The picture is {width}×{height} pixels; a page is square, of {sizes}, or a whole multiple of it.",
            f"An OCR engine can read other pictures: see `{PROGRAM} recall --help`, --engine.",
        )
    for scale in scales:
        if scale == 1:
            yield ink
        else:
            yield np.packbits(np.unpackbits(ink, axis=1)[scale // 2 :: scale, scale // 2 :: scale], axis=1)


def read_cells(cells: NDArray[np.uint8], table: Glyphs) -> NDArray[np.int32]:
    """The code in each cell; -1 where no glyph matches, FILLER in the second cell of a wide glyph."""
    hashes = hash_cells(cells)
    codes = table.narrow_index.find(hashes)
    starts = _wide_starts(codes < 0)
    if len(starts):
        wide = table.wide_index.find(hash_pairs(hashes[starts], hashes[starts + 1]))
        good = wide >= 0
        codes[starts[good]] = wide[good]
        codes[starts[good] + 1] = FILLER
    return codes


def _wide_starts(unknown: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Where wide glyphs may begin, given which cells are no narrow glyph.

    No left half is like a narrow glyph, and the cell after it is its right half, whatever that looks like:
    so in a run of such cells it is every other one.
    """
    at = np.flatnonzero(unknown[:-1])
    if not len(at):
        return at
    begins = np.concatenate([[0], np.flatnonzero(np.diff(at) != 1) + 1, [len(at)]])  # of each run, and the end
    within = np.arange(len(at)) - np.repeat(begins[:-1], np.diff(begins))
    return at[within % 2 == 0]


def _string(codes: NDArray[np.int32]) -> str:
    """The codes as characters, U+FFFD for unknown ones; fillers are left out."""
    codepoints = codes[codes != FILLER]
    codepoints = np.where(codepoints < 0, ord(UNKNOWN), codepoints)
    codepoints[codepoints == ESCAPE] = 0x241B
    codepoints[codepoints == HEAD] = ord(SIGN)
    return codepoints.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def text_and_heads(codes: NDArray[np.int32]) -> tuple[str, tuple[ParsedHead, ...]]:
    """The text, and the head lines in it: each begins with a head mark."""
    marks = np.flatnonzero(codes == HEAD)
    parts = [_text_of(part) for part in np.split(codes, marks)]
    heads, begin = list[ParsedHead](), len(parts[0])
    for part in parts[1:]:
        length = part.find("\n") + 1 or len(part)
        heads.append(ParsedHead(begin, begin + length, read_head_line(part[:length])))
        begin += len(part)
    return "".join(parts), tuple(heads)


def _text_of(codes: NDArray[np.int32]) -> str:
    words = _string(codes)
    return _ESCAPE.sub(_unescaped, words) if "\u241b" in words else words


def _unescaped(escape: re.Match[str]) -> str:
    code = int(escape[1], 16)
    return chr(code) if code < 0x110000 else escape[0]


def _trimmed(codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """The text without the blank cells at its end: without a header its length is unknown."""
    inked = np.flatnonzero(codes != 0x20)
    return codes[: inked[-1] + 1] if len(inked) else codes[:0]


def _looks_like_a_page(codes: NDArray[np.int32]) -> bool:
    """Whether more than half of the cells that are not blank are glyphs of ours, and not all the same few."""
    inked = codes[codes != 0x20]
    return int((inked < 0).sum()) * 2 < len(inked) and len(np.unique(inked)) >= _FEWEST_GLYPHS


def _doubtful(text: str, heads: tuple[ParsedHead, ...], header: PageHeader | None) -> PageReading:
    """Lines with cells that are no glyphs are in doubt; where there are none and the hash still differs, every line."""
    lines = text.split("\n")
    broken = tuple(n for n, line in enumerate(lines, 1) if UNKNOWN in line)
    doubt = broken or tuple(range(1, len(lines) + 1))
    return PageReading(text, Trust.APPROXIMATE, doubt, header, heads)
