"""Base of the dialogs with numbered answers, the last of which is written: chosen by number, arrows or a click."""

import time
from collections.abc import Sequence
from typing import Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.screen import ScreenResultType
from textual.timer import Timer
from textual.widgets import Static

from tui.dialogs.sheet import AT_ONCE_S, SheetDialog

NUMBER_S: Final = 0.3  # seconds after a number until it answers: more text makes it text
ROW: Final = "answer"  # in the style of an answer's text: its index


class AnswerRows(VerticalScroll, can_focus=False):
    """The answers, one below the other. The chosen one is in view."""

    def __init__(self) -> None:
        super().__init__(classes="sheet-answers")
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        yield self._text

    def show(self, answers: Sequence[Text], chosen: int | None, note: Text) -> None:
        """Shows them, and the note below them where it has text."""
        for number, answer in enumerate(answers):
            answer.apply_meta({ROW: number})
        rows = [*answers, note] if note else [*answers]
        self._text.update(Text("\n").join(rows))
        self.call_after_refresh(self._keep_in_view, rows, chosen, is_last=chosen == len(answers) - 1)

    def _keep_in_view(self, rows: Sequence[Text], chosen: int | None, *, is_last: bool) -> None:
        """Scrolls to the chosen answer; after the last one also to the note, which is what is typed for it."""
        width = self.scrollable_content_region.width
        if chosen is None or not width:
            return
        heights = [Content.from_rich_text(row).get_height({}, width) for row in rows]
        end = len(rows) if is_last else chosen + 1
        region = Region(0, sum(heights[:chosen]), width, sum(heights[chosen:end]))
        self.scroll_to_region(region, animate=False, force=True)


