"""Deleting a conversation for good: noted first, then done, and finished by whoever comes next where it is cut short.

In order: it is noted in the index; its rows go, its packs' manifests forget it and a tombstone stands beside them, in
one transaction; its pages and packs go; then the note says that it is finished. One process does it at a time.
"""

import errno
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress

import apsw
from msgspec import Struct

from foundation.clock import to_ms
from foundation.files import FileLock, LockTimeout
from memory.archive.lifecycle.archived_results import ArchivedResults
from memory.archive.packs.storage import Storage
from memory.archive.packs.tombstones import Tombstone, write_tombstones
from memory.archive.rows import archives as archive_rows
from memory.archive.rows import pack_gc
from memory.archive.rows import pages as page_rows
from memory.archive.rows.facts import seal
from memory.cold import ColdStore, conversations, deletions
from memory.cold.deletions import Deletion
from memory.cold.recalled_copies import blank_recalled
from memory.cold.recalled_results import blank_results
from memory.cold.sql import each, fetch, first
from memory.errors import MemoryFailure, StorageUnreachable, StoreBusy, StoreFull
from memory.records import Entry

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}
PATIENCE = 60  # seconds that one deletion waits for another


class DeletionResult(Struct, frozen=True):
    """The pages that carried nothing else, and whether all of it is gone: else the next opening goes on."""

    pages: tuple[str, ...]
    finished: bool
    changed: tuple[str, ...] = ()  # ids of the conversations whose tool results held words of it
    left: tuple[str, ...] = ()  # ids of tool results that may hold some still: they could not be read


class ConversationDeleter:
    """One vault's. `release` lets go of pages, and of what an earlier deletion left behind. `text_of` gives an entry's
    text where it can be had to the letter."""

    def __init__(
        self,
        cold: ColdStore,
        storage: Storage,
        release: Callable[[Sequence[str]], None],
        text_of: Callable[[Entry], str | None],
    ) -> None:
        self._cold = cold
        self._storage = storage
        self.release = release
        self._results = ArchivedResults(cold, release, text_of)

    def delete(self, seq: int) -> DeletionResult:
        """Raises NotFound; StoreBusy while an answer is being written in it, or another deletion takes long; StoreFull,
        which says whether the deletion is noted and will be finished, or is not begun."""
        self._cold.recover()
        with self._alone(PATIENCE):
            noted = self._cold.write(lambda db: self._noted(db, seq))
            try:
                return self.carry_on(noted)
            except (StoreFull, OSError) as error:
                if isinstance(error, OSError) and error.errno not in _NO_SPACE:
                    raise
                raise StoreFull(
                    "Not deleted yet: no space is left",
                    "The deletion is noted, and could not be finished: the disk is full. The words are still on it.",
                    "Free some space: the next command that opens the workspace to write finishes the deletion.",
                ) from error

    def finish(self) -> int:
        """Finishes what was begun; how many deletions were. Another process that is at it is left to it."""
        begun = self._cold.read(deletions.unfinished)
        if not begun:
            return 0
        count = 0
        with suppress(StoreBusy), self._alone(0):
            for one in self._cold.read(deletions.unfinished):
                try:
                    count += self.carry_on(one).finished
                except StoreBusy:  # it is written in again: who began to delete it was told so
                    self._cold.write(lambda db, token=one.token: deletions.withdraw(db, token))
        return count

    def _noted(self, db: apsw.Connection, seq: int) -> Deletion:
        conversations.refuse_in_use(db, seq)
        return deletions.note(db, seq, to_ms(self._cold.clock.now()))

    def carry_on(self, one: Deletion) -> DeletionResult:
        results = self._results.bring_back(one.conversation)
        pages, changed = self._cold.write(lambda db: self._gone(db, one, results.pages))
        self._cold.empty_journal()
        with suppress(MemoryFailure, OSError):  # what cannot be reached or read now is tried again
            self.release(pages)
            pack_gc.sweep(self._cold, self._storage)
        return DeletionResult(pages, self._cold.write(lambda db: settled(db, one)), changed, results.left)

    def _gone(
        self, db: apsw.Connection, one: Deletion, beside: frozenset[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Its rows, its manifests' facts and its recalled words go; the tombstone comes."""
        pages, changed, packs = tuple[str, ...](), tuple[str, ...](), {"", *page_rows.packs_of(db, one.pages)}
        if first(db, "SELECT 1 FROM conversations WHERE seq = ?", (one.conversation,)) is not None:
            conversations.refuse_in_use(db, one.conversation)
            drawn = _pages_of(db, one.conversation, "SELECT id FROM pages WHERE archive IN ({})")
            held = _pages_of(db, one.conversation, "SELECT page FROM archive_pages WHERE archive IN ({})")
            blanked = blank_results(db, one.conversation, self._cold.analyse, beside)
            changed = _conversations_of(db, blanked.seqs)
            sent = blank_recalled(db, one.conversation, blanked.refs)
            own = [seq for (seq,) in each(db, "SELECT seq FROM entries WHERE conversation = ?", (one.conversation,))]
            spans = {span.page for seq in [*own, *sent, *blanked.seqs] for span in page_rows.spans_of(db, seq)}
            packs |= page_rows.packs_of(db, {*drawn, *held, *spans})
            deletions.put_pages(db, one.token, drawn)
            pages = self._cold.delete_rows(db, one.conversation)
        with suppress(
            StorageUnreachable
        ):  # the words go from here all the same; the rest is done when it can be reached
            write_tombstones(self._storage, stones(db))
            seal(db, self._storage, sorted(packs))
        return pages, changed

    @contextmanager
    def _alone(self, patience: float) -> Generator[None]:
        self._cold.refuse_read_only()
        lock = FileLock(self._cold.database.with_name("delete.lock"), timeout=patience)
        try:
            lock.acquire()
        except LockTimeout as error:
            raise StoreBusy(
                "Deleting already", "Another palimpsest is deleting a conversation.", "Let it end."
            ) from error
        try:
            yield
        finally:
            lock.release()


def stones(db: apsw.Connection) -> list[Tombstone]:
    """The tombstone of each conversation that is to be gone, as the index knows it."""
    return [Tombstone(token=one.token, deleted_ms=one.deleted_ms, pages=one.pages) for one in deletions.deletions(db)]


def _pages_of(db: apsw.Connection, conversation: int, sql: str) -> set[str]:
    whose = "SELECT seq FROM archives WHERE conversation = ? AND NOT bare"
    return {page for (page,) in each(db, sql.format(whose), (conversation,))}


def _conversations_of(db: apsw.Connection, seqs: Sequence[int]) -> tuple[str, ...]:
    sql = "SELECT c.id FROM entries e JOIN conversations c ON c.seq = e.conversation WHERE e.seq = ?"
    return tuple(sorted({row[0] for seq in seqs for row in fetch(db, sql, (seq,))}))


def settled(db: apsw.Connection, one: Deletion) -> bool:
    """Whether no page and no file is left of what was deleted; then it is finished."""
    archives, pages = archive_rows.orphans(db)
    if archives or pages or "" in pack_gc.leaving(db).values():
        return False
    deletions.finish(db, one.token)
    return True
