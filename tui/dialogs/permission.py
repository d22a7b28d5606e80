"""Dialog that asks for permission to run a tool."""

from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from agent.permissions.action import Action, PermissionAnswer, Scope
from foundation.terminal_text import visible, visible_line
from tui.typed_app import theme_colour

_FRAME_ROWS: Final = 16  # padding, the title, the reason, the answers and the keys, with their margins
_ANSWERS: Final = (
    ("Once", PermissionAnswer(True)),
    ("For this session", PermissionAnswer(True, Scope.SESSION)),
    ("No", PermissionAnswer(False)),
    ("No, for the reason typed below", PermissionAnswer(False)),
)
KEYS: Final = "↑ ↓ choose · Enter answers · PgUp PgDn scroll · Esc says no"


class PermissionScreen(ModalScreen[PermissionAnswer]):
    """Shows the whole action and gives the answer. Esc declines.

    No answer is chosen at first, and typed text answers nothing, so that what somebody happens to type grants nothing.
    It is the reason for declining where that answer is chosen; otherwise it is collected in `typed`, for the prompt.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("pageup", "scroll(-8)", "Page up", show=False),
        Binding("pagedown", "scroll(8)", "Page down", show=False),
        Binding("enter", "answer", "Answer", show=False),
        Binding("escape,ctrl+c", "decline", "Decline", show=False),
    ]

    def __init__(self, action: Action, reason: str, *, once_only: bool = False) -> None:
        """`reason` is a sentence that says why it asks. `once_only`: no answer holds for longer."""
        super().__init__()
        self.typed = ""
        self._heading = visible_line(f"The model wants to use {action.tool}")
        self._reason = visible(reason)
        self._detail = visible(action.detail or action.summary)
        self._summary = visible_line(action.summary) if action.detail else ""
        self._answers = [row for row in _ANSWERS if not (once_only and row[1].scope is Scope.SESSION)]
        self._chosen: int | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static(Text(self._heading), classes="sheet-title", markup=False)
            if self._summary:
                yield Static(Text(self._summary), markup=False)
            with VerticalScroll(classes="sheet-facts", can_focus=False):
                yield Static(Text(self._detail), markup=False)
            yield Static(Text(self._reason, theme_colour(self, "muted")), classes="sheet-note", markup=False)
            yield Static(classes="sheet-answers", markup=False)
            yield Static(KEYS, classes="sheet-note", markup=False)

    def on_mount(self) -> None:
        self._show_answers()

    def on_resize(self) -> None:
        """Gives the action the rows that the answers leave; it scrolls if needed."""
        self.query_one(VerticalScroll).styles.max_height = max(1, self.size.height - _FRAME_ROWS)

    def action_move(self, by: int) -> None:
        last = len(self._answers) - 1
        self._chosen = (0 if by > 0 else last) if self._chosen is None else max(0, min(self._chosen + by, last))
        self._show_answers()

    def action_scroll(self, rows: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)

    def action_answer(self) -> None:
        if self._chosen is None:
            return
        answer = self._answers[self._chosen][1]
        if self._takes_reason:
            answer, self.typed = PermissionAnswer(False, reason=self.typed.strip()), ""
        self.dismiss(answer)

    def action_decline(self) -> None:
        self.dismiss(PermissionAnswer(False))

    def on_key(self, event: events.Key) -> None:
        if event.key == "backspace":
            self.typed = self.typed[:-1]
        elif event.is_printable and event.character:
            self.typed += event.character
        else:
            return
        event.stop()
        self._show_answers()

    def on_paste(self, event: events.Paste) -> None:
        self.typed += event.text.replace("\r\n", "\n").replace("\r", "\n")
        event.stop()
        self._show_answers()

    @property
    def _takes_reason(self) -> bool:
        return self._chosen == len(self._answers) - 1

    def _show_answers(self) -> None:
        rows = [f"{'›' if number == self._chosen else ' '} {label}" for number, (label, _) in enumerate(self._answers)]
        if self.typed:
            use = "reason" if self._takes_reason else "typed, for the prompt"
            rows.append(f"  {use}: {visible_line(self.typed)[-60:]}")
        self.query_one(".sheet-answers", Static).update(Text("\n".join(rows)))
