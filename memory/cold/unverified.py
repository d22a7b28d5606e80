"""Answers of the assistant that nothing backs: no passage was recalled for them, and no tool ran in their turn.

An answer says so in its meta (memory.origin.UNVERIFIED). Of an older one it is read from the store: its parent is a
user's message with which nothing was sent.
"""

from collections.abc import Iterable
from typing import Final

from memory.cold.sql import fetch
from memory.cold.store import ColdStore
from memory.origin import DERIVED_FROM, QUOTING, UNVERIFIED
from memory.records import Entry, EntryKind
from models.messages import Role

_BARE: Final = "SELECT seq FROM entries WHERE seq = ? AND kind = 'message' AND role = 'user' AND sent IS NULL"


def unverified_answers(cold: ColdStore, entries: Iterable[Entry]) -> frozenset[int]:
    """The seqs of those of the entries that are such answers."""
    answers = [entry for entry in entries if entry.kind is EntryKind.MESSAGE and entry.role is Role.ASSISTANT]
    flagged = {entry.seq for entry in answers if entry.meta.get(UNVERIFIED)}
    older = {entry.parent: entry.seq for entry in answers if entry.parent is not None and _is_older(entry)}
    if not older:
        return frozenset(flagged)
    bare = cold.read(lambda db: [seq for parent in older for (seq,) in fetch(db, _BARE, (parent,))])
    return frozenset(flagged | {older[parent] for parent in bare})


def _is_older(entry: Entry) -> bool:
    known = {UNVERIFIED, DERIVED_FROM, "tool_calls"} & entry.meta.keys()
    return not known and entry.speaker != QUOTING
