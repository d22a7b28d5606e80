"""Deletion of a conversation for good: journaled, and resumed by the next writer after an interruption.

In order: the deletion is journaled; one transaction deletes the rows, removes the conversation from the manifests of
its packs and writes a tombstone beside them; the pages and packs are deleted; the journal marks the deletion as
finished. One process at a time.
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
from memory.cold.delegates import delegated_in
from memory.cold.deletions import Deletion
from memory.cold.recalled_copies import blank_recalled
from memory.cold.recalled_results import blank_results
from memory.cold.sql import each, fetch, first
from memory.errors import MemoryFailure, StorageUnreachable, StoreBusy, StoreFull
from memory.records import Entry

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}
LOCK_WAIT_S = 60  # seconds that one deletion waits for another


class DeletionResult(Struct, frozen=True):
    """Pages of the conversation alone, and whether the deletion is finished; else the next opening resumes it."""

    pages: tuple[str, ...]
    finished: bool
    changed: tuple[str, ...] = ()  # ids of the conversations whose tool results quoted it
    left: tuple[str, ...] = ()  # ids of tool results that may still quote it: they could not be read


class ConversationDeleter:
    """Deletes conversations of one vault. `release` deletes pages, and leftovers of earlier deletions. `text_of` gives
    an entry's exact text, or None."""

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
        """Deletes a conversation, and those of the questions that were delegated in it. Raises NotFound; StoreBusy
        while an answer is being written in one of them, or another deletion takes long; StoreFull, which says whether
        the deletion is journaled and will be finished, or has not begun."""
        self._cold.recover()
        with self._exclusive(LOCK_WAIT_S):
            noted = self._cold.write(lambda db: self._journal(db, seq))
            try:
                return _together([self.run_deletion(deletion) for deletion in noted])
            except (StoreFull, OSError) as error:
                if isinstance(error, OSError) and error.errno not in _NO_SPACE:
                    raise
                raise StoreFull(
                    "Not deleted yet: no space is left",
                    "The deletion is recorded but not finished, because the disk is full. The text is still on it.",
                    "Free some space: the next command that writes to the workspace finishes the deletion.",
                ) from error

    def finish(self) -> int:
        """Resumes interrupted deletions; gives the number of finished ones. Skips those of a running process."""
        unfinished = self._cold.read(deletions.unfinished)
        if not unfinished:
            return 0
        count = 0
        with suppress(StoreBusy), self._exclusive(0):
            for deletion in self._cold.read(deletions.unfinished):
                try:
                    count += self.run_deletion(deletion).finished
                except StoreBusy:  # it is in use again, which the deleting process has reported
                    self._cold.write(lambda db, token=deletion.token: deletions.withdraw(db, token))
        return count

    def _journal(self, db: apsw.Connection, seq: int) -> list[Deletion]:
        all_seqs = [seq, *delegated_in(db, seq)]
        for each_seq in all_seqs:
            conversations.refuse_in_use(db, each_seq)
        return [deletions.note(db, each_seq, to_ms(self._cold.clock.now())) for each_seq in all_seqs]

    def run_deletion(self, deletion: Deletion) -> DeletionResult:
        results = self._results.restore_quoting(deletion.conversation)
        pages, changed = self._cold.write(lambda db: self._delete_rows(db, deletion, results.pages))
        self._cold.empty_journal()
        with suppress(MemoryFailure, OSError):  # what cannot be reached or read now is tried again
            self.release(pages)
            pack_gc.sweep(self._cold, self._storage)
        return DeletionResult(
            pages, self._cold.write(lambda db: finish_if_complete(db, deletion)), changed, results.left
        )

    def _delete_rows(
        self, db: apsw.Connection, deletion: Deletion, result_pages: frozenset[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Deletes rows, manifest facts and recalled quotations, and writes the tombstone."""
        pages, changed, packs = tuple[str, ...](), tuple[str, ...](), {"", *page_rows.packs_of(db, deletion.pages)}
        if first(db, "SELECT 1 FROM conversations WHERE seq = ?", (deletion.conversation,)) is not None:
            conversations.refuse_in_use(db, deletion.conversation)
            drawn_pages = _pages_of(db, deletion.conversation, "SELECT id FROM pages WHERE archive IN ({})")
            held_pages = _pages_of(db, deletion.conversation, "SELECT page FROM archive_pages WHERE archive IN ({})")
            blanked = blank_results(db, deletion.conversation, self._cold.analyse, result_pages)
            changed = _conversations_of(db, blanked.seqs)
            sent = blank_recalled(db, deletion.conversation, blanked.refs)
            entry_seqs = [
                seq for (seq,) in each(db, "SELECT seq FROM entries WHERE conversation = ?", (deletion.conversation,))
            ]
            spans = {span.page for seq in [*entry_seqs, *sent, *blanked.seqs] for span in page_rows.spans_of(db, seq)}
            packs |= page_rows.packs_of(db, {*drawn_pages, *held_pages, *spans})
            deletions.put_pages(db, deletion.token, drawn_pages)
            pages = self._cold.delete_rows(db, deletion.conversation)
        with suppress(
            StorageUnreachable
        ):  # the local text is deleted all the same; the rest follows when the storage is reachable
            write_tombstones(self._storage, tombstones_of(db))
            seal(db, self._storage, sorted(packs))
        return pages, changed

    @contextmanager
    def _exclusive(self, timeout: float) -> Generator[None]:
        self._cold.refuse_read_only()
        lock = FileLock(self._cold.database.with_name("delete.lock"), timeout=timeout)
        try:
            lock.acquire()
        except LockTimeout as error:
            raise StoreBusy(
                "Deleting already", "Another palimpsest is deleting a conversation.", "Wait until it finishes."
            ) from error
        try:
            yield
        finally:
            lock.release()


def _together(results: Sequence[DeletionResult]) -> DeletionResult:
    return DeletionResult(
        tuple(page for result in results for page in result.pages),
        all(result.finished for result in results),
        tuple(sorted({id_ for result in results for id_ in result.changed})),
        tuple(dict.fromkeys(id_ for result in results for id_ in result.left)),
    )


def tombstones_of(db: apsw.Connection) -> list[Tombstone]:
    """Tombstones of the deletions in the journal."""
    return [
        Tombstone(token=deletion.token, deleted_ms=deletion.deleted_ms, pages=deletion.pages)
        for deletion in deletions.deletions(db)
    ]


def _pages_of(db: apsw.Connection, conversation: int, sql: str) -> set[str]:
    whose = "SELECT seq FROM archives WHERE conversation = ? AND NOT bare"
    return {page for (page,) in each(db, sql.format(whose), (conversation,))}


def _conversations_of(db: apsw.Connection, seqs: Sequence[int]) -> tuple[str, ...]:
    sql = "SELECT c.id FROM entries e JOIN conversations c ON c.seq = e.conversation WHERE e.seq = ?"
    return tuple(sorted({row[0] for seq in seqs for row in fetch(db, sql, (seq,))}))


def finish_if_complete(db: apsw.Connection, deletion: Deletion) -> bool:
    """Marks the deletion as finished where no page and no file of it is left; whether it is."""
    archives, pages = archive_rows.orphans(db)
    if archives or pages or "" in pack_gc.owners_by_name(db).values():
        return False
    deletions.finish(db, deletion.token)
    return True
