"""Archived tool results that quote a conversation to be deleted: restores their text to the store first.

A page cannot be edited, so the whole archive of such a result is dissolved: the texts of all its entries return to the
store, and its pages are deleted.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import apsw
from msgspec import Struct

from memory.archive.rows import pages as page_rows
from memory.cold import ColdStore
from memory.cold.recalled_results import (
    StoredToolResult,
    both_forms,
    references_to,
    refs_in,
    results_citing,
    results_of_others,
)
from memory.cold.sql import batches, each, marks, run
from memory.errors import MemoryFailure
from memory.records import Entry


class ArchivedResultPages(Struct, frozen=True):
    """Pages of such results, and ids of results that may quote the conversation and are still on pages."""

    pages: frozenset[str] = frozenset()
    left: tuple[str, ...] = ()


class ArchivedResults:
    """Restores archived tool results of one vault."""

    def __init__(
        self, cold: ColdStore, release: Callable[[Sequence[str]], None], text_of: Callable[[Entry], str | None]
    ) -> None:
        self._cold = cold
        self._release = release
        self._text_of = text_of

    def restore_quoting(self, conversation: int) -> ArchivedResultPages:
        """Restores the results that quote the conversation. To be called before its rows are deleted."""
        results, refs = self._cold.read(
            lambda db: (results_of_others(db, conversation), references_to(db, conversation))
        )
        archived = [result for result in results if result.refs is None]
        if not (archived and refs):
            return ArchivedResultPages()
        read = [self._read(result) for result in archived]
        quoting = {
            result.seq
            for result in results_citing([*(result for result in results if result.refs is not None), *read], refs)
        }
        to_restore = [result.seq for result in read if result.seq in quoting]
        pages = self._cold.write(lambda db: _detach_archives(db, to_restore)) if to_restore else frozenset[str]()
        if pages:
            with suppress(MemoryFailure, OSError):
                self._release(sorted(pages))
        unread = {result.seq for result in read if result.refs is None}
        still = self._cold.entries([*to_restore, *unread])
        return ArchivedResultPages(pages, tuple(sorted(entry.id for entry in still.values() if entry.text is None)))

    def _read(self, result: StoredToolResult) -> StoredToolResult:
        with suppress(MemoryFailure, OSError):
            text = self._text_of(self._cold.entry(result.seq))
            if text is not None:
                return StoredToolResult(result.seq, result.id, refs_in(text))
        return result


def _detach_archives(db: apsw.Connection, seqs: Sequence[int]) -> frozenset[str]:
    """Detaches the archives of these entries' pages from their conversation; gives the pages."""
    pages = {span.page for seq in seqs for span in page_rows.spans_of(db, seq)}
    archives = set[int]()
    for batch in batches(sorted(pages)):
        archives.update(row[0] for row in each(db, f"SELECT archive FROM pages WHERE id IN ({marks(batch)})", batch))
    for archive in archives:
        run(db, "UPDATE archives SET conversation = NULL WHERE seq = ?", (archive,))
    return both_forms(pages)
