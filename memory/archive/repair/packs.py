"""Repair of damaged packs: by parity to the last bit, or rewritten from the pages that are still sound.

A lost page is redrawn where its text is stored elsewhere and matches its hash: in the sidecar text
`memory/archive/<label>.md`, or in stored entries with the same text.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import apsw
from msgspec import Struct

from foundation.clock import from_ms, iso
from foundation.trust import Trust
from memory.archive.packs.pack import Pack, PageImage, new_pack_name, write_pack
from memory.archive.packs.parity import recover_pack
from memory.archive.packs.storage import Storage
from memory.archive.repair.check import label_or_nothing, listed_pages, pack_is_sound
from memory.archive.repair.entries import restore_entries
from memory.archive.repair.quarantine import Quarantine
from memory.archive.repair.salvage import salvaged_pages
from memory.archive.rows import pages as page_rows
from memory.archive.rows.facts import seal
from memory.archive.rows.pages import PackRow
from memory.archive.write.sidecar import page_of_sidecar
from memory.cold import ColdStore
from memory.cold.integrity.repair import FindText
from memory.cold.sql import run
from memory.errors import MemoryFailure
from memory.pages.read.reader import read_picture
from memory.pages.render.header import text_digest
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import MODES, mode_named
from memory.pages.render.page import page_sheets, render_page
from memory.pages.types import PageRow

_NAMED = 20  # lost entries that the report names


def redraw_page(folder: Path | None, label: str, start: int, page: PageImage, cell: str) -> PageImage | None:
    """The page of a row, redrawn from the sidecar text of `label`; `start` is its offset there.

    None where no sidecar text has that hash.
    """
    if folder is None or page.mode not in MODES:
        return None
    text = page_of_sidecar(folder, label, start, page.chars, page.sha256)
    if text is None:
        return None
    sheet = next(iter(page_sheets([LayoutText(text)], mode_named(page.mode, cell == "6x12"))))
    if sheet.text != text:
        return None
    png = render_page(sheet, page.id, page.number).png
    return PageImage(page.id, page.number, page.mode, page.chars, page.sha256, png)


LARGEST_PACK = 2**28  # bytes; what is longer is no pack of ours


class RepairLog(Struct):
    """Repairs and losses, as sentences."""

    mended: list[str]
    lost: list[str]


class PackRepairer:
    """Repairs indexed packs. `kept_texts` is the folder of sidecar texts of explicit archives."""

    def __init__(
        self,
        cold: ColdStore,
        storage: Storage,
        quarantine: Quarantine,
        log: RepairLog,
        *,
        kept_texts: Path | None,
        find_text: FindText,
    ) -> None:
        self._find_text = find_text
        self._cold = cold
        self._storage = storage
        self._quarantine = quarantine
        self._kept_texts = kept_texts
        self._log = log

    def repair(self, row: PackRow) -> None:
        """Repairs one pack as far as possible; does nothing where it is sound."""
        names = self._storage.names()
        try:
            if pack_is_sound(self._storage, row):
                return
        except MemoryFailure:  # it is gone: then there is parity, or other places where its text stands
            pass
        whole = recover_pack(self._storage, row.name, row.sha256, row.size)
        if whole is not None:
            if row.name in names:
                self._quarantine.copy_file(self._storage, row.name)
            self._storage.write(row.name, whole)
            self._log.mended.append(f"Pack {row.name}: repaired from parity data, bit for bit.")
            return
        self._rewrite(row, names)

    def _rewrite(self, row: PackRow, names: Sequence[str]) -> None:
        pages = self._cold.read(lambda db: page_rows.pages_of_pack(db, row.name))
        sound = self._sound_pages(row, pages) if row.name in names else {}
        if len(sound) == len(pages) and self._accepts(row, pages):
            return
        redrawn = {page.id: picture for page in pages if page.id not in sound and (picture := self._redraw(page))}
        ready = [picture for page in pages if (picture := sound.get(page.id) or redrawn.get(page.id))]
        if ready:
            self._move(row, names, ready, whole=len(ready) == len(pages))
        if redrawn:
            self._log.mended.append(f"Pack {row.name}: {_pages(len(redrawn))} redrawn from stored text and verified.")
        self._report_lost(row, [page for page in pages if page.id not in sound and page.id not in redrawn])

    def _sound_pages(self, row: PackRow, pages: Sequence[PageRow]) -> dict[str, PageImage]:
        """Those of the pages that still match their hash."""
        if self._storage.size(row.name) > LARGEST_PACK:
            return {}
        wanted = {page.id: page for page in pages}
        sound: dict[str, PageImage] = {}
        for salvaged in salvaged_pages(self._storage.read(row.name)):
            page = wanted.get(salvaged.page.page_id)
            if page is not None and text_digest(salvaged.page.text).hex() == page.sha256:
                sound[page.id] = _picture(page, salvaged.png)
        return sound

    def _accepts(self, row: PackRow, pages: Sequence[PageRow]) -> bool:
        """Accepts a pack whose pages and list are sound, and only its row differs."""
        try:
            pack = Pack(self._storage, row.name)
            for page in pages:
                png = pack.png(page.position)
                if read_picture(png, sha256=page.sha256, page_id=page.id, engine="cells").trust is not Trust.EXACT:
                    return False
        except MemoryFailure:
            return False
        body = self._storage.read(row.name)
        self._quarantine.copy_database(self._cold)
        self._quarantine.copy_file(self._storage, row.name)

        def transaction(db: apsw.Connection) -> None:
            sql = "UPDATE packs SET bytes = ?, sha256 = ? WHERE name = ?"
            run(db, sql, (len(body), hashlib.sha256(body).digest(), row.name))
            seal(db, self._storage, [row.name])

        self._cold.write(transaction)
        self._log.mended.append(f"Pack {row.name}: all its pages are intact; its row was rewritten.")
        return True

    def _move(self, row: PackRow, names: Sequence[str], pictures: Sequence[PageImage], *, whole: bool) -> None:
        """Moves the sound pages to a new pack; the damaged one is copied to quarantine, and deleted where no page is
        left in it."""
        self._quarantine.copy_database(self._cold)
        if row.name in names:
            self._quarantine.copy_file(self._storage, row.name)
        written = write_pack(self._storage, new_pack_name(), pictures)
        pack = Pack(self._storage, written.name)
        for position, picture in enumerate(pictures):
            back = read_picture(pack.png(position), sha256=picture.sha256, page_id=picture.id, engine="cells")
            if back.trust is not Trust.EXACT:
                self._log.lost.append(f"Pack {row.name} could not be rewritten: the pages read back differently.")
                return

        def transaction(db: apsw.Connection) -> None:
            new = PackRow(written.name, written.size, written.sha256, row.created_ms, "warm")
            page_rows.insert_packs(db, [new])
            for position, picture in enumerate(pictures):
                page_rows.move_page(db, picture.id, row.name, written.name, position)
            if whole:
                page_rows.delete_packs(db, [row.name])
            seal(db, self._storage, [written.name, row.name])

        self._cold.write(transaction)
        if whole:
            for name in (row.name, f"{row.name.partition('.')[0]}.parity"):
                self._storage.delete(name)
        self._log.mended.append(f"Pack {row.name}: {_pages(len(pictures))} moved to the new pack {written.name}.")

    def _redraw(self, page: PageRow) -> PageImage | None:
        label, start = self._cold.read(lambda db: (label_or_nothing(db, page.archive), page_rows.start_of(db, page)))
        return redraw_page(self._kept_texts, label, start, _picture(page, b""), page.cell)

    def _report_lost(self, row: PackRow, pages: Sequence[PageRow]) -> None:
        """Restores entries of lost pages whose text is elsewhere, and reports the others as lost."""
        gone, restored, lost = list[PageRow](), 0, list[tuple[str, int]]()
        for page in pages:
            ids, of_page = restore_entries(self._cold, self._storage, self._quarantine, page, self._find_text)
            restored += len(ids)
            if of_page or not ids:
                gone.append(page)
                lost += [entry for entry in of_page if entry not in lost]
        if restored:
            lost_pages = f"Page {pages[0].id} is lost" if len(pages) == 1 else f"{len(pages):,} pages are lost"
            them = "it" if len(pages) == 1 else "them"
            self._log.mended.append(f"{lost_pages}; {_entries(restored)} on {them} restored from another copy.")
        if gone:
            named = "; ".join(f"{id_} of {iso(from_ms(ms))}" for id_, ms in lost[:_NAMED])
            more = f" and {len(lost) - _NAMED:,} more" if len(lost) > _NAMED else ""
            them = "it" if len(gone) == 1 else "them"
            whose = f" Entries on {them}: {named}{more}." if lost else ""
            self._log.lost.append(f"{self._cold.read(lambda db: _named(db, row, gone))}{whose}")


def _named(db: apsw.Connection, row: PackRow, pages: Sequence[PageRow]) -> str:
    if len(pages) > 1:
        return f"{len(pages):,} pages in pack {row.name} are lost: {listed_pages(db, pages)}."
    (page,) = pages
    label = label_or_nothing(db, page.archive)
    return f"Page {page.id} of “{label}” (page {page.number}, in pack {row.name}) is lost."


def _picture(page: PageRow, png: bytes) -> PageImage:
    return PageImage(page.id, page.number, page.mode, page.chars, page.sha256, png)


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"
