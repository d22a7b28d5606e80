"""Ids of imported entries and conversations: cleared, stable for a file that is imported again, and not to be guessed.

Where an id is made of words that may be private, the hash in it is keyed with the workspace's secret. Versions up to
0.3.0 hashed without a key: an id of theirs that is in the store is used further, so that nothing is imported twice.
"""

import hashlib

from agent.importers.record import ImportRecord
from foundation.privacy import Cleared, as_made, clear, cleared_id, edited
from memory.conversations import Conversations


class ImportNames:
    """Names for one import into one store."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations
        self._known: dict[str, Cleared] = {}

    def name(self, raw: str) -> Cleared:
        """An id as it may be stored: itself, or its cleared form and a few digits that keep it the only one."""
        cleared = clear(raw)
        if cleared == raw:
            return cleared
        if raw not in self._known:
            self._known[raw] = self._of_private(raw, cleared)
        return self._known[raw]

    def made(self, record: ImportRecord, nth: int) -> Cleared:
        """The id of the nth entry of its conversation that says this, where the file gives none."""
        return as_made(f"i_{self._conversations.keyed_hash(_said(record))[:16]}{_suffix(nth)}")

    def _of_private(self, raw: str, cleared: Cleared) -> Cleared:
        before = cleared_id(raw)
        if self._conversations.is_known_name(before):
            return before
        digits = self._conversations.keyed_hash(raw)[:8]
        return clear(edited(cleared, lambda text: f"{text}-{digits}"))


def made_before(record: ImportRecord, nth: int) -> Cleared:
    """The id that versions up to 0.3.0 made for the same entry: its hash has no key."""
    digest = hashlib.sha256(_said(record).encode("utf-8", "surrogatepass")).hexdigest()
    return as_made(f"i_{digest[:16]}{_suffix(nth)}")


def said(record: ImportRecord) -> bytes:
    """What tells entries apart that have no id; for counting within a run."""
    return hashlib.sha256(_said(record).encode("utf-8", "surrogatepass")).digest()


def _said(record: ImportRecord) -> str:
    return "\x1f".join((record.role.value, record.speaker, str(record.time or ""), record.text))


def _suffix(nth: int) -> str:
    return f"_{nth}" if nth > 1 else ""
