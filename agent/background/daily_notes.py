"""Keeps what the person decided in the day's notes, before the turns that it comes from leave a request.

What a model says or a file holds is not kept: notes are recalled as the person's own words. A note is a line with the
id of its observation, and written once: not again after an undo, nor where the person changed or deleted it. Notes are
no entries, so that nothing is observed of them.
"""

from collections.abc import Sequence
from typing import Final

from agent.tools.person.ask_user import AskUser
from foundation.clock import Clock
from foundation.errors import PalimpsestError
from foundation.privacy import TextSource, clear
from memory.memory import Memory
from memory.observations.observation import Importance
from memory.observations.store import StoredObservation
from memory.records import Conversation, Entry, EntryKind
from memory.versions.cause import Author, caused_by
from models.fence import neutralise
from models.messages import Role

MOST: Final = 20  # lines of one compaction, the newest
HEADING: Final = "Decided"


class DailyNotes:
    """The notes `memory/YYYY-MM-DD.md` (local day) of one workspace. Blocks on the disk."""

    def __init__(self, memory: Memory, clock: Clock, *, enabled: bool) -> None:
        self._memory = memory
        self._clock = clock
        self._enabled = enabled and not memory.read_only
        self._warning = ""

    def take_warnings(self) -> tuple[str, ...]:
        """Why nothing was written; given once."""
        warning, self._warning = self._warning, ""
        return (warning,) if warning else ()

    def keep(self, conversation: Conversation, leaving: Sequence[Entry]) -> None:
        """Writes what the observations of the leaving entries say that the person decided."""
        if not self._enabled or not leaving:
            return
        try:
            self._keep(conversation, leaving)
        except (PalimpsestError, OSError) as error:  # the compaction goes on: the observations are stored
            self._warning = f"The day's notes were not written: {error}"

    def _keep(self, conversation: Conversation, leaving: Sequence[Entry]) -> None:
        observations, cursor = self._memory.observations, f"notes of {conversation.seq}"
        last = observations.cursor(cursor)
        new = [item for seq, item in sorted(observations.of([entry.seq for entry in leaving]).items()) if seq > last]
        own = {entry.seq for entry in leaving if _is_the_persons(entry)}
        kept = [item for item in new if item.observation.importance is Importance.DECISION and item.original in own]
        self._memory.hot.look()
        written = "\n".join(note.text for note in self._memory.hot.notes())
        lines = [_line(item) for item in kept[-MOST:] if f"[{item.id}]" not in written]
        if lines:
            day = f"{self._clock.now().astimezone():%Y-%m-%d}"
            with caused_by(Author.PROGRAM, f"the day's notes of {conversation.id}"):
                self._memory.hot.remember(
                    clear("\n".join(lines), TextSource.OTHER),
                    heading=clear(HEADING),
                    conversation=conversation.id,
                    file=f"memory/{day}.md",
                )
        observations.set_cursor(cursor, max(entry.seq for entry in leaving))


def _is_the_persons(entry: Entry) -> bool:
    """Whether the person said it, or chose it when they were asked."""
    if entry.kind is EntryKind.TOOL_RESULT:
        return entry.speaker == AskUser.facts.name
    return entry.kind is EntryKind.MESSAGE and entry.role is Role.USER


def _line(item: StoredObservation) -> str:
    observation = item.observation
    return f"- {observation.importance.mark} {observation.type}: {neutralise(observation.brief)} [{item.id}]"
