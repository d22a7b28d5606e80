"""The picker without its keys: a level's rows under a query, and the preview of the chosen one."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Static

from foundation.errors import PalimpsestError
from foundation.terminal_text import visible, visible_line
from memory.records import Conversation
from tui.picker.conversations import ConversationLevel
from tui.picker.edit import EditField
from tui.picker.level import PickerLevel
from tui.picker.preview import preview_text
from tui.picker.row_list import RowList
from tui.picker.turns import TurnLevel
from tui.themes.themed_screen import ThemedScreen
from tui.widgets.query_input import QueryInput
from tui.widgets.status import GAP

if TYPE_CHECKING:
    from agent.services.conversation_tree import FilesOf, TurnNode
    from memory.memory import Memory
    from memory.sync.renewal import LocationAccess

WIDE_COLUMNS: Final = 110  # columns from which the preview is beside the list
TYPING_PAUSE_S: Final = 0.25  # seconds without a key before the text is searched
PREVIEW_DELAY_S: Final = 0.05  # seconds on a row before its preview is read


class PickerChoice(Struct, frozen=True):
    """What the chat does next: command lines in order, and then sentences that it shows."""

    lines: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()


class PickerSource(Struct, frozen=True, kw_only=True):
    """What the picker works on. `opened` is the conversation of the chat; `is_answering`: an answer of it is under
    way. A deletion leaves the `locations` of sync, too."""

    memory: "Memory"
    locations: "LocationAccess | None" = None
    opened: Conversation | None = None
    files_of: "FilesOf" = lambda _: {}
    is_answering: Callable[[], bool] = lambda: False


class PickerBrowser(ThemedScreen[PickerChoice]):
    """Shows a level: reads its rows, chooses one, and shows its preview."""

    CSS_PATH = "../styles/picker.tcss"

    def __init__(self, source: PickerSource, level: PickerLevel | None = None, query: str = "") -> None:
        super().__init__()
        self._source = source
        opened = source.opened.seq if source.opened else None
        is_list = isinstance(level, ConversationLevel)
        self._conversations = level if is_list else ConversationLevel(source.memory, opened)
        self.level: PickerLevel = level or self._conversations
        self.level.typed = query
        self._has_list = self.level is self._conversations  # whether the list of conversations was shown
        self._edit: EditField | None = None
        self.is_read = False
        self._list = RowList(self._draw_row, id="picker-list")

    def compose(self) -> ComposeResult:
        with Vertical(classes="room"):
            with Horizontal(classes="room-head"):
                yield Static("", classes="room-title", markup=False)
                yield Static("reading …", id="picker-about", markup=False)
            yield QueryInput(self.level.typed, id="filter", compact=True, select_on_focus=False)
            with Container(id="picker-body"):
                yield self._list
                yield Static("", id="picker-empty", markup=False)
                with VerticalScroll(id="picker-preview", can_focus=False):
                    yield Static("", id="picker-preview-text", markup=False)
            yield Static("", id="picker-note", markup=False)
            yield QueryInput(id="picker-field", compact=True, select_on_focus=False)
            yield Static("", id="picker-keys", markup=False)

    def on_mount(self) -> None:
        for name in ("#picker-note", "#picker-field", "#picker-empty"):
            self.query_one(name).display = False
        for field in self.query(Input):
            field.cursor_blink = False
        self._show_level()

    def on_resize(self) -> None:
        self.query_one("#picker-body").set_class(self.size.width >= WIDE_COLUMNS, "-wide")
        self._show_keys()
        self.call_after_refresh(lambda: self._choose(self._list.chosen))

    def draw_colours(self) -> None:
        self._list.refresh()
        self._preview()

    # Levels

    def _show_level(self, key: str = "") -> None:
        """Shows the level with the query that it had, and chooses the row with this key."""
        field = self.query_one("#filter", QueryInput)
        self.query_one(".room-title", Static).update(self.level.title)
        field.placeholder = self.level.placeholder
        with field.prevent(Input.Changed):
            field.value = self.level.typed
        field.focus()
        field.cursor_position = len(field.value)
        self._show_keys()
        self.reload(key or self.level.chosen_key)

    def _enter_level(self, level: PickerLevel, key: str = "") -> None:
        self.level.typed, self.level.chosen_key = self.query_one("#filter", QueryInput).value, self._key
        self.level = level
        self._has_list = self._has_list or level is self._conversations
        self._list.set_rows(0, None)
        self.query_one("#picker-preview-text", Static).update("")
        self.query_one("#picker-about", Static).update("reading …")
        self.say("")
        self._show_level(key)

    @property
    def _key(self) -> str:
        chosen = self._list.chosen
        return self.level.key(chosen) if chosen is not None and chosen < self.level.count else ""

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        self.say("")
        self.reload(query=event.value.strip())

    @work(exclusive=True, group="read")
    async def reload(self, key: str = "", query: str | None = None) -> None:
        """Reads the rows anew; chooses the row with this key, or the first."""
        level = self.level
        query = self.query_one("#filter", QueryInput).value.strip() if query is None else query
        try:
            await level.read(query)
        except PalimpsestError as error:
            self.say(f"{error.message} {error.hint}".strip(), wrong=True)
            return
        self.is_read = True
        self._show_rows(key)
        if query:
            await asyncio.sleep(TYPING_PAUSE_S)
            key = self._key
            await level.read_texts()
            self._show_rows(key)

    def _show_rows(self, key: str) -> None:
        level = self.level
        self._say_about()
        chosen = level.index_of(key) if key else None
        if chosen is None:
            chosen = level.first()
        empty = self.query_one("#picker-empty", Static)
        empty.display = not level.count
        self.query_one("#picker-body").set_class(not level.count, "-empty")
        empty.update(Text(visible(level.empty if not level.count else "")))
        self._list.set_rows(level.count, chosen)
        self.call_after_refresh(lambda: self._choose(self._list.chosen))  # the list has its size then

    def _say_about(self) -> None:
        self.query_one("#picker-about", Static).update(Text(visible_line(self.level.about), end=""))

    def _draw_row(self, number: int, width: int) -> Text:
        if number >= self.level.count:  # another level, or fewer rows, that are not shown yet
            return Text("")
        return self.level.text(number, width, self)

    @on(RowList.Scrolled)
    @work(exclusive=True, group="details")
    async def _read_details(self) -> None:
        if await self.level.read_details(self._list.rows_in_view):
            self._list.refresh()

    # The chosen row

    def _choose(self, number: int | None) -> None:
        if number is None or number >= self.level.count:
            return
        self._list.choose(number)
        self._read_details()
        self._preview()

    @work(exclusive=True, group="preview")
    async def _preview(self) -> None:
        await asyncio.sleep(PREVIEW_DELAY_S)
        level, number = self.level, self._list.chosen
        if number is None or number >= level.count:
            return
        key = level.key(number)
        try:
            shown = await level.preview(number)
        except PalimpsestError as error:
            self.say(f"{error.message} {error.hint}".strip(), wrong=True)
            return
        if level is self.level and key == self._key:
            text, above = preview_text(shown, self)
            self.query_one("#picker-preview-text", Static).update(text)
            self.query_one("#picker-preview", VerticalScroll).scroll_to(y=above, animate=False)

    def action_move(self, by: int) -> None:
        if self.level.count:
            self._choose(max(0, min((self._list.chosen or 0) + by, self.level.count - 1)))

    def action_scroll_preview(self, by: int) -> None:
        self.query_one("#picker-preview", VerticalScroll).scroll_relative(y=by, animate=False)

    def take(self) -> None:
        """Takes the chosen row."""
        raise NotImplementedError

    @on(RowList.Clicked)
    def _clicked(self, event: RowList.Clicked) -> None:
        """A first click chooses the row, a second one takes it."""
        if self._edit is not None:
            return
        if event.is_chosen:
            self.take()
        else:
            self._choose(event.number)

    @property
    def conversation(self) -> Conversation | None:
        """The conversation of the chosen row."""
        chosen = self._list.chosen
        return self.level.conversation(chosen) if chosen is not None and chosen < self.level.count else None

    @property
    def turn(self) -> "TurnNode | None":
        """The chosen turn; None on a day, and in the list of conversations."""
        level, chosen = self.level, self._list.chosen
        if isinstance(level, TurnLevel) and chosen is not None and chosen < level.count:
            return level.turn(chosen)
        return None

    def say(self, sentence: str, *, wrong: bool = False) -> None:
        """Shows a sentence above the keys; "" takes it away."""
        note = self.query_one("#picker-note", Static)
        note.display = bool(sentence)
        note.set_class(wrong, "-wrong")
        note.update(Text(visible(sentence), end=""))

    def _show_keys(self) -> None:
        keys = self._edit.keys if self._edit else self.level.keys
        width = max(self.size.width - 4, 20)
        lines = [""]
        for key in keys:
            longer = f"{lines[-1]}{GAP}{key}" if lines[-1] else key
            if cell_len(longer) <= width:
                lines[-1] = longer
            else:
                lines.append(key)
        self.query_one("#picker-keys", Static).update(Text(visible("\n".join(lines))))
