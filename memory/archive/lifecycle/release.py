"""Letting go of pages whose words were deleted: no word of them stays in a pack, and no other text loses a word.

What others share with such a page goes back to the store first; a file's page that another file holds stays whole.
Packs with other pages in them are written anew without it.
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
    """One vault's. `text_of` gives an entry's text where it can be had to the letter."""

    def __init__(
        self,
        cold: ColdStore,
        storage: Storage,
        stacks: PageReader,
        moving: PageMover,
        text_of: Callable[[Entry], str | None],
    ) -> None:
        self._cold = cold
        self._storage = storage
        self._stacks = stacks
        self._moving = moving
        self._text_of = text_of

    def release(self, page_ids: Iterable[str] = ()) -> list[str]:
        """Lets go of these pages, as far as nobody else needs them, and of those an earlier release left behind.

        Gives the ids of those that went.
        """
        archives, pages = self._cold.read(archive_rows.orphans)
        wanted = sorted({*page_ids, *pages})
        if not (wanted or archives):
            return []
        self._cold.write(lambda db: archive_rows.rehome(db, wanted))
        self._give_back(self._cold.read(lambda db: archive_rows.shared_with(db, wanted)))
        gone, packs, left = self._cold.write(lambda db: self._let_go(db, wanted))
        for name in packs:
            self._stacks.forget(name)
        for name in left:
            rows = self._cold.read(lambda db, name=name: page_rows.pages_of_pack(db, name))
            self._moving.move(rows, WARM)
        pack_gc.sweep(self._cold, self._storage)
        return gone

    def _give_back(self, seqs: Sequence[int]) -> None:
        """The texts of these entries stand in the store again, and on no page."""
        for entry in self._cold.entries(seqs).values():
            text = self._text_of(entry)
            if text is None:  # its pages are damaged: what is left of it stays on them
                continue
            self._cold.write(lambda db, entry=entry, text=text: self._take_off(db, entry, text))

    def _take_off(self, db: apsw.Connection, entry: Entry, text: str) -> None:
        packs = page_rows.packs_of(db, {span.page for span in page_rows.spans_of(db, entry.seq)})
        page_rows.delete_spans(db, entry.seq)
        restore_text(db, entry.seq, as_stored(text))
        seal(db, self._storage, packs)

    def _let_go(self, db: apsw.Connection, wanted: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
        """(pages that went, packs that went, packs that hold other pages still)."""
        rows = page_rows.pages_by_id(db, archive_rows.unneeded(db, wanted))
        held = page_rows.packs_of(db, wanted)
        touched = {row.pack for row in rows.values()}
        page_rows.delete_pages(db, rows)
        archive_rows.drop_empty(db)
        packs = page_rows.empty_packs(db, sorted(touched))
        page_rows.delete_packs(db, packs)
        pack_gc.let_leave(db, packs)
        seal(db, self._storage, [*sorted(held), ""])
        return sorted(rows), packs, sorted(touched - set(packs))