class AnswersDialog(SheetDialog[ScreenResultType]):
    """Text answers nothing, so that what somebody happens to type grants nothing: it takes back a choice. Where the
    last answer is chosen it is `written`, otherwise it is for the prompt. A number that more text follows at once is
    text too, and so is one that Enter follows in the same instant: both were pasted. After text for the prompt a number
    only chooses. A number that was pressed too early goes nowhere.
    """

    keeps_number = False  # such a number belongs to the prompt's text

    def __init__(self, count: int, *, settle_s: float) -> None:
        """`count` of answers; none is chosen at first, so that Enter alone answers nothing. Numbers, arrows, clicks and
        Enter do nothing in the first `settle_s` seconds, and not before the last typed character is as old: they were
        meant for the prompt.
        """
        super().__init__()
        self._count = count
        self._settle_s = settle_s
        self._chosen: int | None = None
        self._number = ""  # that chose an answer, while more text may still make it text
        self._number_timer: Timer | None = None  # runs until the number answers
        self._last_typed = time.monotonic()
        self._last_key = 0.0  # when it came, on the clock of events
        self.written = ""

    def on_mount(self) -> None:
        self._last_typed = time.monotonic()
        self._wait_until_settled()

    def on_key(self, event: events.Key) -> None:  # before the one of the base, which Textual calls, too
        self._drop_stray_number()
        is_at_once, self._last_key = event.time - self._last_key < AT_ONCE_S, event.time
        if event.key == "enter" and is_at_once and self._number:
            self.typed += self._for_prompt(self._take_back_number())

    def on_paste(self, event: events.Paste) -> None:  # as above
        self._drop_stray_number()

    def on_click(self, event: events.Click) -> None:
        index = event.style.meta.get(ROW)
        if isinstance(index, int) and self._is_settled:
            self._take_back_number()
            self._chosen = index
            self.typing_changed()
            self.answer_chosen()

    def action_move(self, by: int) -> None:
        if not self._is_settled:
            return
        self._take_back_number()
        first = 0 if by > 0 else -1
        self._chosen = (first if self._chosen is None else self._chosen + by) % self._count
        self.typing_changed()

    def action_answer(self) -> None:
        self.answer_chosen()

    def answer_chosen(self) -> None:
        """Gives the chosen answer; a written one only where something is written."""
        if self._chosen is None or not self._is_settled or (self._writes and not self.written.strip()):
            return
        self.give(self._chosen)

    def give(self, index: int) -> None:
        """Dismisses the dialog with this answer."""
        raise NotImplementedError

    def take_text(self, text: str) -> str:
        self._drop_stray_number()
        number = self._take_back_number()
        if not number and self._writes:
            self.written += text
            return ""
        if not number and self._is_answer(text):
            self._chosen = int(text) - 1
            self._number = "" if self._writes else text
            if self._number and not self._has_text:
                self._number_timer = self.set_timer(NUMBER_S, self.answer_chosen)
            return ""
        return self._for_prompt(number + text)

    def take_paste(self, text: str) -> str:
        number = self._take_back_number()
        if not number and self._writes:
            self.written += text
            return ""
        return self._for_prompt(number + text)

    def _for_prompt(self, text: str) -> str:
        """Text that answers nothing: it takes back a choice."""
        self._chosen = None
        if not self._is_stray(self.typed + text):  # else the same number, pressed on until keys answer, never would
            self._last_typed = time.monotonic()
        self._wait_until_settled()
        return text

    def take_backspace(self) -> None:
        if self._take_back_number():
            self._chosen = None
        elif self._writes:
            self.written = self.written[:-1]
        else:
            super().take_backspace()

    @property
    def unsent(self) -> str:
        return "" if self._has_stray_number else super().unsent

    @property
    def takes_line_break(self) -> bool:
        return super().takes_line_break and self._chosen is None

    @property
    def _is_settled(self) -> bool:
        return self.settles_in <= 0

    @property
    def settles_in(self) -> float:
        """The seconds until keys and clicks answer."""
        return self._settle_s - (time.monotonic() - self._last_typed)

    @property
    def _writes(self) -> bool:
        """Whether the last answer is chosen."""
        return self._chosen == self._count - 1

    def _is_answer(self, text: str) -> bool:
        """Whether it is the number of an answer, and not part of what is typed for the prompt or was written."""
        return self._is_number(text) and self._is_settled and not self.written

    def _is_number(self, text: str) -> bool:
        return self._count > 1 and text in map(str, range(1, min(self._count, 9) + 1))

    @property
    def _has_stray_number(self) -> bool:
        """Whether all that was typed is a number that answered nothing: pressed too early, or again and again."""
        return self._is_stray(self.typed)

    def _is_stray(self, typed: str) -> bool:
        typed = typed.rstrip("\n")
        is_one = len(set(typed)) == 1 and self._is_number(typed[0])
        return is_one and self._settle_s > 0 and not (self.keeps_number or self.has_paste)

    @property
    def _has_text(self) -> bool:
        """Whether something was typed for the prompt."""
        return bool(self.typed) and not self._has_stray_number

    def _drop_stray_number(self) -> None:
        """Forgets such a number once keys answer again."""
        if self._is_settled and self._has_stray_number:
            self.typed = ""

    def _wait_until_settled(self) -> None:
        """Shows what keys do once they answer again."""
        if not self._is_settled:
            self.set_timer(self.settles_in + 0.01, self._wait_until_settled)
            return
        self._drop_stray_number()
        if self.is_mounted:
            self.typing_changed()

    @property
    def enter_does(self) -> str:
        return "answers"

    def keys_now(self, last: str) -> str:
        """What keys do now; `last` are those that always do the same."""
        if not self._is_settled:
            return f"just opened: keys work in a moment · {last}"
        numbers = f"1–{min(self._count, 9)} " if self._count > 1 and not self._writes else ""
        if self._chosen is not None:
            return f"{numbers}{'↑ ↓ · ' if self._count > 1 else ''}Enter {self.enter_does} · {last}"
        breaks = "Enter starts a new line · " if self.takes_line_break else ""
        return f"{numbers}↑ ↓ choose · {breaks}{last}"

    def _take_back_number(self) -> str:
        """The number that chose an answer, which does no longer; "" where none did."""
        number, self._number = self._number, ""
        timer, self._number_timer = self._number_timer, None
        if timer is not None:
            timer.stop()
        return number
