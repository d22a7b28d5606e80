"""Background reindexing: entries whose terms are of an older analyser are analysed again, a batch at a time.

A search works meanwhile with the terms that each entry has. Rows of a newer analyser stay, or two programs of different
versions would undo each other's work for ever.
"""

from collections.abc import Callable, Sequence
from time import monotonic

import apsw
from msgspec import Struct

from foundation.trust import Trust
from memory.cold import ColdStore
from memory.cold.changes import note_change
from memory.cold.sql import fetch, first, marks, run
from memory.errors import MemoryFailure, StoreClosed
from memory.pages.types import EntryText
from memory.records import AnalysedTerms, Entry, EntryKind

_AT_ONCE = 200  # entries: some hundredths of a second, and one transaction
_CHARS_AT_ONCE = 400_000  # of text, so that long pages take no longer


class ReindexResult(Struct, frozen=True):
    """`done` entries have new terms; `unread` ones keep their old terms, because their exact text cannot be read now.
    `left` are still due, `unread` included."""

    done: int = 0
    unread: int = 0
    left: int = 0


OnRenewed = Callable[[ReindexResult], bool]
"""Receives the result so far after each batch; False ends the run."""


class Reindexer:
    """Reindexes one store. Safe beside other processes that do the same: each row is renewed once."""

    def __init__(self, cold: ColdStore, passage: Callable[[Entry], EntryText]) -> None:
        self._cold = cold
        self._passage = passage

    def left(self) -> int:
        """Number of entries whose terms are of an older analyser."""
        return self._cold.read(lambda db: _count(db, _older_versions(db, self._version)))

    def run(self, *, seconds: float | None = None, on_batch: OnRenewed | None = None) -> ReindexResult:
        """Reindexes for `seconds`, or until nothing is due. The rest stays due for the next run.

        Entries that cannot be read are skipped, and tried again at the next run.
        """
        ends = None if seconds is None else monotonic() + seconds
        result, after = ReindexResult(left=self.left()), 0
        while result.left and (ends is None or monotonic() < ends):
            due = self._cold.read(lambda db, after=after: _due(db, _older_versions(db, self._version), after))
            if not due:
                break
            after, result = self._renew(due, result)
            if on_batch and not on_batch(result):
                break
        return result

    @property
    def _version(self) -> str:
        """Version of the store's analyser, which may have rules of the workspace."""
        return self._cold.analyse.version

    def _renew(self, due: Sequence[tuple[int, str]], result: ReindexResult) -> tuple[int, ReindexResult]:
        """Renews one batch; gives its last seq and the result. Texts are analysed before the store is locked."""
        entries, unread, chars, last = self._cold.entries(seq for seq, _ in due), 0, 0, 0
        renewed: dict[int, tuple[AnalysedTerms, str]] = {}
        for seq, old in due:
            last = seq
            terms = self._terms(entries.get(seq))
            if terms is None:
                unread += 1
            else:
                renewed[seq] = (terms, old)
            chars += entries[seq].chars if seq in entries else 0
            if chars > _CHARS_AT_ONCE:
                break
        done = self._cold.write(lambda db: _store_terms(db, renewed)) if renewed else 0
        return last, ReindexResult(result.done + done, result.unread + unread, max(result.left - len(renewed), 0))

    def _terms(self, entry: Entry | None) -> AnalysedTerms | None:
        """None where the exact text is unavailable: the old terms are better than those of an approximation."""
        if entry is None:
            return None
        try:
            passage = self._passage(entry)
        except StoreClosed:
            raise
        except (MemoryFailure, OSError):
            return None
        if passage.trust is Trust.APPROXIMATE and (entry.text is None or "text" in entry.damaged):
            return None  # an entry restored from a mirror is approximate too, but its text is stored
        at = entry.time if entry.kind is EntryKind.MESSAGE else None
        return self._cold.analyse(passage.text, entry.speaker, entry.meta, at)


def _older_versions(db: apsw.Connection, version: str) -> list[str]:
    """Versions in the store that are older than ours. Steps from one to the next by the index."""
    versions: list[str] = []
    row = first(db, "SELECT min(analyser) FROM terms")
    while row and row[0] is not None:
        versions.append(row[0])
        row = first(db, "SELECT min(analyser) FROM terms WHERE analyser > ?", (row[0],))
    return [candidate for candidate in versions if candidate != version and _number(candidate) <= _number(version)]


def _number(version: str) -> int:
    """The leading number of a version; the rest is of the workspace's own rules."""
    digits = version[: len(version) - len(version.lstrip("0123456789"))]
    return int(digits) if digits else 0


def _count(db: apsw.Connection, versions: Sequence[str]) -> int:
    return int(fetch(db, f"SELECT count(*) FROM terms WHERE analyser IN ({marks(versions)})", versions)[0][0])


def _due(db: apsw.Connection, versions: Sequence[str], after: int) -> list[tuple[int, str]]:
    """The next entries whose terms are of these versions, in order of seq."""
    rows: list[tuple[int, str]] = []
    for version in versions:  # the index holds each version's entries in their order
        sql = "SELECT entry, analyser FROM terms WHERE analyser = ? AND entry > ? ORDER BY entry LIMIT ?"
        rows += [(seq, old) for seq, old in fetch(db, sql, (version, after, _AT_ONCE))]
    return sorted(rows)[:_AT_ONCE]


def _store_terms(db: apsw.Connection, renewed: dict[int, tuple[AnalysedTerms, str]]) -> int:
    """Stores the terms of rows that no other writer changed meanwhile; gives their number."""
    sql = "UPDATE terms SET terms = ?, length = ?, analyser = ? WHERE entry = ? AND analyser = ?"
    updated = [
        seq
        for seq, (terms, old) in renewed.items()
        if run(db, sql, (terms.packed, terms.length, terms.analyser, seq, old))
    ]
    note_change(db, "change", updated)
    return len(updated)
