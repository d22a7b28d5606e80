"""Dialogs that ask for confirmation: of a command, and of going on beyond a limit."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Static

from foundation.terminal_text import visible, visible_code, visible_code_line
from tui.dialogs.sheet import PAGE_KEYS, ScrollingDialog
from tui.dialogs.trust import QuestionDialog
from tui.widgets.sheet import Sheet


class ProposalScreen(ScrollingDialog[bool]):
    """Gives whether the proposal is confirmed. Esc declines."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "answer(True)", "Do it", show=False),
        Binding("escape,n,ctrl+c", "answer(False)", "Leave it", show=False),
    ]
    keys: str = "Enter does it · Esc leaves all as it is"

    def __init__(self, title: str, rows: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._heading = visible(title).replace("\n", " ")
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

    def action_answer(self, agreed: bool) -> None:
        self.dismiss(agreed)


class YesScreen(ProposalScreen, inherit_bindings=False):
    """Gives whether what has no undo is to be done. Enter answers nothing: it may have been meant for the prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *PAGE_KEYS,
        Binding("y", "answer(True)", "Do it", show=False),
        Binding("escape,n,ctrl+c", "answer(False)", "Leave it", show=False),
    ]

    def __init__(self, title: str, rows: Sequence[tuple[str, str]], deed: str = "does it") -> None:
        super().__init__(title, rows)
        self.keys = f"y {deed} · Esc leaves all as it is"


class GoOnScreen(QuestionDialog):
    """Gives whether a turn goes on beyond a limit. Typed text and Enter answer nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "answer(True)", "Go on", show=False),
        Binding("escape,ctrl+c", "answer(False)", "Stop", show=False),
    ]

    def __init__(self, question: str) -> None:
        super().__init__("Go on?", [question], "Ctrl+T go on · Esc stop here")
