"""Steering: messages that people send into a running turn, instead of after it.

The turn takes them where a request may change: before its next request, and at once where the model only writes text.
"""

from collections.abc import Callable
from typing import Final

from agent.turn.ports import SteeringPort, TurnInput
from models.chat.port import AnswerEnd, AnswerError, StopReason

STEERED: Final = "Not run: the user sent a message meanwhile, which follows. Call it again if it is still right."


class Steering:
    """When a turn takes its steering messages.

    An answer that only writes text is cut; one that has begun a tool call ends by itself, and the call gets its result.
    """

    def __init__(self, port: SteeringPort, cut: Callable[[], object]) -> None:
        """`cut` ends the answer that streams; it does nothing between answers."""
        self._port = port
        self._cut = cut
        self._streams = self._has_call = False  # whether an answer streams, and has begun a tool call
        self.is_cut = False  # whether the newest answer ended for a message

    @property
    def waits(self) -> bool:
        return self._port.waits

    def begin_answer(self) -> None:
        """Begins with a cut where a message came while the request was made."""
        self._streams, self._has_call, self.is_cut = True, False, self._port.waits

    def end_answer(self, outcome: AnswerEnd | AnswerError | None) -> None:
        """An answer that was whole, or failed, was cut too late."""
        self._streams, self.is_cut = False, self.is_cut and outcome in {None, AnswerEnd(StopReason.CANCELLED)}

    def note_call(self) -> None:
        """The answer has begun a tool call."""
        self._has_call = True

    def steer(self) -> None:
        """Called when a message has come."""
        if self._streams and self._port.waits and not self._has_call:
            self.is_cut = True
            self._cut()

    async def take(self) -> TurnInput | None:
        """The message that the turn goes on with; None where there is none."""
        return await self._port.take() if self._port.waits else None
