"""Where and when a conversation takes place: a line in an epoch's opening, and the date with the first message of
another day."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from context.assembly.tokens import Layer, MessageCounter
from context.epoch import EpochState, HeadPiece
from context.report import ENVIRONMENT
from context.sources.changes import SourceChange
from foundation.privacy import TextSource, clear
from models.chat.port import Profile

if TYPE_CHECKING:  # import cycle
    from context.state import ContextState

OFFLINE: Final = "offline"  # reads no head
SHARE: Final = 0.05  # of a request's tokens, at most
_KEY: Final = "date"


def date_sentence(now: datetime) -> str:
    """`Today is Saturday, 2026-03-14.`"""
    return f"Today is {now:%A}, {now:%Y-%m-%d}."


class WhereAndWhen:
    """Adds the line to the epochs of one turn's request."""

    def __init__(self, components: "ContextState", profile: Profile, counting: MessageCounter, total: int) -> None:
        """`total`: the tokens that a request may have."""
        self.now = components.clock.now().astimezone()
        self._line = "" if profile.spec == OFFLINE else components.environment(self.now, profile.is_small)
        self._day = f"{self.now:%Y-%m-%d}"
        piece = HeadPiece(Layer.SYSTEM.value, ENVIRONMENT, clear(self._line, TextSource.OTHER), ENVIRONMENT, opens=True)
        self._pieces = (piece,) if self._line and counting.text(piece.text) <= total * SHARE else ()

    def added(self, state: EpochState) -> EpochState:
        """The new epoch with the line as the end of its opening."""
        return replace(state, pieces=(*state.pieces, *self._pieces), day=self._day) if self._line else state

    def changes(self, state: EpochState, in_view: frozenset[int]) -> tuple[SourceChange, ...]:
        """The date, if neither the head nor a message in view has it."""
        told = state.told.get(_KEY)
        known = told.digest if told is not None and told.entry in in_view else state.day
        is_new = self._line and known != self._day
        return (SourceChange(_KEY, self._day, f"- {date_sentence(self.now)}"),) if is_new else ()
