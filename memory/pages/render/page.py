"""Renders text to pages: flow layout on a grid of cells; a newline is a ↵ cell, and nothing is lost between pages."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memory.pages.font.glyphs import load_glyphs
from memory.pages.render.cells import grid_of, place_glyphs
from memory.pages.render.entry_heads import ParsedHead
from memory.pages.render.header import HEADER_CELLS, PageHeader, text_digest, write_header
from memory.pages.render.layout import (
    LayoutPosition,
    LayoutSpan,
    LayoutText,
    cut_layout,
    lay_out,
    next_position,
    page_break,
)
from memory.pages.render.modes import Mode
from memory.pages.render.png import encode_png
from memory.pages.render.raster import ink_of

BEGINNING = LayoutPosition(0)


class PageSheet(Struct, frozen=True):
    """What one page holds, laid out and not yet drawn.

    `text` is all that is written, head lines too. `grid` (capacity,) int32 says which of the table's cells stands in
    each place. `laid` says which characters of which stretch stand where in `text`.
    """

    mode: Mode
    text: str
    used: int  # cells that the text takes
    grid: NDArray[np.integer[Any]]
    heads: tuple[ParsedHead, ...]
    laid: tuple[LayoutSpan, ...]


class RenderedPage(Struct, frozen=True):
    """A page as it is stored. `sha256` is that of its text; `grid` (rows·columns,) has the table's cells, the header's
    too.
    """

    id: str
    number: int
    mode: Mode
    text: str
    sha256: bytes
    png: bytes
    heads: tuple[ParsedHead, ...]
    laid: tuple[LayoutSpan, ...]
    grid: NDArray[np.integer[Any]]


def page_sheets(texts: Sequence[LayoutText], mode: Mode, start: LayoutPosition = BEGINNING) -> Iterator[PageSheet]:
    """All of the stretches from `start` on, page by page, in order; the last page takes the smallest mode that it fits.

    One empty stretch is one empty page; no stretch is none.
    """
    begin = start if texts else None
    while begin is not None:
        galley = lay_out(texts, begin, mode.capacity + 1)
        heads = [head.begin for head in galley.heads]
        placed = place_glyphs(galley.text, heads, mode)
        if placed.chars == len(galley.text):  # the last page
            fitting = (size for size in mode.smaller if size.capacity >= len(galley.text))
            tries = ((size, place_glyphs(galley.text, heads, size)) for size in fitting)
            mode, placed = next((attempt for attempt in tries if attempt[1].chars == placed.chars), (mode, placed))
        else:
            galley = cut_layout(galley, page_break(galley, placed.chars))
        grid, used = grid_of(placed, len(galley.text), mode)
        yield PageSheet(mode, galley.text, used, grid, galley.heads, galley.laid)
        begin = next_position(galley, texts)


def render_page(sheet: PageSheet, page_id: str, number: int) -> RenderedPage:
    """The page as a stored 1-bit PNG. `number` counts from 1 within the archive."""
    mode, table = sheet.mode, load_glyphs(sheet.mode.cell)
    sha256 = text_digest(sheet.text)
    header = write_header(PageHeader(table.id, page_id, number, sheet.used, sha256.hex(), len(sheet.heads)))
    head = np.full(mode.header_rows * mode.columns, table.first_cell[0x20], np.int32)
    head[:HEADER_CELLS] = table.first_cell[np.frombuffer(header.encode("ascii"), np.uint8)]
    grid = np.concatenate([head, sheet.grid])
    png = encode_png(ink_of(table.cells.take(grid, axis=0), mode))
    small = grid.astype(np.min_scalar_type(grid.max()))  # many pages are held until they are packed
    return RenderedPage(page_id, number, mode, sheet.text, sha256, png, sheet.heads, sheet.laid, small)
