"""Questions about trust at opening: a workspace that was made elsewhere, and links that lead out of a trusted one."""

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


class LinkScreen(ModalScreen[bool | None]):
    """Gives whether a link out of the workspace is followed; None to be asked again at the next opening."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "answer(True)", "Follow", show=False),
        Binding("n", "answer(False)", "Never", show=False),
        Binding("enter,escape,ctrl+c", "later", "Not now", show=False),
    ]

    def __init__(self, name: str, target: str) -> None:
        super().__init__()
        self._name = " ".join(visible(name).split())
        self._target = " ".join(visible(target).split())

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static(Text(f"{self._name} is a link out of this workspace"), classes="sheet-title", markup=False)
            yield Static(Text(f"It leads to {self._target}."), markup=False)
            yield Static(Text("Followed, that file is read, and written when you remember something."), markup=False)
            yield Static("f follow it · n never · Esc not now", classes="sheet-note", markup=False)

    def action_answer(self, wanted: bool) -> None:
        self.dismiss(wanted)

    def action_later(self) -> None:
        self.dismiss(None)
