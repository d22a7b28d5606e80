"""A message that is too large for the request: parts of it are archived before it is stored."""

import asyncio
from collections.abc import AsyncGenerator, Callable

from agent import events
from agent.events import SessionEvent
from agent.turn.failure import reason_of
from agent.turn.ports import LargeTextPort, TurnInput
from foundation.errors import PalimpsestError


class LargeMessage:
    """`message` is the one to store: with references to what was archived, or as it was sent where that fails."""

    def __init__(self, port: LargeTextPort, message: TurnInput, is_stopped: Callable[[], bool]) -> None:
        self._port = port
        self._is_stopped = is_stopped
        self.message = message

    async def archive(self) -> AsyncGenerator[SessionEvent, None]:
        """Archives what does not fit the request."""
        message, attachments = await asyncio.to_thread(self._port.fold, self.message)
        if not attachments:
            return
        yield events.Archiving(tuple(attachment.name for attachment in attachments))
        try:
            archived, troubles = await asyncio.to_thread(self._port.archive, message, attachments, self._is_stopped)
        except (PalimpsestError, OSError) as error:
            if not self._is_stopped():
                yield events.Notice("error", f"The text could not be archived: {reason_of(error)}")
            return
        self.message = archived
        for trouble in troubles:
            yield events.Notice("warning", trouble)
