"""The frame of a dialog: as tall as its parts, and where the terminal is too short, what scrolls gives way."""

from typing import Final

from textual.containers import ScrollableContainer, Vertical
from textual.geometry import Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.layouts.vertical import VerticalLayout
from textual.widget import Widget
from textual.widgets import OptionList

_LEAST_ROWS: Final = 1  # of a part that scrolls


class SheetLayout(VerticalLayout):
    """From top to bottom. Parts that scroll shrink, the first of them first, until all of it fits."""

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        placements = super().arrange(parent, children, size, greedy)
        bottom = max((part.region.bottom + part.margin.bottom for part in placements), default=0)
        return _shrunk(placements, bottom - size.height) if size.height else placements  # 0: its height is asked for


class Sheet(Vertical):
    """The frame. The parts that may give way are its scrolling containers and its lists."""

    def __init__(self) -> None:
        super().__init__(classes="sheet")
        self._sheet_layout = SheetLayout()

    @property
    def layout(self) -> Layout:
        return self._sheet_layout


def _shrunk(placements: list[WidgetPlacement], rows: int) -> list[WidgetPlacement]:
    """The parts, by so many rows shorter as far as that can be."""
    shrunk: list[WidgetPlacement] = []
    moved = 0  # rows by which what follows is further up
    for part in placements:
        region = part.region.translate((0, -moved))
        if isinstance(part.widget, ScrollableContainer | OptionList):
            taken = max(min(rows - moved, region.height - _LEAST_ROWS), 0)
            region, moved = region.shrink((0, 0, taken, 0)), moved + taken
        shrunk.append(part._replace(region=region))
    return shrunk
