"""A text of any length in a dialog: each line is wrapped once a width, and only the rows in view are drawn.

Textual's Static wraps the whole text several times for one layout: a diff of 3,000 lines took seconds to appear.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from tui.typed_app import app_of
from tui.widgets.transcript.strips import highlight_span
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import line_breaks

_WIDEST: Final = 2  # cells of a character


class Row(NamedTuple):
    """A part of a line, in characters."""

    line: int
    start: int
    end: int


class TextRows(Widget, can_focus=False):
    """Lines with a colour each, "" for that of the text. What is selected is copied as the lines are."""

    DEFAULT_CSS = "TextRows { height: auto; }"
    ALLOW_SELECT = True

    def __init__(self, lines: Sequence[tuple[str, str]], *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._lines = [(text.rstrip("\n").expandtabs(8), colour) for text, colour in lines]
        self._rows: list[Row] = []
        self._width = 0  # the one that the rows are wrapped for

    def recolour(self, colours: Sequence[str]) -> None:
        """Gives the lines these colours."""
        self._lines = [(text, colour) for (text, _), colour in zip(self._lines, colours, strict=True)]
        self.refresh()

    def get_content_width(self, container: Size, viewport: Size) -> int:
        del viewport
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport
        return len(self._wrapped(width))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        rows, style = self._wrapped(width), self.rich_style
        if y >= len(rows):
            return Strip.blank(width, style)
        line, start, end = rows[y]
        text, colour = self._lines[line]
        strip = Strip([Segment(text[start:end], style + Style.parse(colour) if colour else style)])
        if (selection := self.text_selection) and (span := selection.get_span(line)):
            last = end - start if span[1] == -1 else span[1] - start
            if last > 0:
                styles = TranscriptStyles.of_theme(app_of(self).theme_variables, style)
                strip = highlight_span(strip, (max(span[0] - start, 0), last), styles.selection)
        return strip.adjust_cell_length(width, style).apply_offsets(start, line)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(text for text, _ in self._lines)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        del selection
        self.refresh()

    def _wrapped(self, width: int) -> list[Row]:
        if width != self._width:
            self._width = width
            self._rows = [row for number, (text, _) in enumerate(self._lines) for row in _rows(number, text, width)]
        return self._rows


def _rows(number: int, text: str, width: int) -> list[Row]:
    if len(text) * _WIDEST <= width:
        return [Row(number, 0, len(text))]
    return [Row(number, start, end) for start, end in pairwise([0, *line_breaks(text, width), len(text)])]
