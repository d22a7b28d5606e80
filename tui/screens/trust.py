"""Asks whether to trust a workspace that was made elsewhere, before anything in it is opened to be written to."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from foundation.terminal_text import visible


class TrustScreen(ModalScreen[bool]):
    """Gives whether the workspace is trusted. Esc and Enter leave it read-only."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "answer(True)", "Trust", show=False),
        Binding("r,enter,escape,ctrl+c", "answer(False)", "Read only", show=False),
    ]

    def __init__(self, facts: Sequence[str]) -> None:
        super().__init__()
        self._facts = [" ".join(visible(fact).split()) for fact in facts]

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static(Text("This workspace was not made here"), classes="sheet-title", markup=False)
            for fact in self._facts:
                yield Static(Text(fact), markup=False)
            yield Static(Text("Read-only, you can look and search; nothing in it is written or deleted."), markup=False)
            yield Static("t trust it · r read only", classes="sheet-note", markup=False)

    def action_answer(self, trusts: bool) -> None:
        self.dismiss(trusts)
