"""Tells of a file that was edited while the chat stands open, without waiting for a message."""

import asyncio
from typing import TYPE_CHECKING, Final

from foundation.errors import PalimpsestError
from tui.widgets.transcript.items import Quiet
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:
    from agent.session import Session
    from tui.chat.controller import Talk

PERIOD: Final = 1.0  # seconds between two looks: a few calls of stat


class FileWatch:
    """`run` looks until it is cancelled. A turn looks by itself, so nothing is done while one goes on."""

    def __init__(self, talk: "Talk", transcript: Transcript) -> None:
        self._talk = talk
        self._transcript = transcript
        self._trouble = ""  # told last

    async def run(self) -> None:
        while True:
            await asyncio.sleep(PERIOD)
            if self._talk.at_rest:
                await self._look(self._talk.session)

    async def _look(self, session: "Session") -> None:
        try:
            notices = await asyncio.to_thread(session.context.reload)
        except (PalimpsestError, OSError) as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                self._transcript.add(Quiet(self._trouble, tone="warning"))
            return
        self._trouble = ""
        if notices:
            self._transcript.add(*[told(notice.level, str(notice)) for notice in notices])


def told(level: str, text: str) -> Quiet:
    """A notice as a quiet line."""
    return Quiet(text, tone={"error": "error", "warning": "warning"}.get(level, "muted"))
