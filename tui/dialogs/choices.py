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
from tui.typed_app import ink
from tui.widgets.query_input import QueryInput


class ChoiceItem(Struct, frozen=True):
    """One line: `id` is what picking gives, `detail` stands muted below."""

    id: str
    label: str
    detail: str = ""


ExpandChoice = Callable[[str], Awaitable[Sequence[ChoiceItem]]]
"""Finds what the lines do not say, such as what stands inside of a conversation."""

CALM: Final = 0.25  # seconds without a key before it looks deeper
KEYS: Final = "↑ ↓ choose · Enter takes · Esc leaves"


class ChoicesScreen(ModalScreen[str | None]):
    """Gives the id of what was picked, None where nothing was."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", "Back", show=False),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "move(-10)", show=False, priority=True),
        Binding("pagedown", "move(10)", show=False, priority=True),
    ]

    def __init__(self, title: str, picks: Sequence[ChoiceItem], deeper: ExpandChoice | None = None) -> None:
        """`deeper` is asked where no line holds what was typed."""
        super().__init__()
        self._heading = visible(title).replace("\n", " ")
        self._picks = picks
        self._deeper = deeper
        self._shown: list[ChoiceItem] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static(Text(self._heading), classes="sheet-title", markup=False)
            yield QueryInput(placeholder="type to narrow", id="filter", compact=True)
            yield OptionList(id="choices", markup=False, compact=True)
            yield Static(KEYS, id="choices-note", classes="sheet-note", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self._narrow("")
        narrowing = self.query_one(Input)
        narrowing.cursor_blink = False
        narrowing.focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._narrow(event.value)

    @on(Input.Submitted)
    def _entered(self) -> None:
        at = self.query_one(OptionList).highlighted
        self.dismiss(self._shown[at].id if at is not None and self._shown else None)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._shown[event.option_index].id)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_move(self, by: int) -> None:
        listed = self.query_one(OptionList)
        if self._shown:
            listed.highlighted = max(0, min((listed.highlighted or 0) + by, len(self._shown) - 1))

    def _narrow(self, typed: str) -> None:
        words = typed.lower().split()
        fits = [pick for pick in self._picks if all(word in f"{pick.label} {pick.detail}".lower() for word in words)]
        self._show(fits)
        self._look_deeper("" if fits else typed.strip())

    @work(exclusive=True, group="deeper")
    async def _look_deeper(self, typed: str) -> None:
        note = self.query_one("#choices-note", Static)
        if self._deeper is None or not typed:
            note.update(KEYS)
            return
        note.update("no title has it; looking into the text …")
        await asyncio.sleep(CALM)
        found = await self._deeper(typed)
        self._show(found)
        note.update(f"found in the text · {KEYS}" if found else "nothing, in the titles and in the text")

    def _show(self, picks: Sequence[ChoiceItem]) -> None:
        self._shown = list(picks)
        listed = self.query_one(OptionList)
        listed.clear_options()
        listed.add_options(Option(self._line(pick)) for pick in self._shown)
        if self._shown:
            listed.highlighted = 0

    def _line(self, pick: ChoiceItem) -> Text:
        label = visible_line(pick.label)
        text = Text(label, no_wrap=True, overflow="ellipsis", end="")
        if pick.detail:
            detail = visible_line(pick.detail)
            text.append(f"\n  {detail}", ink(self, "muted"))
        return text
