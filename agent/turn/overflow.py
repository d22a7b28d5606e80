"""What a turn does when the server says that its context overflowed: learns the window, and sends once more."""

from typing import Final, TypeGuard

from agent.events import ContextOverflowed
from context.assembly.budget import budget_for
from context.report import ContextReport
from context.settings import ContextSettings
from models.chat.port import AnswerEnd, AnswerError, ChatModel

OVERFLOW: Final = "too_large"  # the code of the error
STEP: Final = 0.75  # of a rejected request's room, where the server names no window
MOST_LEARNED: Final = 4  # times the tokens counted: a server's figure beyond that is not believed


class OverflowRetry:
    """The one retry of a turn. Pure but for the model, whose window and token counter learn."""

    def __init__(self, settings: ContextSettings) -> None:
        self._settings = settings
        self._event: ContextOverflowed | None = None
        self._rejected = 0

    def take_rejected(self) -> int:
        """Tokens of the request that was rejected, given once: to the request that answers it. 0 where none was."""
        tokens, self._rejected = self._rejected, 0
        return tokens

    def learn(
        self, outcome: AnswerEnd | AnswerError | None, report: ContextReport, model: ChatModel
    ) -> ContextOverflowed | None:
        """Learns from a rejected request; None where the answer ended otherwise, or a request was retried before.

        Afterwards the same turn makes a smaller request: its budget is smaller, or its tokens count more.
        """
        if not _is_overflow(outcome) or self._event is not None:
            return None
        figures, counted = outcome.overflow, report.total_tokens
        size = max(counted, min(figures.prompt_tokens, MOST_LEARNED * counted))
        if size > counted:
            model.counter.learn(counted, size)
        stated = figures.window or max(0, size - figures.excess if figures.excess else 0)
        window = stated
        if not stated or size <= budget_for(min(stated, report.window), self._settings).total:
            window = int(STEP * min(stated or report.window, size + report.reserve))
        model.learn_window(window, stated=bool(stated))
        self._rejected = size
        self._event = ContextOverflowed(stated or window, report.window, size, bool(stated))
        return self._event

    def final(self, outcome: AnswerEnd | AnswerError | None) -> AnswerEnd | AnswerError | None:
        """The outcome of the turn: a second overflow in it says what was tried, and what to do."""
        if not _is_overflow(outcome) or self._event is None:
            return outcome
        window = f"{self._event.window:,} tokens"
        return AnswerError(
            OVERFLOW,
            "Too long for the model, twice",
            f"The request was made smaller for a window of {window}, and the server rejected it again: "
            f"{outcome.message}",
            "/compact moves older turns to the archive, /new begins without them; models.window sets a smaller window, "
            "and a server may be started with a larger one.",
            outcome.overflow,
        )


def _is_overflow(outcome: AnswerEnd | AnswerError | None) -> TypeGuard[AnswerError]:
    return isinstance(outcome, AnswerError) and outcome.code == OVERFLOW
