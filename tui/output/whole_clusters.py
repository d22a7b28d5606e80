"""Cuts rows between graphemes. Rich 15 cuts between characters: a family at the edge of a row came apart."""

from functools import lru_cache
from typing import Any, cast

from rich.cells import split_graphemes
from rich.segment import Segment


def cut_between_graphemes() -> None:
    """Makes every cut of Rich and Textual so, for the whole process."""
    cast("Any", Segment)._split_cells = staticmethod(split_cells)


@lru_cache(1024 * 16)
def split_cells(segment: Segment, cut: int) -> tuple[Segment, Segment]:
    """The parts before and after that many cells; each half of a wide grapheme that is cut is a space."""
    text, style, control = segment
    before = 0  # cells
    for start, end, width in split_graphemes(text)[0]:
        if before == cut and width:
            return Segment(text[:start], style, control), Segment(text[start:], style, control)
        if before + width > cut:
            left, right = text[:start] + " " * (cut - before), " " * (before + width - cut) + text[end:]
            return Segment(left, style, control), Segment(right, style, control)
        before += width
    return segment, Segment("", style, control)
