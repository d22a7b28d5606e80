"""The ids of one import: cleared, stable over repeated imports, and not guessable."""

import hashlib

from agent.importers.record import ImportRecord
from foundation.privacy import Cleared, as_made, clear, cleared_id, edited
from memory.conversations import Conversations


class ImportNames:
    """Makes the ids for one import into one store: cleared, stable over repeated imports, and not guessable.

    The hash in an id that is derived from possibly private text is keyed with the workspace's secret. Versions up to
    0.3.0 hashed without a key: their ids in the store are reused, so that nothing is imported twice.
    """

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations
        self._cached: dict[str, Cleared] = {}

    def name(self, raw: str) -> Cleared:
        """An id fit for storage: itself, or its cleared form with a few digits that keep it unique."""
        cleared = clear(raw)
        if cleared == raw:
            return cleared
        if raw not in self._cached:
            self._cached[raw] = self._private_name(raw, cleared)
        return self._cached[raw]

    def generated(self, record: ImportRecord, ordinal: int) -> Cleared:
        """The id of an entry without one; `ordinal` counts entries of its conversation with equal content, from 1."""
        return as_made(f"i_{self._conversations.keyed_hash(_content(record))[:16]}{_suffix(ordinal)}")

    def renamed(self, id_: str, content: bytes) -> Cleared:
        """The id of an entry whose own id stands for another entry of its conversation; `content` is its hash."""
        digits = self._conversations.keyed_hash(f"{id_} {content.hex()}")[:12]
        return clear(f"{id_}-{digits}")

    def _private_name(self, raw: str, cleared: Cleared) -> Cleared:
        legacy_name = cleared_id(raw)
        if self._conversations.is_known_name(legacy_name):
            return legacy_name
        digits = self._conversations.keyed_hash(raw)[:8]
        return clear(edited(cleared, lambda text: f"{text}-{digits}"))


def legacy_entry_id(record: ImportRecord, ordinal: int) -> Cleared:
    """The id that versions up to 0.3.0 gave the same entry, hashed without a key."""
    digest = hashlib.sha256(_content(record).encode("utf-8", "surrogatepass")).hexdigest()
    return as_made(f"i_{digest[:16]}{_suffix(ordinal)}")


def entry_hash(record: ImportRecord) -> bytes:
    """A hash of the entry's content, for counting equal entries within a run."""
    return hashlib.sha256(_content(record).encode("utf-8", "surrogatepass")).digest()


def entry_hash_in_file(record: ImportRecord) -> bytes:
    """That hash; without a time, equal texts in two chunk files are two entries."""
    file = "" if record.time else record.file
    return hashlib.sha256(f"{file}\x1f{_content(record)}".encode("utf-8", "surrogatepass")).digest()


def _content(record: ImportRecord) -> str:
    return "\x1f".join((record.role.value, record.speaker, str(record.time or ""), record.text))


def _suffix(ordinal: int) -> str:
    return f"_{ordinal}" if ordinal > 1 else ""
