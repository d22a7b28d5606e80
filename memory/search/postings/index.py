"""The index: a snapshot of the postings, and what the store's journal of changes says has come since.

Every process keeps its own and catches up before each search, so that what another process wrote is found. Snapshots
are shared: whoever finds one due writes it.
"""

from collections.abc import Callable
from pathlib import Path

from memory.cold import ColdStore
from memory.cold.changes import TermsRow
from memory.search.postings import snapshot
from memory.search.postings.documents import Documents
from memory.search.postings.merging import merge
from memory.search.postings.postings import EMPTY, Posting, Recent, find
from memory.search.postings.snapshot import Snapshot
from memory.search.words.packing import split

_ROWS_AT_ONCE = 5000
_DUE_AT_LEAST = 4000  # documents since the snapshot: fewer are scanned in some hundredths of a millisecond a term
_DUE_SHARE = 20  # a snapshot is due when a twentieth is new: all snapshots together then cost what 20 of the last do

Progress = Callable[[int], None]
"""Told how many entries were read so far."""


class Index:
    """Not safe for two threads at once: `Search` holds a lock around it."""

    def __init__(self, cold: ColdStore, folder: Path) -> None:
        self._cold = cold
        self._folder = folder
        self._version: int | None = None
        self._loaded = False
        self.trouble = ""
        self._reset()

    def catch_up(self, on_progress: Progress | None = None) -> None:
        """Takes in all that was committed, by whichever process; writes a snapshot where one is due."""
        if not self._loaded:
            self._load()
        version = self._cold.data_version()
        if version == self._version:
            return
        if self._is_strange():
            self._reset()
        if not self.change:
            self._read_all(on_progress)
        self._read_changes()
        self._version = version
        if self._is_due:
            self.save()

    def save(self) -> None:
        """Writes a snapshot of all that was read, without what was removed. Where the disk refuses, `trouble` says so
        and the search goes on in memory."""
        if not self.change:
            return
        self.documents, self.standing = merge(self.documents, self.standing, self.recent)
        self.recent = Recent()
        mark = self._mark(self.change)
        try:
            path = snapshot.save(self._folder, Snapshot(self.change, mark, self.documents, self.standing))
        except OSError as error:
            self.trouble = f"The index could not be written to {self._folder}: {error.strerror}."
            return
        self.trouble = ""
        if mapped := snapshot.load(path):
            self.standing = mapped.standing

    @property
    def holds_removed(self) -> bool:
        """Whether the snapshot on disk still has terms of what was removed or changed since."""
        return self.documents.dead_and_sorted > 0

    def find(self, term: str) -> Posting:
        return find(term, self.standing, self.recent)

    @property
    def _is_due(self) -> bool:
        new = self.documents.count - self.documents.sorted_rows
        return new >= max(_DUE_AT_LEAST, self.documents.sorted_rows // _DUE_SHARE)

    def _reset(self) -> None:
        self.change = 0
        self.documents, self.standing, self.recent = Documents(), EMPTY, Recent()

    def _load(self) -> None:
        self._loaded = True
        for path in snapshot.newest(self._folder):
            found = snapshot.load(path)
            if found and found.change and self._mark(found.change) == found.mark:
                self.change, self.documents, self.standing = found.change, found.documents, found.standing
                snapshot.discard_before(path)
                return
            snapshot.discard(path)

    def _is_strange(self) -> bool:
        """Whether the store is behind what was read of it: another file was put in its place."""
        return self.change > self._cold.last_change()

    def _mark(self, change: int) -> tuple[str, int]:
        """What the change was: a snapshot of another store would have another there."""
        found = self._cold.changes(change - 1, 1)
        return (found[0].op, found[0].entry) if found and found[0].seq == change else ("", 0)

    def _read_all(self, on_progress: Progress | None) -> None:
        last, after = self._cold.last_change(), 0
        while rows := self._cold.terms(after, _ROWS_AT_ONCE):
            for row in rows:
                self._put(row)
            after = rows[-1].entry
            if on_progress:
                on_progress(self.documents.count)
        self.change = last

    def _read_changes(self) -> None:
        """Changes again and again are harmless: an entry's row takes the place of the one it had."""
        while changes := self._cold.changes(self.change, _ROWS_AT_ONCE):
            touched = list(dict.fromkeys(change.entry for change in changes if change.op != "archive"))
            rows = self._cold.terms_of(touched) if touched else {}
            for entry in touched:
                if entry in rows:
                    self._put(rows[entry])
                else:  # removed, or an answer still in flight
                    self.documents.remove(entry)
            self.change = changes[-1].seq

    def _put(self, row: TermsRow) -> None:
        self.recent.put(self.documents.put(row), *split(row.packed))
