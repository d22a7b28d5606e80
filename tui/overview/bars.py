"""Bars of block characters, to an eighth of a cell."""

from collections.abc import Sequence
from typing import Final

EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_COLUMNS: Final = " ▁▂▃▄▅▆▇█"


def bar(share: float, width: int) -> str:
    """A bar of at most `width` cells; a share above 1 fills it."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    full, rest = divmod(eighths, 8)
    if not eighths and share > 0 and width:
        return EIGHTHS[1]
    return "█" * full + (EIGHTHS[rest] if rest else "")


TICK: Final = "│"


def bar_with_tick(share: float, tick: float, width: int) -> str:
    """A bar over the whole of `width` cells, with a tick at the share `tick`; without one where that is 0."""
    cells = list(bar(share, width).ljust(width))
    if tick > 0 and cells:
        cells[min(int(tick * width), width - 1)] = TICK
    return "".join(cells)


def columns(values: Sequence[float], width: int, height: int) -> list[str]:
    """A column for each value, `height` rows high, the largest value filling it. The last values where not all fit.

    A column is as wide as the width allows, at most 6 cells with a space before it where there is room.
    """
    step = max(min(width // max(len(values), 1), 7), 1)
    shown = values[-(width // step) :] if width >= step else values[:0]
    largest = max(shown, default=0)
    solid = step - 1 if step > 1 else 1
    rows: list[str] = []
    for row in reversed(range(height)):
        cells = [_cell(value / largest * height - row if largest else 0.0, value > 0 and row == 0) for value in shown]
        rows.append("".join((cell * solid).ljust(step) for cell in cells).rstrip())
    return rows


def _cell(fill: float, least: bool) -> str:
    """The character of a cell that is filled from below to `fill`, 0 to 1; `least`: something is there in any case."""
    eighths = max(round(max(0.0, min(fill, 1.0)) * 8), 1 if least else 0)
    return _COLUMNS[eighths]
