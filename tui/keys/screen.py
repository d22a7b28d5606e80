"""The keys of the place where one is, and the commands. Enter does what is chosen."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agent.commands import registry
from tui.keys.rows import KeyRow
from tui.typed_app import theme_colour
from tui.widgets.query_input import QueryInput

COMMANDS: Final = "Commands"
NOTE: Final = "Enter does it · Esc leaves · the setting screen.keys gives an action other keys"
_KEYS_COLUMNS: Final = 24  # cells of the column of keys, at most
_FRAME_ROWS: Final = 8  # padding, the title, the field and the note, with their margins
_FRAME_COLUMNS: Final = 7  # padding and the scrollbar
_SHEET_COLUMNS: Final = 105


class KeysScreen(ModalScreen[KeyRow | None]):
    """Gives the chosen row; None where none was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", "Back", id="keys.leave", show=False, priority=True),
        Binding("up", "move(-1)", "Up", id="keys.up", show=False, priority=True),
        Binding("down", "move(1)", "Down", id="keys.down", show=False, priority=True),
        Binding("pageup", "move(-10)", "Page up", id="keys.page_up", show=False, priority=True),
        Binding("pagedown", "move(10)", "Page down", id="keys.page_down", show=False, priority=True),
    ]

    def __init__(self, rows: Sequence[KeyRow], *, commands: bool) -> None:
        """`commands`: the slash commands are listed too, and can be chosen."""
        super().__init__()
        listed = registry.all() if commands else ()
        self._rows = [*rows, *(KeyRow(COMMANDS, command.short_signature, command.summary) for command in listed)]
        self._shown: list[KeyRow | None] = []  # None is a heading

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static("Keys and commands", classes="sheet-title", markup=False)
            yield QueryInput(placeholder="type to narrow", id="filter", compact=True)
            yield OptionList(id="choices", markup=False, compact=True)
            yield Static(NOTE, classes="sheet-note", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        field = self.query_one(Input)
        field.cursor_blink = False
        field.focus()

    def on_resize(self) -> None:
        self.query_one(OptionList).styles.max_height = max(self.size.height - _FRAME_ROWS, 2)
        self._show(self.query_one(Input).value)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._show(event.value)

    @on(Input.Submitted)
    def _submit(self) -> None:
        highlighted = self.query_one(OptionList).highlighted
        self.dismiss(self._shown[highlighted] if highlighted is not None else None)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._shown[event.option_index])

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_move(self, by: int) -> None:
        """Moves over the rows; headings are passed over."""
        places = [number for number, row in enumerate(self._shown) if row is not None]
        options = self.query_one(OptionList)
        if not places:
            return
        at = places.index(options.highlighted) if options.highlighted in places else 0
        options.highlighted = places[max(0, min(at + by, len(places) - 1))]
        if options.highlighted == places[0]:
            options.scroll_home(animate=False)  # its heading too

    def _show(self, query: str) -> None:
        words = query.lower().split()
        rows = [row for row in self._rows if all(word in row.searched for word in words)]
        columns: dict[str, int] = {}  # the width of the keys, by place
        for row in rows:
            columns[row.place] = min(max(columns.get(row.place, 0), cell_len(row.keys)), _KEYS_COLUMNS)
        width = min(self.size.width, _SHEET_COLUMNS) - _FRAME_COLUMNS
        self._shown = []
        options: list[Option] = []
        place = ""
        for row in rows:
            if row.place != place:
                place = row.place
                self._shown.append(None)
                options.append(Option(Text(place, f"bold {theme_colour(self, 'accent-ink')}"), disabled=True))
            self._shown.append(row)
            options.append(Option(self._line(row, columns[row.place], width)))
        choices = self.query_one(OptionList)
        choices.clear_options()
        choices.add_options(options)
        choices.highlighted = next((number for number, row in enumerate(self._shown) if row), None)
        choices.scroll_home(animate=False)

    def _line(self, row: KeyRow, column: int, width: int) -> Text:
        muted = theme_colour(self, "muted")
        keys = Text(row.keys)
        keys.truncate(column, overflow="ellipsis", pad=True)
        text = Text(f"  {keys.plain}", no_wrap=True, overflow="ellipsis", end="").append(f"  {row.sentence}", muted)
        gap = width - cell_len(text.plain) - cell_len(row.id)
        return text.append(" " * gap + row.id, muted) if row.id and gap > 1 else text
