"""The line below a turn that changed files: how many, how many lines, and the command that restores them."""

import asyncio
from typing import TYPE_CHECKING

from agent.events import CheckpointMade, SessionEvent, UserStored
from agent.services.panel_figures import changed_files, changes_sentence
from foundation.errors import PalimpsestError
from tui.widgets.transcript.items import MutedLine
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:
    from agent.checkpoints.change import CheckpointRecord
    from agent.session import Session


class TurnChanges:
    """Collects the checkpoints of a turn."""

    def __init__(self, session: "Session", transcript: Transcript) -> None:
        self._session, self._transcript = session, transcript
        self._records: list[CheckpointRecord] = []

    def take(self, event: SessionEvent) -> None:
        match event:
            case UserStored(steers=False):
                self._records = []
            case CheckpointMade(record=record):
                self._records.append(record)
            case _:
                pass

    async def show(self) -> None:
        """Shows the line, where the turn changed files."""
        records, self._records = self._records, []
        if not records:
            return
        try:
            files = await asyncio.to_thread(changed_files, self._session.checkpoints, records)
        except (PalimpsestError, OSError):  # a stored version is gone: /undo says which
            return
        if sentence := changes_sentence(files):
            self._transcript.add(MutedLine(sentence, gap=True))
