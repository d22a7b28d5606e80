"""Dialog with a question of the model: options to choose from, and a row to write in."""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from agent.permissions.action import PersonQuestion
from foundation.terminal_text import visible, visible_line
from tui.dialogs.answers import AnswerRows, AnswersDialog
from tui.typed_app import theme_colour
from tui.widgets.sheet import Sheet

_SHOWN_CHARS: Final = 300  # of what was written
_SHOWN_TYPED: Final = 60
LAST_KEYS: Final = "Esc skips it · Ctrl+C stops"


class QuestionScreen(AnswersDialog[str]):
    """Gives the chosen option or the written answer; "" where the person leaves it unanswered.

    No row is chosen at first. The row to write in, where it is the only one, is chosen after the first pause in typing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", id="question.up", show=False),
        Binding("down", "move(1)", "Down", id="question.down", show=False),
        Binding("enter", "answer", "Answer", id="question.answer", show=False),
        Binding("escape", "leave", "Leave", id="question.leave", show=False),
        Binding("ctrl+c", "stop", "Stop", id="question.stop", show=False),
    ]

    def __init__(self, question: PersonQuestion, *, settle_s: float = 0.0) -> None:
        super().__init__(len(question.options) + 1, settle_s=settle_s)
        self._question = visible(question.text)
        self._options = question.options

    def compose(self) -> ComposeResult:
        with Sheet():
            yield Static(Text("The model asks"), classes="sheet-title", markup=False)
            with VerticalScroll(classes="sheet-facts", can_focus=False):
                yield Static(Text(self._question), markup=False)
            yield AnswerRows()
            yield Static(id="question-keys", classes="sheet-note", markup=False)

    def on_mount(self) -> None:
        self._show_rows()
        if not self._options:
            self.call_next(self._choose_when_settled)  # after the pause has begun

    def on_resize(self) -> None:
        self._show_rows()

    def give(self, index: int) -> None:
        if index < len(self._options):
            self.dismiss(self._options[index])
            return
        answer, self.written = self.written.strip(), ""
        self.dismiss(answer)

    def action_leave(self) -> None:
        self.dismiss("")

    def action_stop(self) -> None:
        self.stop_or_leave("")

    @property
    def unsent(self) -> str:
        """What was typed, and below it what was written and answered nothing."""
        return f"{self.typed.rstrip()}\n{self.written}".lstrip("\n") if self.written else super().unsent

    def typing_changed(self) -> None:
        self._show_rows()

    def draw_colours(self) -> None:
        self._show_rows()

    def _choose_when_settled(self) -> None:
        if not self._is_settled:
            self.set_timer(self.settles_in, self._choose_when_settled)
        elif self._chosen is None:
            self._chosen = 0
            self._show_rows()

    def _show_rows(self) -> None:
        written = visible_line(self.written)[-_SHOWN_CHARS:]
        write = f"Write: {written}▏" if self._writes else "Write an answer"
        rows: list[Text] = []
        for index, label in enumerate([*map(visible_line, self._options), write]):
            number = f"{index + 1} " if self._options else ""
            rows.append(Text(f"{'›' if index == self._chosen else ' '} {number}{label}"))
        typed = f"  saved for the prompt: {visible_line(self.typed)[-_SHOWN_TYPED:]}" if self.typed else ""
        self.query_one(AnswerRows).show(rows, self._chosen, Text(typed, theme_colour(self, "muted")))
        self.query_one("#question-keys", Static).update(Text(self.keys_now(LAST_KEYS)))
