"""Dialogs that ask for confirmation: of a command, and of going on beyond a limit."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Static

from foundation.terminal_text import visible, visible_code, visible_code_line
from tui.dialogs.sheet import AT_ONCE_S, PAGE_KEYS, ScrollingDialog
from tui.dialogs.trust import QuestionDialog
from tui.widgets.sheet import Sheet


class ProposalScreen(ScrollingDialog[bool]):
    """Gives whether the proposal is confirmed. Esc declines. A key that confirms does so only where no text comes with
    it in the same instant: that was pasted.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "answer(True)", "Confirm", show=False),
        Binding("escape,n,ctrl+c", "answer(False)", "Cancel", show=False),
    ]
    keys: str = "Enter confirms · Esc cancels"

    def __init__(self, title: str, rows: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._heading = visible(title).replace("\n", " ")
        self._last_key = 0.0  # when it came, on the clock of events
        self._has_text = False  # the last key came with others in one instant
        self._rows = [(visible_code(name), visible_code_line(sentence)) for name, sentence in rows]

    def compose(self) -> ComposeResult:
        with Sheet():
            yield Static(Text(self._heading), classes="sheet-title", markup=False)
            with VerticalScroll(classes="sheet-facts", can_focus=False):
                yield from self.compose_facts()
            yield Static(visible(self.keys), classes="sheet-note", markup=False)

    def compose_facts(self) -> ComposeResult:
        """What is proposed, in the part that scrolls."""
        for name, sentence in self._rows:
            with Horizontal(classes="proposal-row"):
                yield Static(Text(name), classes="proposal-name", markup=False)
                yield Static(Text(sentence), classes="proposal-words", markup=False)

    def on_key(self, event: events.Key) -> None:
        self._has_text, self._last_key = event.time - self._last_key < AT_ONCE_S, event.time
        if self._has_text and (event.is_printable or event.key == "enter"):
            event.stop()

    def action_answer(self, agreed: bool) -> None:
        if agreed:
            self.set_timer(AT_ONCE_S, self._confirm)
        else:
            self.dismiss(agreed)

    def _confirm(self) -> None:
        if not self._has_text:
            self.dismiss(True)


class YesScreen(ProposalScreen, inherit_bindings=False):
    """Gives whether what has no undo is to be done. Enter answers nothing: it may have been meant for the prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *PAGE_KEYS,
        Binding("y", "answer(True)", "Confirm", show=False),
        Binding("escape,n,ctrl+c", "answer(False)", "Cancel", show=False),
    ]

    def __init__(self, title: str, rows: Sequence[tuple[str, str]], deed: str = "confirms") -> None:
        super().__init__(title, rows)
        self.keys = f"y {deed} · Esc cancels"


class GoOnScreen(QuestionDialog):
    """Gives whether a turn goes on beyond a limit. Typed text and Enter answer nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "answer(True)", "Continue", show=False),
        Binding("escape,ctrl+c", "answer(False)", "Stop", show=False),
    ]

    def __init__(self, question: str) -> None:
        super().__init__("Continue?", [question], "Ctrl+T continue · Esc stop here")
