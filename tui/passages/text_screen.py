"""Text screen: the whole of a long text, with line numbers and a search in it."""

import asyncio
from collections.abc import Callable
from typing import ClassVar, Final

from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from foundation.errors import PalimpsestError
from foundation.terminal_text import visible_line
from foundation.text.find import find_spans
from models.excerpts import line_count
from tui.internal_errors import in_thread
from tui.typed_app import app_of
from tui.widgets.query_input import QueryInput
from tui.widgets.transcript.block import BlockText
from tui.widgets.transcript.items import ErrorItem
from tui.widgets.transcript.line_numbers import NumberedLines, item_of_line, numbered_pieces
from tui.widgets.transcript.view import Transcript

KEYS: Final = "↑ ↓ PgUp PgDn scroll · / find · n N next, previous · c copy · Esc back"
FIND_KEYS: Final = "Enter goes to the first match · Esc ends the search"


class TextScreen(ModalScreen[None]):
    """Shows what `read` gives."""

    AUTO_FOCUS = ""  # the keys are the screen's until the search is opened
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", "Go back", id="text.back", show=False, priority=True),
        Binding("q", "close", "Close the text", id="text.close", show=False),
        Binding("slash,ctrl+f", "find", "Find in the text", id="text.find", show=False),
        Binding("n", "go_to_match(1)", "Go to the next match", id="text.next_match", show=False),
        Binding("N,shift+n", "go_to_match(-1)", "Go to the previous match", id="text.previous_match", show=False),
        Binding("c", "copy", "Copy the whole text", id="text.copy", show=False),
        Binding("up,k", "scroll_by(-1)", "Scroll a line up", id="text.up", show=False),
        Binding("down,j", "scroll_by(1)", "Scroll a line down", id="text.down", show=False),
        Binding("pageup,b", "scroll_page(-1)", "Scroll a page up", id="text.page_up", show=False),
        Binding("pagedown,space", "scroll_page(1)", "Scroll a page down", id="text.page_down", show=False),
        Binding("home,g", "to_end(False)", "Go to the first line", id="text.first", show=False),
        Binding("end,G", "to_end(True)", "Go to the last line", id="text.last", show=False),
    ]

    def __init__(self, title: str, read: Callable[[], BlockText]) -> None:
        super().__init__()
        self._heading = visible_line(title)
        self._read = read
        self._whole = BlockText("")
        self._matches: list[tuple[int, int]] = []  # spans of the whole text
        self._match = -1
        self._items: list[NumberedLines] = []
        self._text = Transcript(id="passage")

    def compose(self) -> ComposeResult:
        with Vertical(classes="room"):
            yield Static(Text(self._heading), classes="room-title", markup=False)
            yield Static("reading …", id="passage-about", markup=False)
            yield self._text
            yield QueryInput(placeholder="find in this text", id="filter", compact=True)
            yield Static(KEYS, classes="room-keys", markup=False)

    def on_mount(self) -> None:
        field = self.query_one(Input)
        field.display, field.cursor_blink = False, False
        self.set_focus(None)
        self._load()

    @work
    async def _load(self) -> None:
        try:
            self._whole = await in_thread(self._read)
        except PalimpsestError as error:
            self._say("it cannot be shown")
            self._text.add(ErrorItem(error.title, error.message, error.hint))
            return
        self._describe()
        await self._show()

    async def _show(self) -> None:
        """Shows the text, its first lines at once."""
        is_diff, marks = self._whole.language == "diff", tuple(self._matches)
        pieces = numbered_pieces(self._whole.text, marks=marks, is_diff=is_diff)
        self._items = await asyncio.to_thread(next, pieces, list[NumberedLines]())
        self._text.replace_items(self._items)
        while piece := await asyncio.to_thread(next, pieces, list[NumberedLines]()):
            self._items += piece
            self._text.extend(piece, is_last=False)
        self._text.extend((), is_last=True)

    def _describe(self) -> None:
        text = self._whole.text
        lines = line_count(text)
        self._say(f"{lines:,} line{'s' if lines != 1 else ''}, {len(text):,} characters")

    def _say(self, text: str) -> None:
        self.query_one("#passage-about", Static).update(Text(text))

    # Finding

    def action_find(self) -> None:
        field = self.query_one(Input)
        field.display = True
        field.focus()
        self.query_one(".room-keys", Static).update(FIND_KEYS)

    @on(Input.Submitted)
    @work(exclusive=True, group="find")
    async def _find(self, event: Input.Submitted) -> None:
        query = event.value
        self._end_find()
        self._matches = await in_thread(find_spans, self._whole.text, query)
        self._match = -1
        await self._show()
        if self._matches:
            self.action_go_to_match(1)
        elif query:
            self._say(f"{visible_line(query)}: not in this text")
        else:
            self._describe()

    def _end_find(self) -> None:
        self.query_one(Input).display = False
        self.set_focus(None)
        self.query_one(".room-keys", Static).update(KEYS)

    def action_go_to_match(self, by: int) -> None:
        """Goes to the next match or the one before, around the ends."""
        if not self._matches:
            return
        self._match = (self._match + by) % len(self._matches) if self._match >= 0 or by > 0 else len(self._matches) - 1
        line = self._whole.text.count("\n", 0, self._matches[self._match][0]) + 1
        self._say(f"{self._match + 1:,} of {len(self._matches):,} · line {line:,}")
        if (item := item_of_line(self._items, line)) is not None:
            self._text.scroll_to_item(item, has_more=False)

    # Keys

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    def action_leave(self) -> None:
        if self.query_one(Input).display:
            self._end_find()
        else:
            self.dismiss(None)

    def action_close(self) -> None:
        self.dismiss(None)

    def action_copy(self) -> None:
        app_of(self).copy_to_clipboard(self._whole.text)
        self.notify(f"Copied {len(self._whole.text):,} characters.", timeout=3)

    def action_scroll_by(self, by: int) -> None:
        self._text.scroll_to(y=self._text.scroll_y + by, animate=False)

    def action_scroll_page(self, by: int) -> None:
        self._text.scroll_to(y=self._text.scroll_y + by * max(self._text.size.height - 2, 1), animate=False)

    def action_to_end(self, last: bool) -> None:
        if last:
            self._text.follow_end()
        else:
            self._text.scroll_to(y=0, animate=False)
