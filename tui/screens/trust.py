"""Questions about trust at opening: a workspace that was made elsewhere, and links that lead out of a trusted one."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from foundation.terminal_text import visible


class Question(ModalScreen[bool | None]):
    """A question that no typing answers: what is typed or pasted meanwhile is kept in `typed`, for the prompt."""

    def __init__(self) -> None:
        super().__init__()
        self.typed = ""

    def on_key(self, event: events.Key) -> None:
        if event.key == "backspace":
            self.typed = self.typed[:-1]
        elif event.is_printable and event.character:
            self.typed += event.character
        else:
            return
        event.stop()

    def on_paste(self, event: events.Paste) -> None:
        self.typed += event.text.replace("\r\n", "\n").replace("\r", "\n")
        event.stop()

    def action_answer(self, wanted: bool) -> None:
        self.dismiss(wanted)

    def action_later(self) -> None:
        self.dismiss(None)


class TrustScreen(Question):
    """Gives whether the workspace is trusted. Enter and Esc leave it read-only."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "answer(True)", "Trust", show=False),
        Binding("enter,escape,ctrl+c", "answer(False)", "Read only", show=False),
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
            yield Static(Text(ALLOWS), markup=False)
            yield Static("Ctrl+T trust it · Enter read only", classes="sheet-answers", markup=False)


ALLOWS = (
    "Trusted, it is written to, its configuration may set the model's address, paths and commands, "
    "and the model reads its skills."
)


class LinkScreen(Question):
    """Gives whether a link out of the workspace is followed; None to be asked again at the next opening."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "answer(True)", "Follow", show=False),
        Binding("ctrl+n", "answer(False)", "Never", show=False),
        Binding("enter,escape,ctrl+c", "later", "Not now", show=False),
    ]

    def __init__(self, name: str, target: str, following: str) -> None:
        super().__init__()
        self._following = following
        self._name = " ".join(visible(name).split())
        self._target = " ".join(visible(target).split())

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static(Text(f"{self._name} is a link out of this workspace"), classes="sheet-title", markup=False)
            yield Static(Text(f"It leads to {self._target}."), markup=False)
            yield Static(Text(self._following), markup=False)
            yield Static("Ctrl+T follow it · Ctrl+N never · Enter not now", classes="sheet-answers", markup=False)
