"""Memory tools' results that left for pages and hold words of a conversation that goes: their text comes back first.

No word may be taken out of a page, so the archive that such a result stands in is dissolved: the texts of all its
entries stand in the store again, and its pages go.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import apsw
from msgspec import Struct

from memory.archive.rows import pages as page_rows
from memory.cold import ColdStore
from memory.cold.recalled_results import StoredToolResult, both_forms, holding, refs_in, refs_of, results_beside
from memory.cold.sql import batches, each, marks, run
from memory.errors import MemoryFailure
from memory.records import Entry


class ArchivedResultPages(Struct, frozen=True):
    """The pages that such results stood on, and the ids of results that may hold words of it and are on pages still."""

    pages: frozenset[str] = frozenset()
    left: tuple[str, ...] = ()


class ArchivedResults:
    """One vault's."""

    def __init__(
        self, cold: ColdStore, release: Callable[[Sequence[str]], None], text_of: Callable[[Entry], str | None]
    ) -> None:
        self._cold = cold
        self._release = release
        self._text_of = text_of

    def bring_back(self, conversation: int) -> ArchivedResultPages:
        """Before the conversation's rows go."""
        found, refs = self._cold.read(lambda db: (results_beside(db, conversation), refs_of(db, conversation)))
        away = [one for one in found if one.refs is None]
        if not (away and refs):
            return ArchivedResultPages()
        read = [self._read(one) for one in away]
        meant = {one.seq for one in holding([*(one for one in found if one.refs is not None), *read], refs)}
        held = [one.seq for one in read if one.seq in meant]
        pages = self._cold.write(lambda db: _orphaned(db, held)) if held else frozenset[str]()
        if pages:
            with suppress(MemoryFailure, OSError):
                self._release(sorted(pages))
        unread = {one.seq for one in read if one.refs is None}
        still = self._cold.entries([*held, *unread])
        return ArchivedResultPages(pages, tuple(sorted(entry.id for entry in still.values() if entry.text is None)))

    def _read(self, one: StoredToolResult) -> StoredToolResult:
        with suppress(MemoryFailure, OSError):
            text = self._text_of(self._cold.entry(one.seq))
            if text is not None:
                return StoredToolResult(one.seq, one.id, refs_in(text))
        return one


def _orphaned(db: apsw.Connection, seqs: Sequence[int]) -> frozenset[str]:
    """The archives of these entries' pages are nobody's from this transaction on; gives those pages."""
    pages = {span.page for seq in seqs for span in page_rows.spans_of(db, seq)}
    archives = set[int]()
    for some in batches(sorted(pages)):
        archives.update(row[0] for row in each(db, f"SELECT archive FROM pages WHERE id IN ({marks(some)})", some))
    for archive in archives:
        run(db, "UPDATE archives SET conversation = NULL WHERE seq = ?", (archive,))
    return both_forms(pages)
