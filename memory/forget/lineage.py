"""Entries that stay and of which something goes: they were made of what is forgotten, or hold the words.

Each comes with the reason, for the plan; the steps change the same ones.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Final

import apsw
import msgspec

from foundation.trust import Citation
from memory.cold.encoding import to_parts
from memory.cold.sql import batches, each, first, marks
from memory.forget.work import DERIVED, EntryBytes, ForgetWork, behind_escapes, entry_bytes, found_in
from memory.records import EntryKind
from models.messages import RecalledSpan

OBSERVATION: Final = "an observation of it: deleted"
SUMMARY: Final = "a summary: regenerated from what remains"
RECALLED: Final = "recalled text in it becomes [forgotten]; its own text is kept"
SENT: Final = "attached data contains the text: replaced by [forgotten]; its own text is kept"
BESIDE: Final = "its reasoning, tool calls or speaker contain the text: replaced by [forgotten]; its own text is kept"
ID: Final = "its id contains the text and is replaced; its own text is kept"
REPEATS: Final = "it repeats the text: replaced by [forgotten]"


def derived_of(work: ForgetWork, entries: Collection[int], conversations: Collection[int]) -> dict[int, str]:
    """Seqs of the entries that stay and change, in order, each with why: none of `entries` and `conversations`."""
    whole = frozenset(conversations)
    found: dict[int, str] = {}
    for entry in repeating(work):
        if entry.conversation not in whole:
            found[entry.seq] = _why(work, entry)

    def by_lineage(db: apsw.Connection) -> None:
        chosen = sorted(entries)
        reasons = (
            (citing(db, work), RECALLED),
            (summaries_of(db, chosen), SUMMARY),
            (_observations_of(db, chosen), OBSERVATION),
        )
        for seqs, why in reasons:
            found.update(dict.fromkeys(_outside(db, seqs, whole), why))

    work.memory.cold.read(by_lineage)
    going = frozenset(entries)
    return {seq: found[seq] for seq in sorted(found) if seq not in going}


def repeating(work: ForgetWork) -> Iterator[EntryBytes]:
    """Entries that hold any of the words, in their text or beside it."""
    for every in entry_bytes(work.memory) if work.prints else ():
        batch = list(filter(work.is_earlier, every))
        yield from (batch[index] for index in found_in(work.prints, [entry.words for entry in batch]))


def beside_of(work: ForgetWork, entries: Collection[int], conversations: Collection[int]) -> list[int]:
    """Seqs of the entries that stay and hold the words beside their text or in their id, where other devices hold them,
    too."""
    return [
        entry.seq
        for entry in repeating(work)
        if entry.seq not in entries
        and entry.conversation not in conversations
        and (
            work.prints.holds(entry.id.encode())
            or (entry.kind not in DERIVED and work.prints.holds(behind_escapes(entry.meta)))
        )
    ]


def summaries_of(db: apsw.Connection, chosen: Collection[int]) -> set[int]:
    """Summaries that may tell of these entries: all that came after them in their conversations."""
    found: set[int] = set()
    sql = f"SELECT seq FROM entries WHERE conversation = ? AND seq > ? AND kind = '{EntryKind.SUMMARY.value}'"
    for conversation in conversations_of(db, chosen):
        oldest = "SELECT min(seq) FROM entries WHERE conversation = ? AND seq IN ({})"
        batch = list(chosen)[:500]
        row = first(db, oldest.format(marks(batch)), (conversation, *batch))
        found.update(seq for (seq,) in each(db, sql, (conversation, (row and row[0]) or 0)))
    return found


def citing(db: apsw.Connection, work: ForgetWork) -> set[int]:
    """Entries with recalled passages of what goes among their sent parts."""
    sql = "SELECT seq, sent FROM entries WHERE instr(sent, x'226369746174696f6e22')"  # "citation"
    found: set[int] = set()
    for seq, sent in each(db, sql) if work.job.refs else ():
        with suppress(ValueError, msgspec.MsgspecError):
            parts = [part for part in to_parts(sent) if isinstance(part, RecalledSpan)]
            if any(is_cited(part.citation, work) for part in parts):
                found.add(seq)
    return found


def is_cited(citation: Citation, work: ForgetWork) -> bool:
    """Whether the citation names something that goes."""
    return any(map(work.is_ref, (citation.ref, citation.page, citation.conversation)))


def conversations_of(db: apsw.Connection, seqs: Collection[int]) -> list[int]:
    """The conversations of these entries, in order."""
    found: set[int] = set()
    for batch in batches(sorted(seqs)):
        sql = f"SELECT DISTINCT conversation FROM entries WHERE seq IN ({marks(batch)})"
        found.update(row[0] for row in each(db, sql, batch))
    return sorted(found)


def _observations_of(db: apsw.Connection, seqs: Collection[int]) -> set[int]:
    found: set[int] = set()
    for batch in batches(sorted(seqs)):
        sql = f"SELECT seq FROM entries WHERE kind = '{EntryKind.OBSERVATION.value}' AND parent IN ({marks(batch)})"
        found.update(seq for (seq,) in each(db, sql, batch))
    return found


def _outside(db: apsw.Connection, seqs: Collection[int], conversations: frozenset[int]) -> Iterator[int]:
    for batch in batches(sorted(seqs)):
        sql = f"SELECT seq, conversation FROM entries WHERE seq IN ({marks(batch)})"
        yield from (seq for seq, conversation in each(db, sql, batch) if conversation not in conversations)


def _why(work: ForgetWork, entry: EntryBytes) -> str:
    if entry.kind in DERIVED or work.prints.holds(behind_escapes(entry.text)):
        return REPEATS
    if work.prints.holds(behind_escapes(entry.meta)):
        return BESIDE
    if work.prints.holds(entry.id.encode()):
        return ID
    return BESIDE if work.prints.holds(entry.names) else SENT
