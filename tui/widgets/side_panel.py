"""Panel beside the conversation: rows in parts that fold, with a cursor while it has the keys.

It draws only itself: a change of its rows never lays out or draws the transcript.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import ClassVar, Final, Literal

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from foundation.terminal_text import visible, visible_line
from tui.typed_app import theme_colour
from tui.widgets.status import clip
from tui.widgets.transcript.wrap import line_breaks

WIDTH: Final = 44  # cells, of which 3 are the margins
MARGIN: Final = 2
HANG: Final = 2  # cells before the further lines of a text
CURSOR: Final = "❯"
KEYS: Final = "↑ ↓ choose · Enter opens · Esc back"


class PanelRow(Struct, frozen=True):
    """A row: text at the left, a figure at the right. Enter carries out its `action`, where it has one. A long text is
    cut at its `cut`, or wrapped where it `wraps`. `in_columns`: blanks stay as they are, for what is above and below.
    """

    text: str
    figure: str = ""
    tone: Literal["muted", "text", "heading"] = "muted"
    action: str = ""
    cut: Literal["start", "end"] = "end"
    wraps: bool = False
    in_columns: bool = False


class SidePanel(ScrollView, can_focus=True):
    """Shows rows, of which some can be chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Go to the row above", id="panel.up", show=False),
        Binding("down,j", "move(1)", "Go to the row below", id="panel.down", show=False),
        Binding("enter,space", "choose", "Open it, or fold the part", id="panel.open", show=False),
        Binding("escape,ctrl+c", "leave", "Go back to the prompt", id="panel.back", show=False),
    ]

    def __init__(self, choose: Callable[[str], None], leave: Callable[[], None]) -> None:
        """`choose` carries out the action of a row; `leave` gives the keys to the prompt."""
        super().__init__(id="side-panel")
        self._choose, self._leave = choose, leave
        self._rows: tuple[PanelRow, ...] = ()
        self._lines: list[tuple[int, str]] = []  # of each line: its row and its text, wrapped
        self._cursor = 0  # a row

    def show_rows(self, rows: Sequence[PanelRow]) -> None:
        """Shows these rows. The cursor stays at its row while it is in use."""
        if (fresh := tuple(rows)) == self._rows:
            return
        is_inside = self.has_focus and self._cursor < len(self._rows)
        action = self._rows[self._cursor].action if is_inside else ""
        self._rows = fresh
        actions = [row.action for row in fresh]
        self._cursor = actions.index(action) if action and action in actions else next(iter(self._choosable()), 0)
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.refresh()

    def _lay_out(self) -> None:
        """Wraps the rows and draws them."""
        width = self._text_width
        self._lines = [(number, line) for number, row in enumerate(self._rows) for line in _row_lines(row, width)]
        self.virtual_size = Size(self.size.width, len(self._lines) + self.has_focus)
        self.refresh()

    @property
    def _text_width(self) -> int:
        return max((self.size.width or WIDTH) - MARGIN - 1, 10)

    def render_line(self, y: int) -> Strip:
        width, line = self.size.width, y + self.scroll_offset.y
        ground = self.rich_style
        if self.has_focus and y == self.size.height - 1:
            keys = " " * MARGIN + clip(KEYS, self._text_width)
            return Strip(
                [Segment(keys, ground + Style.parse(theme_colour(self, "muted") or "none"))]
            ).adjust_cell_length(width, ground)
        if line >= len(self._lines):
            return Strip.blank(width, ground)
        number, text = self._lines[line]
        row = self._rows[number]
        is_chosen = self.has_focus and number == self._cursor
        style = ground + self._style_of(row, is_chosen=is_chosen)
        first = line == 0 or self._lines[line - 1][0] != number
        mark = f"{CURSOR} " if is_chosen and first else " " * MARGIN
        padded = text + " " * max(self._text_width - cell_len(text), 0)
        return Strip([Segment(mark, style), Segment(padded, style), Segment(" ", ground)]).adjust_cell_length(
            width, ground
        )

    def _style_of(self, row: PanelRow, *, is_chosen: bool) -> Style:
        colour = {"muted": "muted", "heading": "accent-ink"}.get(row.tone, "")
        ink = theme_colour(self, "accent-ink" if is_chosen else colour) if is_chosen or colour else ""
        return Style.parse(f"{'bold ' if row.tone == 'heading' or is_chosen else ''}{ink}".strip() or "none")

    # Keys and the mouse

    def _choosable(self) -> list[int]:
        return [number for number, row in enumerate(self._rows) if row.action]

    def action_move(self, by: int) -> None:
        choosable = self._choosable()
        if not choosable:
            return
        index = choosable.index(self._cursor) if self._cursor in choosable else 0
        self._cursor = choosable[max(0, min(index + by, len(choosable) - 1))]
        line = next(at for at, (number, _) in enumerate(self._lines) if number == self._cursor)
        top, height = self.scroll_offset.y, self.size.height - 1  # the last line has the keys
        if not top <= line < top + height:
            self.scroll_to(y=line if line < top else line - height + 1, animate=False)
        self.refresh()

    def action_choose(self) -> None:
        if self._cursor < len(self._rows) and (action := self._rows[self._cursor].action):
            self._choose(action)

    def action_leave(self) -> None:
        self._leave()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        line = event.y + self.scroll_offset.y
        if event.button == 1 and line < len(self._lines) and self._rows[self._lines[line][0]].action:
            self._cursor = self._lines[line][0]
            self.refresh()
            self.action_choose()

    def on_focus(self) -> None:
        self._lay_out()

    def on_blur(self) -> None:
        self._lay_out()


def _row_lines(row: PanelRow, width: int) -> list[str]:
    """The lines of a row, each at most `width` cells, its figure at the right of the first."""
    shown = visible if row.in_columns else visible_line
    text, figure = shown(row.text), shown(row.figure)
    if row.wraps:
        offsets = [0, *line_breaks(text, width - HANG), len(text)]
        lines = [text[start:end].strip() for start, end in pairwise(offsets)]
        return [line if not number else " " * HANG + line for number, line in enumerate(lines)]
    figure = clip(figure, width)
    room = width - cell_len(figure) - (1 if figure else 0)
    text = clip_start(text, room) if row.cut == "start" else clip(text, max(room, 0))
    return [text + " " * (width - cell_len(text) - cell_len(figure)) + figure]


def clip_start(text: str, width: int) -> str:
    """The end of the text, at most `width` cells, with … before it where it is cut."""
    if cell_len(text) <= width:
        return text
    while text and cell_len(text) > width - 1:
        text = text[1:]
    return "…" + text if width > 0 else ""
