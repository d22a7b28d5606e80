"""The vault: where text becomes pages, and pages become text again.

The order is what keeps it safe: packs are written and synced, opened again, read and compared; then one transaction
adds the rows and lets the text go. Killed anywhere, a text is in the store or in the pages, never in neither, and at
worst a pack is left that nothing refers to. Nothing is deleted here unless `release` is told to.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from foundation.clock import Clock, to_ms
from foundation.privacy import Cleared, clear
from foundation.trust import Trust
from memory.archive import ledger
from memory.archive.cache import PageCache
from memory.archive.flow import PagePart, flow, spans
from memory.archive.header import digest
from memory.archive.ledger import Bound
from memory.archive.modes import PROFILE, mode_named
from memory.archive.page_entries import insert_page_entries
from memory.archive.passage import STORED, Archived, ArchiveRow, PageRow, PageText, Passage
from memory.archive.strangers import index_lost, strangers
from memory.cold import ColdStore, Entry, Problem
from memory.cold.bodies import plain
from memory.cold.insert import let_go
from memory.errors import Damaged, NotAPage, OutOfDate

if TYPE_CHECKING:
    from memory.archive.binding import OnPage
    from memory.archive.pack import Pack

Count = Callable[[str], int]
Also = Callable[[apsw.Connection], None]

_PAGES_REMEMBERED = 64  # texts of pages lately read
_PACKS_REMEMBERED = 32


class Vault:
    """The archive of one workspace. `count` counts a text's tokens, and `tokenizer` is its name.

    `kept` is the folder of the texts that stand beside explicit archives: a damaged page is read from there.

    Methods are safe to call from any thread.
    """

    def __init__(
        self,
        packs: Path,
        cache: Path,
        cold: ColdStore,
        clock: Clock,
        *,
        count: Count | None = None,
        tokenizer: str = "estimate",
        kept: Path | None = None,
    ) -> None:
        self._folder = packs
        self._cache = PageCache(cache, clock)
        self._cold = cold
        self._clock = clock
        self._kept = kept
        self._told: set[str] = set()  # ids of damaged pages
        self._untold: list[str] = []
        self._count = count
        self._tokenizer = tokenizer
        self._lock = threading.Lock()
        self._texts: OrderedDict[str, PageText] = OrderedDict()
        self._packs: OrderedDict[str, Pack] = OrderedDict()

    # ── in ──

    def archive_text(
        self,
        text: Cleared,
        *,
        label: str,
        mode: str = "base",
        keep_entry: bool = True,
        on_page: "OnPage | None" = None,
    ) -> Archived:
        """The text as pages. Each page's text is an entry of kind page, in a conversation of its own titled `label`.

        Without `keep_entry` there are pages alone, which search does not find. Raises Misuse for an unknown mode, and
        Damaged where a page does not read back.
        """
        title = clear(label)
        bound = self._bind(text, mode, on_page)
        tokens = [self._tokens(page.text) for page in bound]
        terms = [(page, self._cold.analyse(page.text, "")) for page in bound] if keep_entry else []

        def transaction(db: apsw.Connection) -> Archived:
            archived = self._insert(db, bound, tokens, title, "file")
            if terms:
                insert_page_entries(db, self._clock, title, terms)
            return archived

        return self._cold.write(transaction)

    def archive_entries(
        self,
        entries: Sequence[Entry],
        *,
        label: str,
        mode: str = "base",
        also: Also | None = None,
        on_page: "OnPage | None" = None,
    ) -> Archived:
        """The entries' texts as pages; from the commit on, pages are their home. `also` runs in the same transaction.

        Entries that the archive has already are passed over. Raises OutOfDate where an entry changed meanwhile: then
        nothing was let go, and neither was `also` done.
        """
        title = clear(label)
        entries = [entry for entry in entries if entry.text is not None]
        text, places = flow(entries)
        bound = self._bind(text, mode, on_page) if entries else []
        tokens = [self._tokens(page.text) for page in bound]
        parts = _parts(bound)

        def transaction(db: apsw.Connection) -> Archived:
            archived = self._insert(db, bound, tokens, title, "conversation")
            for place in places:
                if not ledger.is_stored(db, place.entry.seq, digest(place.entry.text or "")):
                    raise _out_of_date(place.entry)
                ledger.insert_spans(db, place.entry.seq, spans(place, parts))
            let_go(db, [place.entry.seq for place in places])
            if also is not None:
                also(db)
            return archived

        return self._cold.write(transaction)

    # ── out ──

    def read_page(self, page_id: str) -> PageText:
        """The page's text, from its pixels; where they are damaged, from the text kept beside the archive.

        `troubles` tells of the damage. Raises NotFound; Damaged where there is no such text.
        """
        with self._lock:
            if page_id in self._texts:
                self._texts.move_to_end(page_id)
                return self._texts[page_id]
        row, label, start = self._cold.read(lambda db: _row_and_place(db, page_id))
        page = self._page(row, label, start)
        if page.trust is Trust.EXACT:
            with self._lock:
                self._texts[page_id] = page
                if len(self._texts) > _PAGES_REMEMBERED:
                    self._texts.popitem(last=False)
        return page

    def entry_text(self, entry: Entry) -> Passage:
        """The entry's whole text: as stored, or read back from its pages.

        Exact where every page's hash and the entry's own match. Raises Damaged where a page is lost.
        """
        if entry.text is not None:
            return Passage(text=entry.text, trust=Trust.EXACT)
        found, sha256 = self._cold.read(lambda db: (ledger.spans_of(db, entry.seq), ledger.sha256_of(db, entry.seq)))
        if not found:
            raise Damaged(
                "A text is missing",
                f"Entry {entry.id} has no text in the store and stands on no page.",
                "`palimpsest check` looks the archive over; a backup of the workspace has it.",
            )
        pages = {span.page: self.read_page(span.page) for span in found}
        text = "".join(pages[s.page].text[s.page_start : s.page_start + s.length] for s in found)
        sound = digest(text) == sha256 and all(page.trust is Trust.EXACT for page in pages.values())
        drawn = tuple(page for page, read in pages.items() if read.engine != STORED)
        return Passage(text=text, trust=Trust.EXACT if sound else Trust.APPROXIMATE, pages=drawn)

    def contradicts(self, page_id: str, text: str) -> bool:
        """Whether this workspace has a page of that id with another text: then a picture of that name is forged."""
        known = self._cold.read(lambda db: ledger.sha256_of_page(db, page_id))
        return known is not None and known != digest(text)

    def troubles(self) -> list[str]:
        """What was found damaged since the last time this was asked: a sentence a page, each told once."""
        with self._lock:
            told, self._untold = list(self._untold), []
        return told

    def png(self, page_id: str) -> Path:
        """The page as a file in the page cache, there for a day at least. Raises NotFound, Damaged."""
        return self._cache.put(page_id, self._png(self._cold.read(lambda db: ledger.page_row(db, page_id))))

    def pages(self, archive: int | None = None) -> list[PageRow]:
        """All pages, or those of one archive (its seq), in order."""
        return self._cold.read(lambda db: ledger.page_rows(db, archive))

    def archives(self) -> list[ArchiveRow]:
        """What was archived, newest first."""
        return self._cold.read(ledger.archive_rows)

    # ── upkeep ──

    def check(self) -> list[Problem]:
        """Every pack and page read and compared with the index. Takes about a second for a thousand pages."""
        from memory.archive.inspection import inspect

        packs, pages = self._cold.read(lambda db: (ledger.pack_rows(db), ledger.page_rows(db)))
        return inspect(self._folder, packs, pages)

    def index_lost(self) -> str:
        """A sentence where there are packs and the store knows none of them; "" where all is well."""
        if not self._cold.read(ledger.knows_packs) and (lost := strangers(self._folder, ())):
            return index_lost(self._cold.database, len(lost))
        return ""

    def release(self, page_ids: Sequence[str]) -> None:
        """Lets go of pages that no entry stands on any more, and of packs that hold no other page."""
        packs = self._cold.write(lambda db: ledger.let_pages_go(db, page_ids))
        with self._lock:
            for page_id in page_ids:
                self._texts.pop(page_id, None)
            for name in packs:
                self._packs.pop(name, None)
        for page_id in page_ids:
            self._cache.drop(page_id)
        for name in packs:
            (self._folder / name).unlink(missing_ok=True)

    # ── within ──

    def _bind(self, text: str, mode: str, on_page: "OnPage | None") -> list[Bound]:
        from memory.archive.binding import bind

        return list(bind(self._folder, text, mode_named(mode), to_ms(self._clock.now()), on_page))

    def _insert(
        self, db: apsw.Connection, bound: Sequence[Bound], tokens: Sequence[int], label: Cleared, origin: str
    ) -> Archived:
        packs = {page.pack.name: page.pack for page in bound}
        archive = ledger.insert_archive(db, plain(label), origin, to_ms(self._clock.now())) if bound else 0
        rows = tuple(_page_row(page, count, archive) for page, count in zip(bound, tokens, strict=True))
        ledger.insert_packs(db, packs.values())
        ledger.insert_pages(db, rows)
        return Archived(
            seq=archive,
            label=label,
            pages=rows,
            text_tokens=sum(row.text_tokens for row in rows),
            vision_tokens=sum(row.vision_tokens for row in rows),
            tokenizer=self._tokenizer,
            profile=PROFILE,
        )

    def _page(self, row: PageRow, label: str, start: int) -> PageText:
        from memory.archive.reading import read_picture

        read, why = None, "its pixels do not match its hash"
        try:
            read = read_picture(self._png(row), label=label, sha256=row.sha256, page_id=row.id)
        except (Damaged, NotAPage) as error:
            why = error.message.rstrip(".")
        if read is not None and read.trust is Trust.EXACT:
            return read
        if (kept := self._kept_text(row, label, start)) is not None:
            self._tell(row, label, why, "Its text is taken from memory/archive, where it was kept to the letter.")
            return PageText(text=kept, trust=Trust.EXACT, engine=STORED, read_ms=0.0, page_id=row.id,
                            number=row.number, label=label)  # fmt: skip
        if read is not None:
            return read
        self._tell(row, label, why, "What stands on it is left out.")
        raise Damaged(
            "A page is damaged",
            f"Page {row.id} of “{label}”: {why}.",
            "`palimpsest check` names all that is damaged; a backup of the workspace has the page.",
        )

    def _kept_text(self, row: PageRow, label: str, start: int) -> str | None:
        if self._kept is None:
            return None
        from memory.archive.kept_reading import kept_page

        return kept_page(self._kept, label, start, row.chars, row.sha256)

    def _tell(self, row: PageRow, label: str, why: str, then: str) -> None:
        with self._lock:
            if row.id not in self._told:
                self._told.add(row.id)
                self._untold.append(
                    f"Page {row.id} of “{label}” is damaged: {why}. {then} `palimpsest check` says more."
                )

    def _tokens(self, text: str) -> int:
        if self._count is None:
            from models.tokens import estimate

            self._count = estimate
        return self._count(text)

    def _png(self, row: PageRow) -> bytes:
        with self._lock:
            pack = self._packs.get(row.pack)
        if pack is None:
            from memory.archive.pack import Pack

            pack = Pack(self._folder / row.pack)
            with self._lock:
                self._packs[row.pack] = pack
                if len(self._packs) > _PACKS_REMEMBERED:
                    self._packs.popitem(last=False)
        return pack.png(row.position)


def _row_and_place(db: apsw.Connection, page_id: str) -> tuple[PageRow, str, int]:
    """The page, its archive's label, and where in the archive's text it begins."""
    row = ledger.page_row(db, page_id)
    return row, ledger.label_of(db, row.archive), ledger.start_of(db, row)


def _page_row(page: Bound, text_tokens: int, archive: int) -> PageRow:
    return PageRow(
        id=page.id,
        archive=archive,
        number=page.number,
        mode=page.mode.name,
        width=page.mode.side,
        height=page.mode.side,
        chars=len(page.text),
        sha256=page.sha256.hex(),
        pack=page.pack.name,
        position=page.position,
        text_tokens=text_tokens,
        vision_tokens=page.mode.vision_tokens,
    )


def _parts(bound: Sequence[Bound]) -> list[PagePart]:
    parts, at = list[PagePart](), 0
    for page in bound:
        parts.append(PagePart(page.id, at, at + len(page.text)))
        at += len(page.text)
    return parts


def _out_of_date(entry: Entry) -> OutOfDate:
    return OutOfDate(
        "The conversation changed",
        f"Entry {entry.id} was changed, archived or deleted while it was being archived. Nothing was let go.",
        "Try again: the pages will be made from what stands there now.",
    )
