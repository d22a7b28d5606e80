"""Dialog with a list to choose from and a field that filters it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar, Final

from msgspec import Struct
from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from foundation.terminal_text import visible, visible_line
from tui.typed_app import theme_colour
from tui.widgets.query_input import QueryInput


class ChoiceItem(Struct, frozen=True):
    """One choice: `id` is the result, `detail` is shown muted below the label."""

    id: str
    label: str
    detail: str = ""


ExpandChoice = Callable[[str], Awaitable[Sequence[ChoiceItem]]]
"""Finds further items for a query that matches no item, such as conversations by their text."""

TYPING_PAUSE_S: Final = 0.25  # seconds without a key before `expand` is called
KEYS: Final = "↑ ↓ choose · Enter takes · Esc leaves"


class ChoicesScreen(ModalScreen[str | None]):
    """Gives the id of the chosen item, None if none was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", "Back", show=False),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "move(-10)", show=False, priority=True),
        Binding("pagedown", "move(10)", show=False, priority=True),
    ]

    def __init__(self, title: str, items: Sequence[ChoiceItem], expand: ExpandChoice | None = None) -> None:
        """`expand` is called when no item matches the query."""
        super().__init__()
        self._heading = visible(title).replace("\n", " ")
        self._items = items
        self._expand = expand
        self._shown_items: list[ChoiceItem] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static(Text(self._heading), classes="sheet-title", markup=False)
            yield QueryInput(placeholder="type to narrow", id="filter", compact=True)
            yield OptionList(id="choices", markup=False, compact=True)
            yield Static(KEYS, id="choices-note", classes="sheet-note", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self._filter("")
        field = self.query_one(Input)
        field.cursor_blink = False
        field.focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._filter(event.value)

    @on(Input.Submitted)
    def _submit(self) -> None:
        index = self.query_one(OptionList).highlighted
        self.dismiss(self._shown_items[index].id if index is not None and self._shown_items else None)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._shown_items[event.option_index].id)

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
        self._show(matching)
        self._search_text("" if matching else query.strip())

    @work(exclusive=True, group="deeper")
    async def _search_text(self, query: str) -> None:
        note = self.query_one("#choices-note", Static)
        if self._expand is None or not query:
            note.update(KEYS)
            return
        note.update("no title has it; looking into the text …")
        await asyncio.sleep(TYPING_PAUSE_S)
        items = await self._expand(query)
        self._show(items)
        note.update(f"found in the text · {KEYS}" if items else "nothing, in the titles and in the text")

    def _show(self, items: Sequence[ChoiceItem]) -> None:
        self._shown_items = list(items)
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options(Option(self._option_text(item)) for item in self._shown_items)
        if self._shown_items:
            options.highlighted = 0

    def _option_text(self, item: ChoiceItem) -> Text:
        label = visible_line(item.label)
        text = Text(label, no_wrap=True, overflow="ellipsis", end="")
        if item.detail:
            detail = visible_line(item.detail)
            text.append(f"\n  {detail}", theme_colour(self, "muted"))
        return text
