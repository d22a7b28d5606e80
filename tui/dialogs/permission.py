"""Dialog that asks for permission to run a tool."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from agent.permissions.action import Action, PermissionAnswer
from agent.services.permission_question import PermissionQuestion
from foundation.terminal_text import visible_line
from tui.dialogs.answers import AnswerRows, AnswersDialog
from tui.dialogs.text_rows import TextRows
from tui.typed_app import theme_colour
from tui.widgets.sheet import Sheet
from tui.widgets.status import clip

_SHOWN_CHARS: Final = 60  # of what was typed
_WIDE: Final = 60  # columns; below, the keys take the room of the words about what is below
LAST_KEYS: Final = "Esc denies · Ctrl+C stops · PgUp PgDn"
_DIFF_COLOURS: Final = {"+": "good-ink", "-": "error-ink", "@": "muted"}
_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


TYPED_ANSWERS: Final = ("y", "n", "yes", "no")


class PermissionScreen(AnswersDialog[PermissionAnswer]):
    """Shows the whole action and gives the answer. Esc declines, Ctrl+C stops the turn.

    What is written where the last answer is chosen is the reason for declining.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", id="permission.up", show=False),
        Binding("down", "move(1)", "Down", id="permission.down", show=False),
        Binding("home", "scroll_rows(-100000)", "To the start", id="permission.begin", show=False),
        Binding("end", "scroll_rows(100000)", "To the end", id="permission.end", show=False),
        Binding("enter", "answer", "Answer", id="permission.answer", show=False),
        Binding("shift+tab", "mode", "The next permission mode", id="permission.mode", show=False),
        Binding("escape", "decline", "Decline", id="permission.decline", show=False),
        Binding("ctrl+c", "stop", "Stop", id="permission.stop", show=False),
    ]

    def __init__(
        self,
        action: Action,
        reason: str,
        *,
        once_only: bool = False,
        offers: Sequence[str] = (),
        settle_s: float = 0.0,
        in_message: bool = False,
    ) -> None:
        """`reason` is a sentence that says why it asks. `once_only`: no answer holds for longer.

        `offers` are the rules that may be remembered, the narrowest first. `in_message`: somebody is in the middle of
        a message, of which a number that is pressed too early is a part.
        """
        question = PermissionQuestion.of(action, reason, once_only=once_only, offers=offers)
        super().__init__(len(question.answers), settle_s=settle_s)
        self._heading, self._summary, self._note = question.heading, question.summary, question.note
        self._answers = question.answers
        lines = (
            [*diff_colours(question.detail)] if action.is_diff else [(line, "") for line in question.detail.split("\n")]
        )
        self._detail_lines, self._line_colours = [line for line, _ in lines], [name for _, name in lines]
        self.keeps_number = in_message
        self._was_scrolled = False
        self.go_to_next_mode: Callable[[], object] | None = None
        self._mode = ""  # a sentence about the mode, once it was changed

    @property
    def unsent(self) -> str:
        """What was typed, but no `y` or `no`: that answered nothing, and was meant for nothing else."""
        is_answer = not (self.keeps_number or self.has_paste) and self.typed.strip().lower() in TYPED_ANSWERS
        return "" if is_answer else super().unsent

    def compose(self) -> ComposeResult:
        with Sheet():
            yield Static(Text(self._heading), classes="sheet-title", markup=False)
            with VerticalScroll(classes="sheet-facts", can_focus=False):
                if self._summary:
                    yield Static(Text(self._summary), markup=False)
                yield TextRows([*zip(self._detail_lines, self._colours(), strict=True)], id="permission-detail")
                yield Static(Text(self._note), classes="sheet-note in-short", markup=False)
            yield Static(Text(self._note), classes="sheet-note in-tall", markup=False)
            yield AnswerRows()
            yield Static(id="permission-keys", classes="sheet-note", markup=False)

    def on_mount(self) -> None:
        self._show_answers()
        self.watch(self.facts, "scroll_y", self._show_keys, init=False)  # pyright: ignore[reportUnknownMemberType] - Textual

    def on_resize(self) -> None:
        self._show_answers()
        self.call_after_refresh(self._show_keys)

    def action_answer(self) -> None:
        """The first Enter scrolls where the action goes on below: nothing is agreed to whose end was out of view."""
        if self._is_settled and self._scrolls_first:
            self.action_scroll_rows(100_000)
            return
        super().action_answer()

    @property
    def enter_does(self) -> str:
        return "scrolls down first" if self._scrolls_first else super().enter_does

    @property
    def _scrolls_first(self) -> bool:
        """Whether the end of what the chosen answer allows has not been in view yet."""
        grants = self._chosen is not None and self._answers[self._chosen][1].granted
        return grants and not self._was_scrolled and self._rows_below > 0

    @property
    def _rows_below(self) -> int:
        return round(self.facts.max_scroll_y - self.facts.scroll_y)

    def give(self, index: int) -> None:
        self.dismiss(PermissionAnswer(False, reason=self.written.strip()) if self._writes else self._answers[index][1])

    def action_mode(self) -> None:
        """Goes to the next mode, as Shift+Tab does in the chat; the question stays."""
        if self.go_to_next_mode is not None:
            self.go_to_next_mode()

    def show_mode(self, sentence: str) -> None:
        """Says which mode it is now: the question covers the status bar."""
        self._mode = sentence
        self._show_answers()

    def action_decline(self) -> None:
        self.dismiss(PermissionAnswer(False))

    def action_stop(self) -> None:
        self.stop_or_leave(PermissionAnswer(False))

    def typing_changed(self) -> None:
        self._show_answers()

    def draw_colours(self) -> None:
        self.query_one(TextRows).recolour(self._colours())

    def _colours(self) -> list[str]:
        """The colours of the detail's lines: of a diff, by their marks."""
        colours = {name: theme_colour(self, name) if name else "" for name in {*self._line_colours}}
        return [colours[name] for name in self._line_colours]

    def _show_keys(self) -> None:
        """Shows what keys do now, and how much of the action stands below."""
        below = self._rows_below
        self._was_scrolled |= self.facts.scroll_y > 0
        counted = f"{below:,} more {'line' if below == 1 else 'lines'}" if self.size.width >= _WIDE else f"{below:,}"
        more = f"↓ {counted} · " if below > 0 else ""
        self.query_one("#permission-keys", Static).update(Text(f"{more}{self.keys_now(LAST_KEYS)}"))

    def _show_answers(self) -> None:
        width = max(min(self.size.width, 100) - 4, 10)
        answers = [
            Text(clip(f"{'›' if number == self._chosen else ' '} {number + 1} {label}", width))
            for number, (label, _) in enumerate(self._answers)
        ]
        note = ""
        if self._writes:
            shown = visible_line(self.written)[-_SHOWN_CHARS:]
            note = f"  reason: {shown}▏{'' if shown else ' type it, then Enter'}"
        elif self.typed:
            note = f"  saved for the prompt: {visible_line(self.typed)[-_SHOWN_CHARS:]}"
        elif self._mode:
            note = f"  {self._mode}"
        self.query_one(AnswerRows).show(answers, self._chosen, Text(clip(note, width)))
        self._show_keys()


def diff_colours(diff: str) -> Iterator[tuple[str, str]]:
    """The lines of a unified diff with their colours; "" for headers and unchanged lines.

    Within a hunk, which says how many lines it has, `-- x` removed is no header.
    """
    removed = added = 0  # lines that the hunk still has
    for line in diff.splitlines(keepends=True):
        if removed > 0 or added > 0:
            removed -= line[0] != "+" and line[0] != "\\"
            added -= line[0] != "-" and line[0] != "\\"
            yield line, _DIFF_COLOURS.get(line[0], "")
            continue
        if hunk := _HUNK.match(line):
            removed, added = (int(count or 1) for count in hunk.groups())
        is_header = line.startswith(("--- ", "+++ "))
        yield line, "" if is_header else _DIFF_COLOURS.get(line[:1], "")
