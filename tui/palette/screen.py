"""A list of what can be done, in groups. What is typed narrows it, Enter does what is chosen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tui.palette.rows import PaletteRow, matching
from tui.themes.themed_screen import ThemedScreen
from tui.typed_app import app_of, theme_colour
from tui.widgets.query_input import QueryInput
from tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from tui.widgets.prompt.input import Prompt

_LABEL_COLUMNS: Final = 32  # cells of the labels of a group, at most
_SHARED_COLUMNS: Final = 20  # groups with labels up to so wide begin their sentences in one column
_FRAME_COLUMNS: Final = 7  # padding and the scrollbar
_SHEET_COLUMNS: Final = (105, 180)  # of the sheet: as other dialogs, and where its rows need more


class PaletteScreen(ThemedScreen[PaletteRow | None]):
    """Gives the chosen row; None where none was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", "Back", id="palette.leave", show=False, priority=True),
        Binding("up", "move(-1)", "Up", id="palette.up", show=False, priority=True),
        Binding("down", "move(1)", "Down", id="palette.down", show=False, priority=True),
        Binding("pageup", "page(False)", "Page up", id="palette.page_up", show=False, priority=True),
        Binding("pagedown", "page(True)", "Page down", id="palette.page_down", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        rows: Sequence[PaletteRow],
        note: str,
        type_on: "Prompt | None" = None,
        first: Sequence[PaletteRow] = (),
        *,
        with_names: bool = False,
    ) -> None:
        """`first` are the rows without a query; () is all of them. `with_names` shows the names of actions.

        `type_on` takes what is typed and pasted instead of the field: a `?` opened the list, and another one closes it.
        """
        super().__init__()
        self._type_on = type_on
        self.is_typed_on = False
        self._heading = title
        self._rows = rows
        self._first = first or rows
        self._note = note
        self._with_names = with_names
        self._shown: list[PaletteRow | None] = []  # None is a heading

    def compose(self) -> ComposeResult:
        with Sheet():
            yield Static(self._heading, classes="sheet-title", markup=False)
            field = QueryInput(placeholder="type to filter", id="filter", compact=True)
            field.can_focus = self._type_on is None
            yield field
            yield OptionList(id="choices", markup=False, compact=True)
            yield Static(self._note, classes="sheet-note", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        field = self.query_one(Input)
        field.cursor_blink = False
        if self._type_on is None:
            field.focus()
        else:
            field.display = False

    def on_key(self, event: events.Key) -> None:
        """Without the field, Enter chooses, and a character closes the list and goes on in the prompt."""
        if self._type_on is None:
            return
        if event.key == "enter":
            event.stop()
            self._submit()
        elif event.is_printable and event.character:
            event.stop()
            if event.character != "?" or self.is_typed_on:
                self._type_on.insert(event.character)
            self._leave_to_prompt()

    def _leave_to_prompt(self) -> None:
        if not self.is_typed_on:
            self.is_typed_on = True
            self.dismiss(None)

    @property
    def chosen(self) -> PaletteRow | None:
        """The row that is gone to."""
        highlighted = self.query_one(OptionList).highlighted
        return self._shown[highlighted] if highlighted is not None else None

    @property
    def _sheet_columns(self) -> int:
        """The width of the sheet: its longest sentence is whole where the screen has room for it."""
        least, most = _SHEET_COLUMNS
        needed = max((cell_len(row.sentence) + cell_len(row.id) for row in self._rows), default=0)
        return min(self.size.width, max(least, min(needed + _LABEL_COLUMNS + _FRAME_COLUMNS + 6, most)))

    def on_resize(self) -> None:
        self.query_one(Sheet).styles.max_width = self._sheet_columns
        self._show(self.query_one(Input).value)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._show(event.value)

    @on(Input.Submitted)
    def _submit(self) -> None:
        self.dismiss(self.chosen)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._shown[event.option_index])

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        if self._type_on is not None:
            self._type_on.take_paste(event)
            self._leave_to_prompt()

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

    def action_page(self, down: bool) -> None:
        """Moves by what the list shows at once."""
        choices = self.query_one(OptionList)
        if down:
            choices.action_page_down()
        else:
            choices.action_page_up()

    def _show(self, query: str) -> None:
        rows = matching(self._rows, query) if query.strip() else self._first
        width = self._sheet_columns - _FRAME_COLUMNS
        most = min(_LABEL_COLUMNS, width * 2 // 5)
        columns: dict[str, int] = {}  # the width of the labels, by place
        for row in rows:
            columns[row.place] = min(max(columns.get(row.place, 0), cell_len(row.label)), most)
        shared = max((column for column in columns.values() if column <= _SHARED_COLUMNS), default=0)
        columns = {place: max(column, shared) for place, column in columns.items()}
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

    def draw_colours(self) -> None:
        choices = self.query_one(OptionList)
        chosen, top = choices.highlighted, choices.scroll_y
        self._show(self.query_one(Input).value)
        choices.highlighted = chosen
        choices.scroll_to(y=top, animate=False)

    def _line(self, row: PaletteRow, column: int, width: int) -> Text:
        muted = theme_colour(self, "muted")
        label = Text(row.label)
        label.truncate(column, overflow="ellipsis", pad=True)
        lines = Text(row.sentence, muted).wrap(app_of(self).console, max(width - column - 4, 10)) or [Text()]
        text = Text(f"  {label.plain}  ", no_wrap=True, overflow="ellipsis", end="")
        text.append_text(Text(f"\n{' ' * (column + 4)}").join(lines))
        gap = width - column - 4 - cell_len(lines[-1].plain) - cell_len(row.id)
        return text.append(" " * gap + row.id, muted) if self._with_names and row.id and gap > 1 else text
