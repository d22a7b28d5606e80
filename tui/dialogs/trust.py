"""Trust dialogs at opening: an untrusted or changed workspace, and links out of a trusted one."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from agent.services.opening_questions import (
    OpeningQuestion,
    changes_question,
    instructions_question,
    link_question,
    server_question,
    trust_question,
)
from foundation.terminal_text import visible_code_line, visible_line
from tui.dialogs.sheet import SheetDialog
from tui.widgets.sheet import Sheet

SHOWN_CHARS: Final = 50  # of what was typed


class QuestionDialog(SheetDialog[bool | None]):
    """A title, the facts and the keys for the answer.

    Typed and pasted text does not answer; it is collected in `typed`, for the prompt. `sends`: Enter followed it after
    the answer, before the dialog had closed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_rows(-1)", "Up", show=False),
        Binding("down", "scroll_rows(1)", "Down", show=False),
    ]

    def __init__(self, title: str, facts: Sequence[str], answers: str) -> None:
        super().__init__()
        self._heading = visible_code_line(title)
        self._facts = [visible_code_line(fact) for fact in facts]
        self._answers = answers
        self._is_answered = False
        self.sends = False

    def compose(self) -> ComposeResult:
        with Sheet():
            yield Static(Text(self._heading), classes="sheet-title", markup=False)
            with VerticalScroll(classes="sheet-facts", can_focus=False):
                for fact in self._facts:
                    yield Static(Text(fact), markup=False)
            yield Static(self._answers, classes="sheet-answers", markup=False)
            yield Static(id="typed-text", classes="sheet-note", markup=False)

    def on_mount(self) -> None:
        self.typing_changed()

    def typing_changed(self) -> None:
        """Shows that what is typed is kept."""
        note = self.query_one("#typed-text", Static)
        note.display = bool(self.typed)
        note.update(Text(visible_line(f"saved for the prompt: {self.typed[-SHOWN_CHARS:]}")))

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_scroll_hint)

    def _show_scroll_hint(self) -> None:
        more = " · ↑ ↓ more" if self.facts.max_scroll_y else ""
        self.query_one(".sheet-answers", Static).update(f"{self._answers}{more}")

    @property
    def takes_line_break(self) -> bool:
        """Not where Enter is an answer, which changes nothing."""
        return super().takes_line_break and not self._is_answered and "Enter" not in self._answers

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)

    def action_later(self) -> None:
        self.dismiss(None)

    def on_key(self, event: events.Key) -> None:
        """Keys typed at once arrive before the action of the first of them runs."""
        if self._is_answered and event.key == "enter":
            self.sends = bool(self.typed.strip())
            event.stop()
        bindings = self._bindings.key_to_bindings.get(event.key, ())
        self._is_answered |= any(binding.action.startswith(("answer", "later")) for binding in bindings)


class TrustScreen(QuestionDialog):
    """Gives whether the workspace is trusted. Enter and Esc leave it read-only."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "answer(True)", "Trust", show=False),
        Binding("enter,escape,ctrl+c", "answer(False)", "Read only", show=False),
    ]

    def __init__(self, contents: Sequence[str]) -> None:
        """`contents` describes the workspace, a fact per line."""
        question = trust_question(contents)
        super().__init__(question.title, question.facts, "Ctrl+T trust it · Enter read only")


class ChangesScreen(QuestionDialog):
    """Gives whether changes to a trusted workspace are trusted; None to ask again at the next start."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "answer(True)", "Trust", show=False),
        Binding("escape,ctrl+c", "later", "Later", show=False),
    ]

    def __init__(self, changes: Sequence[str]) -> None:
        """`changes` describes the changes, a file per line."""
        question = changes_question(changes)
        super().__init__(question.title, question.facts, "Ctrl+T trust it · Esc later")


class LinkScreen(QuestionDialog):
    """Gives whether a link out of the workspace is followed; None to ask again at the next start."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "answer(True)", "Follow", show=False),
        Binding("ctrl+n", "answer(False)", "Never", show=False),
        Binding("enter,escape,ctrl+c", "later", "Not now", show=False),
    ]

    def __init__(self, name: str, target: str, effect: str) -> None:
        """`effect` describes what following the link allows."""
        question = link_question(name, target, effect)
        super().__init__(question.title, question.facts, "Ctrl+T follow it · Ctrl+N never · Enter not now")


class _ProjectScreen(QuestionDialog):
    """Gives whether something of the project is trusted; None to ask again at the next start."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "answer(True)", "Trust", show=False),
        Binding("ctrl+n", "answer(False)", "Never", show=False),
        Binding("enter,escape,ctrl+c", "later", "Not now", show=False),
    ]

    def __init__(self, question: OpeningQuestion) -> None:
        super().__init__(question.title, question.facts, "Ctrl+T trust it · Ctrl+N never · Enter not now")


class ServerScreen(_ProjectScreen):
    """Asks whether an MCP server of the project may run."""

    def __init__(self, name: str, facts: Sequence[str], *, is_changed: bool) -> None:
        """`facts` say what it runs; `is_changed`: another definition of it was trusted."""
        super().__init__(server_question(name, facts, is_changed=is_changed))


class InstructionsScreen(_ProjectScreen):
    """Asks whether the model may read the project's instructions."""

    def __init__(self, files: Sequence[str], *, is_changed: bool) -> None:
        super().__init__(instructions_question(files, is_changed=is_changed))
