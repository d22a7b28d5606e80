"""Terms that an older analyser found are found anew, some at a time, while nobody waits.

A search works meanwhile: it finds each entry by the terms that it has. Rows of a newer analyser are left alone, or two
programs of different age would undo each other's work for ever.
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
from memory.records import AnalysedTerms, Entry

_AT_ONCE = 200  # entries: some hundredths of a second, and one transaction
_CHARS_AT_ONCE = 400_000  # of text, so that long pages take no longer


class ReindexResult(Struct, frozen=True):
    """`done` entries have new terms, `unread` ones keep their old ones: nobody can read their text to the letter just
    now. `left` are due still, those among them."""

    done: int = 0
    unread: int = 0
    left: int = 0


OnRenewed = Callable[[ReindexResult], bool]
"""Told how it stands after each batch; False ends it."""


class Reindexer:
    """One store's. Safe beside other processes that do the same: each row is renewed once."""

    def __init__(self, cold: ColdStore, passage: Callable[[Entry], EntryText]) -> None:
        self._cold = cold
        self._passage = passage

    def left(self) -> int:
        """How many entries an older analyser found the terms of."""
        return self._cold.read(lambda db: _count(db, _older(db, self._version)))

    def run(self, *, seconds: float | None = None, on_batch: OnRenewed | None = None) -> ReindexResult:
        """Renews for so long, or until all is done. What is not reached now is due still the next time.

        Entries that cannot be read are passed over, and tried again at the next run.
        """
        ends = None if seconds is None else monotonic() + seconds
        told, after = ReindexResult(left=self.left()), 0
        while told.left and (ends is None or monotonic() < ends):
            due = self._cold.read(lambda db, after=after: _due(db, _older(db, self._version), after))
            if not due:
                break
            after, told = self._renew(due, told)
            if on_batch and not on_batch(told):
                break
        return told

    @property
    def _version(self) -> str:
        """The version of the store's own analyser, which may know rules of the workspace."""
        return self._cold.analyse.version

    def _renew(self, due: Sequence[tuple[int, str]], told: ReindexResult) -> tuple[int, ReindexResult]:
        """One batch, and the seq that it ends with. The text is read and analysed before the store is locked."""
        entries, unread, chars, last = self._cold.entries(seq for seq, _ in due), 0, 0, 0
        found: dict[int, tuple[AnalysedTerms, str]] = {}
        for seq, old in due:
            last = seq
            terms = self._terms(entries.get(seq))
            if terms is None:
                unread += 1
            else:
                found[seq] = (terms, old)
            chars += entries[seq].chars if seq in entries else 0
            if chars > _CHARS_AT_ONCE:
                break
        done = self._cold.write(lambda db: _put(db, found)) if found else 0
        return last, ReindexResult(told.done + done, told.unread + unread, max(told.left - len(found), 0))

    def _terms(self, entry: Entry | None) -> AnalysedTerms | None:
        """None where the text cannot be had to the letter: the terms that were found while it could are better."""
        if entry is None:
            return None
        try:
            passage = self._passage(entry)
        except StoreClosed:
            raise
        except (MemoryFailure, OSError):
            return None
        if passage.trust is Trust.APPROXIMATE and (entry.text is None or "text" in entry.damaged):
            return None  # one that came back from a mirror is in doubt too, and its text is what is stored
        return self._cold.analyse(passage.text, entry.speaker, entry.meta)


def _older(db: apsw.Connection, version: str) -> list[str]:
    """The versions that stand in the store, without ours and newer ones. Steps from one to the next by the index."""
    found: list[str] = []
    row = first(db, "SELECT min(analyser) FROM terms")
    while row and row[0] is not None:
        found.append(row[0])
        row = first(db, "SELECT min(analyser) FROM terms WHERE analyser > ?", (row[0],))
    return [each for each in found if each != version and _number(each) <= _number(version)]


def _number(version: str) -> int:
    """The leading number of a version; what comes after it tells of the workspace's own rules."""
    digits = version[: len(version) - len(version.lstrip("0123456789"))]
    return int(digits) if digits else 0


def _count(db: apsw.Connection, versions: Sequence[str]) -> int:
    return int(fetch(db, f"SELECT count(*) FROM terms WHERE analyser IN ({marks(versions)})", versions)[0][0])


def _due(db: apsw.Connection, versions: Sequence[str], after: int) -> list[tuple[int, str]]:
    """The next entries whose terms are of these versions, in order of seq."""
    found: list[tuple[int, str]] = []
    for version in versions:  # the index holds each version's entries in their order
        sql = "SELECT entry, analyser FROM terms WHERE analyser = ? AND entry > ? ORDER BY entry LIMIT ?"
        found += [(seq, old) for seq, old in fetch(db, sql, (version, after, _AT_ONCE))]
    return sorted(found)[:_AT_ONCE]


def _put(db: apsw.Connection, found: dict[int, tuple[AnalysedTerms, str]]) -> int:
    """Puts those that nobody else renewed, or wrote anew, meanwhile; how many."""
    sql = "UPDATE terms SET terms = ?, length = ?, analyser = ? WHERE entry = ? AND analyser = ?"
    put = [
        seq
        for seq, (terms, old) in found.items()
        if run(db, sql, (terms.packed, terms.length, terms.analyser, seq, old))
    ]
    note_change(db, "change", put)
    return len(put)
