"""What is muted in the selected row, in the terminal's own colours: bright black on white could not be read."""

from functools import lru_cache
from typing import Final

from rich.color import Color as RichColor
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

_MUTED: Final = (ColorType.STANDARD, 8)
_SELECTED: Final = (ColorType.STANDARD, 7)  # the ground of the selected row in chat.tcss and of RowList
_READABLE: Final = Style(color=RichColor("color(0)", ColorType.STANDARD, 0))


class MutedRows(LineFilter):
    """Writes bright black as black where the ground is white; styles of the rows' texts outrank those of the CSS."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        del background
        return [Segment(text, _readable(style) if style else style, control) for text, style, control in segments]


@lru_cache(1024)
def _readable(style: Style) -> Style:
    is_weak = (_kind(style.color), _kind(style.bgcolor)) == (_MUTED, _SELECTED)
    return style + _READABLE if is_weak else style


def _kind(colour: RichColor | None) -> tuple[ColorType, int | None] | None:
    """What tells one colour from another; the same has several names."""
    return (colour.type, colour.number) if colour is not None else None
