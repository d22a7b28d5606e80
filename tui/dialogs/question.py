"""Dialog with a question of the model: options to choose from, and a row to write in."""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from agent.permissions.action import PersonQuestion
from foundation.terminal_text import visible, visible_line
from tui.dialogs.sheet import SheetDialog
from tui.typed_app import theme_colour

_FRAME_ROWS: Final = 9  # padding, the title and the keys, with their margins
_SHOWN_CHARS: Final = 300  # of what was written
KEYS: Final = "↑ ↓ choose; write in the last row · Enter answers · Esc leaves it open · Ctrl+C stops"


class QuestionScreen(SheetDialog[str]):
    """Gives the chosen option or the written answer; "" where the person leaves it unanswered.

    No row is chosen at first, so that what somebody happens to type answers nothing: it is collected in `typed`, for
    the prompt.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", id="question.up", show=False),
        Binding("down", "move(1)", "Down", id="question.down", show=False),
        Binding("enter", "answer", "Answer", id="question.answer", show=False),
        Binding("escape", "leave", "Leave", id="question.leave", show=False),
        Binding("ctrl+c", "stop", "Stop", id="question.stop", show=False),
    ]

    def __init__(self, question: PersonQuestion) -> None:
        super().__init__()
        self._question = visible(question.text)
        self._options = question.options
        self._chosen: int | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static(Text("The model asks"), classes="sheet-title", markup=False)
            with VerticalScroll(classes="sheet-facts", can_focus=False):
                yield Static(Text(self._question), markup=False)
            yield Static(classes="sheet-answers", markup=False)
            yield Static(KEYS, classes="sheet-note", markup=False)

    def on_mount(self) -> None:
        self._show_rows()

    def on_resize(self) -> None:
        """Gives the question the rows that the options leave; it scrolls if needed."""
        rows = self.size.height - _FRAME_ROWS - len(self._options) - 2
        self.query_one(VerticalScroll).styles.max_height = max(1, rows)

    def action_move(self, by: int) -> None:
        last = len(self._options)
        self._chosen = (0 if by > 0 else last) if self._chosen is None else max(0, min(self._chosen + by, last))
        self._show_rows()

    def action_answer(self) -> None:
        if self._chosen is None:
            return
        if not self._writes:
            self.dismiss(self._options[self._chosen])
        elif answer := self.typed.strip():
            self.typed = ""
            self.dismiss(answer)

    def action_leave(self) -> None:
        self.dismiss("")

    def action_stop(self) -> None:
        self.stop_or_leave("")

    @property
    def takes_line_break(self) -> bool:
        return super().takes_line_break and self._chosen is None

    def typing_changed(self) -> None:
        self._show_rows()

    @property
    def _writes(self) -> bool:
        """Whether the row to write in is chosen."""
        return self._chosen == len(self._options)

    def _show_rows(self) -> None:
        written = visible_line(self.typed)[-_SHOWN_CHARS:]
        rows = [*map(visible_line, self._options), f"Write: {written}▏" if self._writes else "Write an answer"]
        text = Text("\n".join(f"{'›' if number == self._chosen else ' '} {row}" for number, row in enumerate(rows)))
        if self.typed and not self._writes:
            text.append(f"\n  typed, for the prompt: {written[-60:]}", theme_colour(self, "muted"))
        self.query_one(".sheet-answers", Static).update(text)
