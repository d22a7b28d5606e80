"""Dialog with a list to choose from and a field that filters it."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from msgspec import Struct
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from foundation.terminal_text import visible, visible_line
from tui.themes.themed_screen import ThemedScreen
from tui.typed_app import theme_colour
from tui.widgets.query_input import QueryInput
from tui.widgets.sheet import Sheet


class ChoiceItem(Struct, frozen=True):
    """One choice: `id` is the result, `detail` is shown muted below the label."""

    id: str
    label: str
    detail: str = ""


_MOST_HEIGHT: Final = 0.6  # of the terminal, for the list: a theme is seen beside it
KEYS: Final = "↑ ↓ choose · Enter selects · Esc cancels"
NOTHING: Final = "no match · Esc cancels"
TAKES_TEXT: Final = "Enter uses what you typed · Esc cancels"


class ChoicesScreen(ThemedScreen[str | None]):
    """Gives the id of the chosen item, or the typed text where that is taken; None if nothing was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", "Back", id="choices.leave", show=False),
        Binding("up", "move(-1)", "Up", id="choices.up", show=False, priority=True),
        Binding("down", "move(1)", "Down", id="choices.down", show=False, priority=True),
        Binding("pageup", "move(-10)", "Page up", id="choices.page_up", show=False, priority=True),
        Binding("pagedown", "move(10)", "Page down", id="choices.page_down", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        items: Sequence[ChoiceItem],
        *,
        notes: Sequence[str] = (),
        takes_text: bool = False,
        preview: Callable[[str], None] | None = None,
        chosen: str = "",
    ) -> None:
        """With `takes_text` the query itself is the result where it matches no item.

        `notes` are lines below the list; `preview` is called with the id of each item that is gone to; `chosen` is
        the id on which the list opens.
        """
        super().__init__()
        self._heading = visible(title).replace("\n", " ")
        self._items = items
        self._notes = [visible_line(note) for note in notes]
        self._takes_text = takes_text
        self._preview = preview
        self._chosen = chosen
        self._shown_items: list[ChoiceItem] = []

    def compose(self) -> ComposeResult:
        with Sheet():
            yield Static(Text(self._heading), classes="sheet-title", markup=False)
            hint = "type to filter, or an address: http://127.0.0.1:8000/v1" if self._takes_text else "type to filter"
            yield QueryInput(placeholder=hint, id="filter", compact=True)
            yield OptionList(id="choices", markup=False, compact=True)
            if self._notes:
                yield Static(Text("\n".join(self._notes)), id="choices-advice", classes="sheet-note", markup=False)
            yield Static(KEYS, id="choices-note", classes="sheet-note", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self._filter("")
        field = self.query_one(Input)
        field.cursor_blink = False
        field.focus()

    def on_resize(self) -> None:
        rows = int(self.size.height * _MOST_HEIGHT)
        entry = 2 if any(item.detail for item in self._items) else 1
        self.query_one(OptionList).styles.max_height = max(rows - rows % entry, 2)  # whole entries

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._filter(event.value)

    @on(Input.Submitted)
    def _submit(self) -> None:
        index = self.query_one(OptionList).highlighted
        typed = self.query_one(Input).value.strip() if self._takes_text else ""
        self.dismiss(self._shown_items[index].id if index is not None and self._shown_items else typed or None)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._shown_items[event.option_index].id)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if self._preview is not None and event.option_index < len(self._shown_items):
            self._preview(self._shown_items[event.option_index].id)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_move(self, by: int) -> None:
        options = self.query_one(OptionList)
        if self._shown_items:
            options.highlighted = max(0, min((options.highlighted or 0) + by, len(self._shown_items) - 1))

    def _filter(self, query: str) -> None:
        terms = query.lower().split()
        matching = [
            item for item in self._items if all(term in f"{item.label} {item.detail}".lower() for term in terms)
        ]
        self._show(matching, "" if terms else self._chosen)
        takes = self._takes_text and query.strip() and not matching
        self.query_one("#choices-note", Static).update(TAKES_TEXT if takes else KEYS if matching else NOTHING)

    def _show(self, items: Sequence[ChoiceItem], chosen: str) -> None:
        self._shown_items = list(items)
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options(Option(self._option_text(item)) for item in self._shown_items)
        if self._shown_items:
            options.highlighted = next((number for number, item in enumerate(items) if item.id == chosen), 0)

    def draw_colours(self) -> None:
        options = self.query_one(OptionList)
        for number, item in enumerate(self._shown_items):
            options.replace_option_prompt_at_index(number, self._option_text(item))

    def _option_text(self, item: ChoiceItem) -> Text:
        label = visible_line(item.label)
        text = Text(label, no_wrap=True, overflow="ellipsis", end="")
        if item.detail:
            detail = visible_line(item.detail)
            text.append(f"\n  {detail}", theme_colour(self, "muted"))
        return text
