"""Moves pages to a new pack: it is written, synced, reopened and compared; then one transaction updates the rows.

The old packs stay readable until nothing refers to them, and are deleted when no process has them open.
"""

from collections.abc import Sequence

import apsw

from foundation.clock import Clock, to_ms
from foundation.trust import Trust
from memory.archive.packs.pack import COLD, Pack, PageImage, WrittenPack, new_pack_name, write_cold_pack, write_pack
from memory.archive.packs.parity import write_parity
from memory.archive.packs.reader import PageReader
from memory.archive.packs.storage import Storage
from memory.archive.rows import pack_gc, pages
from memory.archive.rows.facts import seal
from memory.archive.rows.pages import PackRow
from memory.cold import ColdStore
from memory.errors import Damaged, OutOfDate
from memory.pages.read.reader import read_picture
from memory.pages.types import OnPage, PageRow


class PageMover:
    """Moves pages of one vault."""

    def __init__(
        self, cold: ColdStore, storage: Storage, clock: Clock, page_reader: PageReader, *, parity: int = 0
    ) -> None:
        self._parity = parity
        self._cold = cold
        self._storage = storage
        self._clock = clock
        self._page_reader = page_reader

    def move(self, rows: Sequence[PageRow], kind: str, on_page: OnPage | None = None) -> WrittenPack:
        """Moves the pages to a new pack of that kind, in this order.

        Raises Damaged where a page cannot be read exactly, or does not read back; OutOfDate where another process moved
        or deleted one meanwhile. Then nothing changes, and the new file is deleted.
        """
        name = pack_gc.announce(self._cold, new_pack_name())
        try:
            pictures = [self._picture(row) for row in rows]
            if kind == COLD:
                written = write_cold_pack(self._storage, name, pictures, on_page)
            else:
                written = write_pack(self._storage, name, pictures)
            self._compare(written, pictures)
            if self._parity:
                write_parity(self._storage, name, self._parity)
            old = self._cold.write(lambda db: self._update_rows(db, rows, written, kind))
        except BaseException:
            pack_gc.sweep(self._cold, self._storage, [name])
            raise
        for pack in old:
            self._page_reader.forget(pack)
        pack_gc.sweep(self._cold, self._storage)
        return written

    def _picture(self, row: PageRow) -> PageImage:
        png = self._page_reader.png(row)
        read = read_picture(png, sha256=row.sha256, page_id=row.id, engine="cells")
        if read.trust is not Trust.EXACT:
            raise Damaged("A page is damaged", f"Page {row.id} does not match its hash. It was not moved.")
        return PageImage(row.id, row.number, row.mode, row.chars, row.sha256, png)

    def _compare(self, written: WrittenPack, pictures: Sequence[PageImage]) -> None:
        """Raises Damaged unless the new file has every page bit for bit."""
        pack = Pack(self._storage, written.name)
        frame, pages = None, None
        for position, picture in enumerate(pictures):
            if pages is None or pack.frame_of(position) != frame:
                frame = pack.frame_of(position)
                pages = pack.open_frame(frame)
            if pack.page_of_frame(position, pages) != picture.png:
                raise Damaged(
                    "A page could not be verified",
                    f"Page {picture.id} was written to {pack.place} but reads back differently. The old pack is kept.",
                    "The disk or the memory may be failing: check them, then try again.",
                )

    def _update_rows(self, db: apsw.Connection, rows: Sequence[PageRow], written: WrittenPack, kind: str) -> list[str]:
        row = PackRow(written.name, written.size, written.sha256, to_ms(self._clock.now()), kind)
        pages.insert_packs(db, [row])
        pack_gc.unlist(db, [row.name])
        for position, page in enumerate(rows):
            if not pages.move_page(db, page.id, page.pack, row.name, position):
                raise OutOfDate("The archive changed", f"Page {page.id} was moved or deleted meanwhile.", "Try again.")
        old = sorted({page.pack for page in rows})
        empty = pages.empty_packs(db, old)
        pages.delete_packs(db, empty)
        pack_gc.mark_as_garbage(db, empty)
        # The manifests of empty packs go with their files: here they would be missing where the commit does not come.
        seal(db, self._storage, [row.name, *(pack for pack in old if pack not in empty)])
        return empty
