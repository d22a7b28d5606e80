"""Which entries have no vector yet, or one of a text that they do not have any more."""

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np
from msgspec import Struct

from memory.cold import ColdStore
from memory.cold.lookup import batches, marks
from memory.cold.sql import Row, fetch
from memory.hot.note import Note
from memory.search.postings.growing import Column
from memory.search.vectors.store import VectorStore

_AT_ONCE = 5000
_HEADS = "SELECT e.seq, e.sha256 FROM entries e JOIN terms t ON t.entry = e.seq"


class Lack(Struct, frozen=True):
    """An entry to embed; `check` stands for its text."""

    entry: int
    check: int


def entries_lacking(cold: ColdStore, store: VectorStore, covered: int) -> Iterator[list[Lack]]:
    """Some at a time, newest first. What was committed up to change `covered` is not looked at again; 0: all is."""
    pages = _changed(cold, covered) if covered else _all(cold)
    for rows in pages:
        seqs = np.array([row[0] for row in rows], np.int64)
        checks = np.array([_check(row[1]) for row in rows], np.uint64)
        lacking = np.flatnonzero(store.checks(seqs) != checks)
        if len(lacking):
            yield [Lack(int(seqs[place]), int(checks[place])) for place in lacking]


def removed(cold: ColdStore, after: int) -> Column:
    """The entries that were removed by changes above `after`."""
    found: list[int] = []
    while changes := cold.changes(after, _AT_ONCE):
        found.extend(change.entry for change in changes if change.op == "remove")
        after = changes[-1].seq
    return np.array(sorted(found), np.int64)


def added(cold: ColdStore, after: int) -> int:
    """How many entries were added, or changed, by changes above `after`, at most."""
    count = 0
    while changes := cold.changes(after, _AT_ONCE):
        count += sum(change.op in {"add", "change"} for change in changes)
        after = changes[-1].seq
    return count


def seqs_here(cold: ColdStore, entries: Column) -> Column:
    """Those of the entries that the store has."""
    found: list[int] = []
    for some in batches(entries.tolist()):
        sql = f"SELECT seq FROM entries WHERE seq IN ({marks(some)})"
        found += [row[0] for row in cold.read(lambda db, sql=sql, some=some: fetch(db, sql, some))]
    return np.array(found, np.int64)


def key_of(note: Note) -> int:
    """A number below 0 that stands for the words of a note."""
    digest = hashlib.sha256(words_of(note).encode("utf-8", "surrogatepass")).digest()
    return -1 - (int.from_bytes(digest[:8], "little") >> 2)


def words_of(note: Note) -> str:
    """What of a note is embedded."""
    return f"{note.heading}\n{note.text}".strip()


def keys_of(notes: Iterable[Note]) -> Column:
    return np.array([key_of(note) for note in notes], np.int64)


def _all(cold: ColdStore) -> Iterator[list[Row]]:
    before = 2**62
    while rows := _page(cold, before):
        yield rows
        before = rows[-1][0]


def _page(cold: ColdStore, before: int) -> list[Row]:
    sql = f"{_HEADS} WHERE e.seq < ? ORDER BY e.seq DESC LIMIT ?"
    return cold.read(lambda db: fetch(db, sql, (before, _AT_ONCE)))


def _changed(cold: ColdStore, after: int) -> Iterator[list[Row]]:
    touched: set[int] = set()
    while changes := cold.changes(after, _AT_ONCE):
        touched.update(change.entry for change in changes if change.op in {"add", "change"})
        after = changes[-1].seq
    for some in batches(sorted(touched, reverse=True)):
        if rows := _heads(cold, list(some)):
            yield rows


def _heads(cold: ColdStore, seqs: list[int]) -> list[Row]:
    sql = f"{_HEADS} WHERE e.seq IN ({marks(seqs)}) ORDER BY e.seq DESC"
    return cold.read(lambda db: fetch(db, sql, seqs))


def _check(sha256: bytes) -> int:
    """Never 0, which stands for no vector."""
    return int.from_bytes(sha256[:8], "little") | 1
