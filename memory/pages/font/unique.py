"""Assignment of a unique bitmap to each character. Used by `memory.pages.font.build` only.

A bitmap is bytes, a row after the other: one byte a row where the glyph is narrow, two where it is wide (its left and
its right half), the leftmost pixel the highest bit. Where two look alike, one unobtrusive pixel is flipped in that of
lower priority; no wide glyph may begin with the pixels of a narrow one.
"""

from collections.abc import Callable, Iterator
from functools import cache

from memory.pages.render.modes import Cell

Bitmap = bytes


def make_unique(glyphs: dict[int, Bitmap], cell: Cell, rank: Callable[[int], int]) -> tuple[dict[int, Bitmap], int]:
    """Every code point with a bitmap of its own, and how many had to be marked. The lower rank keeps its pixels.

    Narrow ones go first: no narrow shape may appear once a wide glyph was found clear of them all.
    """
    used = set[Bitmap]()
    narrow = {bits for bits in glyphs.values() if len(bits) == cell.height}
    shapes = set(glyphs.values())
    marked: dict[int, Bitmap] = {}
    marks = 0
    for code in sorted(glyphs, key=lambda code: (len(glyphs[code]), rank(code), code)):
        bits = glyphs[code]
        if bits in used or _begins_narrow(bits, narrow, cell):
            twins = _twins(bits, cell)
            bits = next(twin for twin in twins if twin not in shapes and not _begins_narrow(twin, narrow, cell))
            marks += 1
        used.add(bits)
        shapes.add(bits)
        if len(bits) == cell.height:
            narrow.add(bits)
        marked[code] = bits
    _prove(marked, cell)
    return marked, marks


def _begins_narrow(bits: Bitmap, narrow: set[Bitmap], cell: Cell) -> bool:
    return len(bits) > cell.height and bits[::2] in narrow


def _twins(bits: Bitmap, cell: Cell) -> Iterator[Bitmap]:
    """The bitmap with one pixel flipped, the least obtrusive place first: corners, then edges, then within.

    In a wide glyph the pixel is in the left half, which is what must differ from every narrow glyph.
    """
    step = len(bits) // cell.height
    for row, column in _pixel_order(cell):
        twin = bytearray(bits)
        twin[row * step] ^= 0x80 >> column
        yield bytes(twin)


@cache
def _pixel_order(cell: Cell) -> list[tuple[int, int]]:
    """(row, column), the nearest to a corner first."""
    bottom, right = cell.height - 1, cell.width - 1
    return sorted(
        ((row, column) for row in range(cell.height) for column in range(cell.width)),
        key=lambda pixel: (min(bottom - pixel[0], pixel[0]) + min(pixel[1], right - pixel[1]), -pixel[0], pixel[1]),
    )


def _prove(marked: dict[int, Bitmap], cell: Cell) -> None:
    narrow = {bits for bits in marked.values() if len(bits) == cell.height}
    if len(set(marked.values())) != len(marked) or any(_begins_narrow(bits, narrow, cell) for bits in marked.values()):
        raise AssertionError("two characters share a bitmap")
