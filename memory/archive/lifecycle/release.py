"""Deletes pages whose text was deleted: none of it stays in a pack, and no other text is affected.

Text that other entries share with such a page is restored to the store first; a page that another file holds stays.
Packs with other pages are rewritten without it.
"""

from collections.abc import Callable, Iterable, Sequence

import apsw

from foundation.privacy import as_stored
from memory.archive.lifecycle.move import PageMover
from memory.archive.packs.pack import WARM
from memory.archive.packs.reader import PageReader
from memory.archive.packs.storage import Storage
from memory.archive.rows import archives as archive_rows
from memory.archive.rows import pack_gc
from memory.archive.rows import pages as page_rows
from memory.archive.rows.facts import seal
from memory.cold import ColdStore
from memory.cold.entries import restore_text
from memory.records import Entry


class PageReleaser:
    """Deletes pages of one vault. `text_of` gives an entry's exact text, or None."""

    def __init__(
        self,
        cold: ColdStore,
        storage: Storage,
        page_reader: PageReader,
        mover: PageMover,
        text_of: Callable[[Entry], str | None],
    ) -> None:
        self._cold = cold
        self._storage = storage
        self._page_reader = page_reader
        self._mover = mover
        self._text_of = text_of

    def release(self, page_ids: Iterable[str] = ()) -> list[str]:
        """Deletes these pages, as far as no other text needs them, and those that an earlier release left.

        Gives the ids of deleted pages.
        """
        archives, pages = self._cold.read(archive_rows.orphans)
        wanted = sorted({*page_ids, *pages})
        if not (wanted or archives):
            return []
        self._cold.write(lambda db: archive_rows.reassign_pages(db, wanted))
        self._restore_texts(self._cold.read(lambda db: archive_rows.entries_of_deleted_archives(db, wanted)))
        deleted_pages, deleted_packs, partly_used = self._cold.write(lambda db: self._delete_rows(db, wanted))
        for name in deleted_packs:
            self._page_reader.forget(name)
        for name in partly_used:
            rows = self._cold.read(lambda db, name=name: page_rows.pages_of_pack(db, name))
            self._mover.move(rows, WARM)
        pack_gc.sweep(self._cold, self._storage)
        return deleted_pages

    def _restore_texts(self, seqs: Sequence[int]) -> None:
        """Restores the texts of these entries to the store, and removes their spans."""
        for entry in self._cold.entries(seqs).values():
            text = self._text_of(entry)
            if text is None:  # its pages are damaged: the rest of it stays on them
                continue
            self._cold.write(lambda db, entry=entry, text=text: return_texts(db, self._storage, [(entry, text)]))

    def _delete_rows(self, db: apsw.Connection, wanted: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
        """Deletes the rows: (deleted pages, deleted packs, packs that still hold other pages)."""
        rows = page_rows.pages_by_id(db, archive_rows.unreferenced_pages(db, wanted))
        held = page_rows.packs_of(db, wanted)
        touched = {row.pack for row in rows.values()}
        page_rows.delete_pages(db, rows)
        archive_rows.delete_empty_archives(db)
        packs = page_rows.empty_packs(db, sorted(touched))
        page_rows.delete_packs(db, packs)
        pack_gc.mark_as_garbage(db, packs)
        # The manifests of deleted packs go with their files: here they would be missing where the commit does not come.
        seal(db, self._storage, [*(pack for pack in sorted(held) if pack not in packs), ""])
        return sorted(rows), packs, sorted(touched - set(packs))


def return_texts(db: apsw.Connection, storage: Storage, texts: Sequence[tuple[Entry, str]]) -> None:
    """Restores the exact texts of these entries to the store, and removes their spans; their pages stay."""
    pages = {span.page for entry, _ in texts for span in page_rows.spans_of(db, entry.seq)}
    packs = page_rows.packs_of(db, pages)
    for entry, text in texts:
        page_rows.delete_spans(db, entry.seq)
        restore_text(db, entry.seq, as_stored(text))
    seal(db, storage, packs)
