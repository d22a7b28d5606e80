"""Questions as numbered lines, answered by a number or a word. Nothing entered is the answer that changes nothing."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from agent.permissions.action import PermissionAnswer
from agent.services.opening_questions import OpeningQuestion
from agent.services.permission_question import PermissionQuestion
from foundation.terminal_text import visible_line

_DECLINE: Final = "No, for a reason"


class NumberedQuestion(Struct, frozen=True, kw_only=True):
    """`lines` are read first. `default` is the index of the safe answer, None where nothing is entered for none.
    `takes_text`: any other text is an answer, too."""

    lines: tuple[str, ...]
    answers: tuple[str, ...] = ()
    default: int | None = None
    takes_text: bool = False

    @property
    def shown(self) -> list[str]:
        """The lines, and the answers with their numbers."""
        rows = [f"{number}: {visible_line(label)}" for number, label in enumerate(self.answers, 1)]
        return [*self.lines, *rows]

    @property
    def prompt(self) -> str:
        count = f"1 to {len(self.answers)}" if len(self.answers) > 1 else "1"
        kinds = [*([count] if self.answers else []), *(["your own words"] if self.takes_text else [])]
        empty = (
            f"Enter alone is {self.default + 1}, {self.answers[self.default].lower()}"
            if self.default is not None
            else ("Enter alone cancels")
        )
        return f"Answer, {' or '.join(kinds)}; {visible_line(empty)}: "

    def index_of(self, typed: str) -> int | None:
        """The index of the answer that a number, a word or the beginning of one names; None for none or several."""
        words = visible_line(typed).lower()
        if not words:
            return self.default
        if words.isascii() and words.isdigit():
            return int(words) - 1 if 0 < int(words) <= len(self.answers) else None
        labels = [visible_line(label).lower() for label in self.answers]
        if words in labels:
            return labels.index(words)
        starts = [n for n, label in enumerate(labels) if label.startswith(words)]
        return starts[0] if len(starts) == 1 else None


def opening_question(asked: OpeningQuestion) -> tuple[NumberedQuestion, list[bool | None]]:
    """The question before the chat opens, and what each answer means."""
    answers = [(asked.yes, True), (asked.no, False), (asked.later, None)]
    given: list[tuple[str, bool | None]] = [(label, value) for label, value in answers if label]
    lines = (f"Question: {asked.title}.", *asked.facts)
    question = NumberedQuestion(lines=lines, answers=tuple(label for label, _ in given), default=len(given) - 1)
    return question, [value for _, value in given]


def permission_question(
    asked: PermissionQuestion, detail: Sequence[str]
) -> tuple[NumberedQuestion, list[PermissionAnswer]]:
    """The question for a permission, and what each answer gives; the last one is to decline for a reason."""
    labels = [label for label, _ in asked.answers[:-1]]
    lines = (
        f"Permission: {asked.heading}.",
        *([asked.summary] if asked.summary else []),
        *detail,
        *([asked.note] if asked.note else []),
    )
    question = NumberedQuestion(lines=lines, answers=(*labels, _DECLINE), default=labels.index("No"))
    return question, [answer for _, answer in asked.answers]


def yes_or_no(*lines: str, yes: str = "yes", no: str = "no") -> NumberedQuestion:
    """A question whose safe answer is no."""
    return NumberedQuestion(lines=lines, answers=(yes, no), default=1)
