"""Texts of archived pages and entries: read back from pixels, with a cache, and reports of damage."""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path

import apsw

from foundation.program import PROGRAM
from foundation.trust import Trust
from memory.archive.packs.reader import PageReader
from memory.archive.rows import archives as archive_rows
from memory.archive.rows import pages as page_rows
from memory.archive.write.sidecar import page_of_sidecar
from memory.cold import ColdStore
from memory.errors import Damaged, NewerPack, NotAPage, NotFound, StorageUnreachable
from memory.pages.render.header import text_digest
from memory.pages.types import STORED, EntryText, PageRow, PageText
from memory.records import Entry

_CACHED_PAGES = 64  # texts of recently read pages
_NOT_TO_THE_LETTER = "Its text is approximate: a page is damaged."


class ArchivedTexts:
    """Exact texts of archived pages and entries. `kept` is the folder of the sidecar texts of explicit archives.

    Methods are safe to call from any thread.
    """

    def __init__(self, cold: ColdStore, page_reader: PageReader, kept: Path | None) -> None:
        self._cold = cold
        self._page_reader = page_reader
        self._kept = kept
        self._lock = threading.Lock()
        self._texts: OrderedDict[str, PageText] = OrderedDict()
        self._reported: set[str] = set()  # ids of damaged pages
        self._unreported: list[str] = []

    def page(self, page_id: str) -> PageText:
        """The page's text: from its pixels, or where they are damaged, from the archive's sidecar text.

        `troubles` reports the damage. Raises NotFound; Damaged where there is no such text.
        """
        row, label, start = self._cold.read(lambda db: _row_and_offset(db, page_id))
        page = self._recent(page_id)
        if page is not None and page.label == label:
            return page
        page = self._read(row, label, start)
        if page.trust is Trust.EXACT:
            with self._lock:
                self._texts[page_id] = page
                if len(self._texts) > _CACHED_PAGES:
                    self._texts.popitem(last=False)
        return page

    def _recent(self, page_id: str) -> PageText | None:
        """The cached text of a page. The caller knows whether the page still exists."""
        with self._lock:
            if page_id in self._texts:
                self._texts.move_to_end(page_id)
            return self._texts.get(page_id)

    def entry(self, entry: Entry) -> EntryText:
        """The entry's whole text: as stored, or read back from its pages.

        Exact where every page's hash, the entry's own and its row's match. Raises Damaged where a page is lost.
        """
        if entry.text is not None:
            return EntryText(text=entry.text, trust=entry.trust, warnings=entry.doubts)
        spans, sha256 = self._cold.read(
            lambda db: (page_rows.spans_of(db, entry.seq), page_rows.sha256_of(db, entry.seq))
        )
        if not spans:
            return self._restored(entry)
        try:
            pages = {span.page: self._recent(span.page) or self.page(span.page) for span in spans}
        except NotFound:
            return self._restored(entry)
        text = "".join(pages[s.page].text[s.page_start : s.page_start + s.length] for s in spans)
        is_sound = text_digest(text) == sha256 and all(page.trust is Trust.EXACT for page in pages.values())
        page_ids = tuple(page for page, read in pages.items() if read.engine != STORED)
        doubts = entry.doubts if is_sound else (*entry.doubts, _NOT_TO_THE_LETTER)
        return EntryText(text=text, trust=Trust.APPROXIMATE if doubts else Trust.EXACT, pages=page_ids, warnings=doubts)

    def troubles(self) -> list[str]:
        """Damage found since the last call: a sentence per page, each reported once."""
        with self._lock:
            unreported, self._unreported = self._unreported, []
        return unreported

    def exact_page(self, row: PageRow) -> str | None:
        """The page's text from its pixels; None where they do not match its hash."""
        from memory.pages.read.reader import read_picture

        try:
            read = read_picture(self._page_reader.png(row), sha256=row.sha256, page_id=row.id, engine="cells")
        except (Damaged, NotAPage, NotFound):
            return None
        return read.text if read.trust is Trust.EXACT else None

    def exact_entry(self, entry: Entry) -> str | None:
        """The entry's text where it is exact."""
        try:
            passage = self.entry(entry)
        except Damaged:
            return None
        return passage.text if passage.trust is Trust.EXACT else None

    def forget(self, page_ids: Iterable[str]) -> None:
        """Drops the cached texts of deleted pages."""
        with self._lock:
            for page_id in page_ids:
                self._texts.pop(page_id, None)

    def _restored(self, entry: Entry) -> EntryText:
        """Text of an entry whose pages were deleted during the read, and which is in the store again. Raises
        Damaged."""
        now = self._cold.entry(entry.seq)
        if now.text is not None:
            return EntryText(text=now.text, trust=now.trust, warnings=now.doubts)
        raise Damaged(
            "A text is missing",
            f"Entry {entry.id} has no text in the database and is on no page.",
            f"`{PROGRAM} check --repair` repairs what can be repaired; otherwise restore it from a backup "
            "of the workspace.",
        )

    def _read(self, row: PageRow, label: str, start: int) -> PageText:
        from memory.pages.read.reader import read_picture

        read, unreachable, why = None, None, "its pixels do not match its hash"
        try:
            read = read_picture(self._page_reader.png(row), label=label, sha256=row.sha256, page_id=row.id)
        except (Damaged, NotAPage) as error:
            unreachable = error if isinstance(error, StorageUnreachable | NewerPack) else None
            why = error.message.rstrip(".")
        if read is not None and read.trust is Trust.EXACT:
            return read
        if read is not None and read.page_id not in ("", row.id):
            read, why = None, f"page {read.page_id} is in its place"
        sidecar_text = self._sidecar_text(row, label, start)
        if unreachable is not None and sidecar_text is None:
            raise unreachable
        if sidecar_text is not None:
            self._report(row, label, why, "Its text is taken from the exact copy in memory/archive.")
            return PageText(
                text=sidecar_text,
                trust=Trust.EXACT,
                engine=STORED,
                read_ms=0.0,
                page_id=row.id,
                number=row.number,
                label=label,
            )
        if read is not None:
            return read
        self._report(row, label, why, "Its content is left out.")
        raise Damaged(
            "A page is damaged",
            f"Page {row.id} of “{label}”: {why}.",
            f"`{PROGRAM} check --repair` repairs what can be repaired; otherwise restore the page from a "
            "backup of the workspace.",
        )

    def _sidecar_text(self, row: PageRow, label: str, start: int) -> str | None:
        if self._kept is None:
            return None
        return page_of_sidecar(self._kept, label, start, row.chars, row.sha256)

    def _report(self, row: PageRow, label: str, why: str, consequence: str) -> None:
        with self._lock:
            if row.id not in self._reported:
                self._reported.add(row.id)
                self._unreported.append(
                    f"Page {row.id} of “{label}” is damaged: {why}. {consequence} "
                    f"`{PROGRAM} check --repair` repairs what can be repaired."
                )


def _row_and_offset(db: apsw.Connection, page_id: str) -> tuple[PageRow, str, int]:
    """The page, its archive's label, and its offset in the archive's text."""
    row = page_rows.page_row(db, page_id)
    return row, archive_rows.label_of(db, row.archive), page_rows.start_of(db, row)
