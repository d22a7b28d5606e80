"""Asks before a tool runs."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from foundation.terminal_text import visible


class PermissionScreen(ModalScreen[bool]):
    """Gives whether the tool may run. Esc declines."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1,y", "answer(True)", "Allow", show=False),
        Binding("2,n,escape,ctrl+c", "answer(False)", "Decline", show=False),
    ]

    def __init__(self, name: str, summary: str) -> None:
        super().__init__()
        self._name = visible(name)
        self._summary = visible(summary)

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static(Text(f"The model wants to use {self._name}"), classes="sheet-title", markup=False)
            yield Static(Text(self._summary), markup=False)
            yield Static("1 allow · 2 decline", classes="sheet-note", markup=False)

    def action_answer(self, allowed: bool) -> None:
        self.dismiss(allowed)
