"""Archiving by age: moves old text to pages, of whole conversations or of the old turns of an active one.

Excluded are conversations that are pinned, in which an answer is being written, or whose row is damaged, and the turns
of an active conversation that are still in view. Summaries and observations stay: they are short, and stand for what
leaves. A damaged entry stays in the store, where a repair may restore it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import NamedTuple, Protocol

import apsw
from msgspec import Struct

from foundation.clock import to_ms
from memory.archive.rows import archives
from memory.cold import ColdStore
from memory.cold.encoding import WIDEST
from memory.cold.sql import fetch
from memory.errors import NotFound, OutOfDate
from memory.pages.types import ArchiveResult, OnPage
from memory.records import Conversation, Entry

PINNED = "pinned"
"""A conversation with this label is excluded."""

AT_ONCE = 2_000_000
"""Characters of one archive: some 250 pages, and a fraction of a second of the store."""

_OLD = """SELECT e.seq FROM entries e WHERE e.conversation = ? AND e.body IS NOT NULL AND e.chars > 0
    AND e.kind NOT IN ('summary', 'observation') AND e.time_ms < ? ORDER BY e.seq"""


class OverdueConversation(Struct, frozen=True, kw_only=True):
    """A conversation with old text. `spared` is the reason for excluding it, or ""."""

    conversation: Conversation
    entries: tuple[int, ...]  # seqs
    spared: str = ""


class ArchivePortion(Struct, frozen=True, kw_only=True):
    """Entries of one archive, and those among them that stay in the store."""

    entries: tuple[Entry, ...]
    damaged: tuple[Entry, ...] = ()
    large: tuple[str, ...] = ()  # ids of entries that stay, for they hold more than one archive takes


class OverdueResult(Struct, frozen=True, kw_only=True):
    """Result of a run. `entries` counts archived entries; `damaged` and `large` ones stay."""

    archived: tuple[ArchiveResult, ...]
    entries: int
    damaged: tuple[Entry, ...]
    large: tuple[str, ...] = ()


class Overdue:
    """Archiving of conversations by age. `archive` turns entries of one conversation into pages, under a label."""

    def __init__(self, cold: ColdStore, archive: "Archive") -> None:
        self._cold = cold
        self._archive = archive

    def conversations(self, before: datetime) -> list[OverdueConversation]:
        """Conversations with text in the store from before that moment, oldest first."""
        return _overdue_conversations(self._cold, before)

    def conversation(self, seq: int, before: datetime) -> OverdueConversation:
        """The conversation with its entries from before that moment, which may be none. Raises NotFound."""
        return _overdue_entries(self._cold, self._cold.conversation_at(seq), to_ms(before))

    def portions(self, overdue: OverdueConversation, most: int) -> Iterator[ArchivePortion]:
        """Entries of the conversation in batches of one archive each. Separate are damaged ones and, unread, those
        above `most` bytes."""
        return _portions(self._cold, overdue.entries, most)

    def archive_conversation(
        self, overdue: OverdueConversation, on_page: OnPage | None = None, *, label: str, most: int
    ) -> OverdueResult:
        """Archives the conversation, a portion at a time. Entries that changed meanwhile stay; so do damaged ones.

        An entry of more than `most` bytes stays too, and is not read. `on_page` receives the number of verified pages;
        an exception from it ends the run, and finished archives stay.
        """
        return _archive_conversation(self._cold, overdue, partial(self._archive, label=label), on_page, most=most)


class Archive(Protocol):
    """`Vault.archive_entries`."""

    def __call__(self, entries: Sequence[Entry], *, label: str, on_page: OnPage) -> ArchiveResult: ...


def _overdue_conversations(cold: ColdStore, before: datetime) -> list[OverdueConversation]:
    ms = to_ms(before)
    sql = """SELECT DISTINCT c.seq FROM conversations c JOIN entries e ON e.conversation = c.seq
             WHERE c.kind = 'chat' AND e.body IS NOT NULL AND e.chars > 0
             AND e.kind NOT IN ('summary', 'observation') AND e.time_ms < ?
             ORDER BY c.updated_ms, c.seq"""
    seqs = cold.read(lambda db: [row[0] for row in fetch(db, sql, (ms,))])
    candidates: list[OverdueConversation] = []
    for seq in seqs:
        with suppress(NotFound):  # deleted meanwhile
            candidates.append(_overdue_entries(cold, cold.conversation_at(seq), ms))
    return [candidate for candidate in candidates if candidate.entries]


def _archive_conversation(
    cold: ColdStore,
    overdue: OverdueConversation,
    archive: Callable[..., ArchiveResult],
    on_page: OnPage | None,
    *,
    most: int,
) -> OverdueResult:
    results: list[ArchiveResult] = []
    damaged, large = list[Entry](), list[str]()
    archived_entries = 0
    for portion in _portions(cold, overdue.entries, most):
        damaged += portion.damaged
        large += portion.large
        before = sum(len(archived.pages) for archived in results)

        def report(page: int, before: int = before) -> None:
            if on_page is not None:
                on_page(before + page)

        if not portion.entries:
            continue
        try:
            results.append(archive(portion.entries, on_page=report))
        except (NotFound, OutOfDate):  # deleted, or changed
            continue
        archived_entries += len(portion.entries)
    return OverdueResult(archived=tuple(results), entries=archived_entries, damaged=tuple(damaged), large=tuple(large))


def _overdue_entries(cold: ColdStore, conversation: Conversation, ms: int) -> OverdueConversation:
    entries = cold.read(lambda db: [row[0] for row in fetch(db, _OLD, (conversation.seq, ms))])
    if to_ms(conversation.updated) >= ms and conversation.leaf is not None:
        in_view = {entry.seq for entry in cold.branch(conversation.leaf).entries}
        entries = [seq for seq in entries if seq not in in_view]
    spared = cold.read(lambda db: _spared(db, conversation))
    return OverdueConversation(conversation=conversation, entries=tuple(entries), spared=spared)


def _spared(db: apsw.Connection, conversation: Conversation) -> str:
    if PINNED in conversation.labels or archives.is_pinned(db, conversation.seq):
        return "pinned"
    if conversation.damaged:
        return "its row is damaged"
    sql = "SELECT 1 FROM answers a JOIN entries e ON e.seq = a.entry WHERE e.conversation = ?"
    return "an answer is being written" if fetch(db, sql, (conversation.seq,)) else ""


def _portions(cold: ColdStore, seqs: Sequence[int], most: int) -> Iterator[ArchivePortion]:
    """Batches of entries for one archive each. Separate are damaged ones and, unread, those above `most` bytes: an
    untrusted store may hold bodies of gigabytes, so sizes are read first."""
    sizes = [size for batch in _batches_of_200(seqs) for size in cold.read(partial(_sizes, seqs=batch))]
    if large := tuple(size.id for size in sizes if size.bytes > most):
        yield ArchivePortion(entries=(), large=large)
    for chosen in _archive_batches(size for size in sizes if size.bytes <= most):
        entries = [entry for batch in _batches_of_200(chosen) for entry in cold.entries(batch).values()]
        entries.sort(key=lambda entry: entry.seq)
        yield ArchivePortion(
            entries=tuple(entry for entry in entries if not entry.damaged),
            damaged=tuple(entry for entry in entries if entry.damaged),
        )


class _Size(NamedTuple):
    """Size of an entry: a lower bound of its text's bytes, stored or decompressed."""

    seq: int
    id: str
    bytes: int
    chars: int


def _sizes(db: apsw.Connection, seqs: Sequence[int]) -> list[_Size]:
    sql = f"""SELECT seq, CAST(id AS BLOB), max(octet_length(body), iif(packed, chars, 0)), chars FROM entries
              WHERE body IS NOT NULL AND seq IN ({",".join("?" * len(seqs))}) ORDER BY seq"""
    rows = fetch(db, sql, seqs)
    return [
        _Size(seq, id_.decode("utf-8", "replace"), size, max(chars, size // WIDEST)) for seq, id_, size, chars in rows
    ]


def _batches_of_200(seqs: Sequence[int]) -> Iterator[Sequence[int]]:
    return (seqs[start : start + 200] for start in range(0, len(seqs), 200))


def _archive_batches(sizes: Iterable[_Size]) -> Iterator[list[int]]:
    """Seqs of the entries of each archive."""
    chosen, chars = list[int](), 0
    for size in sizes:
        chosen.append(size.seq)
        chars += size.chars
        if chars >= AT_ONCE:
            yield chosen
            chosen, chars = [], 0
    if chosen:
        yield chosen
