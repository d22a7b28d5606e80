"""Strips colour codes from a text, and maps its offsets back."""

import re
from array import array
from bisect import bisect_left
from typing import Final

_CODE: Final = re.compile(r"\x1b\[[0-9;:?]{0,20}[A-Za-z]")
_UNFINISHED: Final = re.compile(r"\x1b(?:\[[0-9;:?]{0,20})?\Z")
_ESCAPE: Final = "\x1b"


class ColourStripper:
    """A text without colours. `final`: no more of it comes, so that a code that its end cuts off is none."""

    def __init__(self, coloured: str, *, final: bool) -> None:
        self.text = coloured
        self._places: array[int] | None = None  # of each character, with colours
        if _ESCAPE in coloured:
            self._take_out(coloured, final=final)

    def _take_out(self, coloured: str, *, final: bool) -> None:
        cut_off = None if final else _UNFINISHED.search(coloured, max(0, len(coloured) - 24))
        end = cut_off.start() if cut_off else len(coloured)
        self._places = array("Q")
        parts: list[str] = []
        at = 0
        for code in _CODE.finditer(coloured, 0, end):
            parts.append(coloured[at : code.start()])
            self._places.extend(range(at, code.start()))
            at = code.end()
        parts.append(coloured[at:end])
        self._places.extend(range(at, end))
        self.text = "".join(parts)

    def within(self, coloured_place: int) -> int:
        """How many characters stand before a place of the coloured text."""
        return coloured_place if self._places is None else bisect_left(self._places, coloured_place)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where these characters lay in the coloured text; at least one."""
        if self._places is None:
            return start, end
        return self._places[start], self._places[end - 1] + 1
