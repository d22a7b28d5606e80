"""Entries of another conversation that a file repeats: a forked session begins with those of its parent."""

from collections import Counter
from collections.abc import Iterator

from agent.importers.record import ImportRecord
from foundation.privacy import Cleared, TextSource, clear
from memory.conversations import Conversations
from memory.errors import NotFound
from memory.records import Entry


class Replays:
    """Finds the records of one import whose entries another conversation of the same source has."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations
        self._entries: dict[tuple[str, tuple[str, ...]], Counter[int]] = {}  # by conversation and those it repeats

    def holds(self, record: ImportRecord, source: Cleared) -> bool:
        """Whether a conversation that the record is repeated from has it; each of its entries counts once."""
        if not record.replayed_from:
            return False
        key = (record.conversation, record.replayed_from)
        if key not in self._entries:
            self._entries[key] = Counter(
                _key(entry.role, entry.text or "")
                for id_ in record.replayed_from
                for entry in self._of_conversation(id_, source)
            )
        entries, content = self._entries[key], _key(record.role, clear(record.text, TextSource.OTHER))
        entries[content] -= 1
        return entries[content] >= 0

    def _of_conversation(self, id_: str, source: str) -> Iterator[Entry]:
        try:
            found = self._conversations.find(id_)
        except NotFound:
            return
        if found.id == id_ and found.source == source:
            yield from self._conversations.all_entries(found.seq)


def _key(role: str, text: str) -> int:
    return hash((role, text))
