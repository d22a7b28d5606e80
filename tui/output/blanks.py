"""Blank cells in a row, drawn by an erase where that is shorter than to write the spaces."""

import sys
from collections.abc import Sequence
from typing import Final

from tui.output.cells import ScreenCell

TO_END: Final = "\x1b[K"  # EL
MIN_TO_END: Final = 4  # cells, from which on it is shorter
MIN_ERASED: Final = 8  # cells at the end of what is drawn
MIN_PASSED: Final = 14  # cells with others behind them: the cursor is moved over them as well


def erases_in_colour(term: str) -> bool:
    """Whether what this terminal erases gets the present background: `bce` of terminfo. False where it is not known."""
    if sys.platform == "win32" or not term:
        return False
    import curses

    try:
        curses.setupterm(term, sys.__stdout__.fileno() if sys.__stdout__ else 1)
        return curses.tigetflag("bce") == 1
    except (curses.error, OSError, ValueError):
        return False


def blank_end(cells: Sequence[ScreenCell | None], first: int) -> int:
    """The end, exclusive, of the blanks with one pen that begin at `first`; `first` where there is none."""
    cell = cells[first]
    if cell is None or cell[0] != " ":
        return first
    end = first + 1
    while end < len(cells) and (other := cells[end]) is not None and (other is cell or other == cell):
        end += 1
    return end


def erased(count: int, *, is_last: bool, reaches_edge: bool) -> str:
    """The sequence that erases so many cells and leaves the cursor behind them; "" where spaces are shorter.

    `is_last`: nothing is drawn behind them, so the cursor may stay. `reaches_edge`: they end with the row.
    """
    if is_last and reaches_edge and count >= MIN_TO_END:
        return TO_END
    if is_last and count >= MIN_ERASED:
        return f"\x1b[{count}X"
    return f"\x1b[{count}X\x1b[{count}C" if not is_last and count >= MIN_PASSED else ""
