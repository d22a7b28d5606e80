"""List of rows of one line each, drawn as they scroll into view, with one chosen row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.typed_app import app_of

DrawRow = Callable[[int, int], Text]
"""Gives the text of a row, by its number and the cells that it has."""


class RowList(ScrollView, can_focus=False):
    """Shows the rows that `draw` gives."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--chosen"}
    DEFAULT_CSS = """
    RowList { scrollbar-size-vertical: 1; scrollbar-gutter: stable; overflow-x: hidden; }
    RowList > .row-list--chosen { background: $selection; color: $foreground; }
    RowList:ansi > .row-list--chosen { background: ansi_white; color: ansi_black; }
    RowList:nocolor > .row-list--chosen { text-style: reverse; }
    """

    @dataclass
    class Clicked(Message):
        """A row was clicked. `is_chosen`: it was the chosen one already."""

        number: int
        is_chosen: bool

    class Scrolled(Message):
        """Other rows are in view."""

    def __init__(self, draw: DrawRow, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._draw = draw
        self.count = 0
        self.chosen: int | None = None

    def set_rows(self, count: int, chosen: int | None) -> None:
        """Shows so many rows, drawn anew."""
        self.count = count
        self.virtual_size = Size(0, count)
        self.choose(chosen)
        self.refresh()

    def choose(self, number: int | None) -> None:
        """Chooses a row, and scrolls it into view with the one above it, which may be its heading."""
        self.chosen = number
        if number is not None:
            above = Region(0, max(number - 1, 0), 1, 2 if number else 1)
            self.scroll_to_region(above, animate=False, force=True, immediate=True)
        self.refresh()

    @property
    def rows_in_view(self) -> range:
        """The numbers of the rows in view."""
        first = round(self.scroll_y)
        return range(min(first, self.count), min(first + self.size.height, self.count))

    def render_line(self, y: int) -> Strip:
        number, width = round(self.scroll_y) + y, self.size.width
        if number >= self.count:
            return Strip.blank(width, self.rich_style)
        style = self.rich_style
        if number == self.chosen:
            style += self.get_component_rich_style("row-list--chosen")
        text = Text(" ", end="").append_text(self._draw(number, max(width - 2, 1)))
        text.truncate(width, overflow="ellipsis", pad=True)
        segments = [segment for segment in text.render(app_of(self).console) if segment.text]
        return Strip(segments).apply_style(style).adjust_cell_length(width, style)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Scrolled())

    def on_click(self, event: events.Click) -> None:
        number = round(self.scroll_y) + event.y
        if number < self.count:
            self.post_message(self.Clicked(number, number == self.chosen))
