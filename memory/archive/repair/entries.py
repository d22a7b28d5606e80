"""Recovers entries' texts: from equal text elsewhere, from the readable rest of damaged pages (with marks for lost
parts), and from the pages of packs by facts alone."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Protocol

import apsw
from msgspec import Struct

from foundation.trust import Trust
from memory.archive.packs.pack import Pack
from memory.archive.packs.storage import Storage
from memory.archive.repair.diff import Fields, Key
from memory.archive.repair.quarantine import Quarantine
from memory.archive.rows import pages
from memory.archive.rows.facts import seal
from memory.archive.rows.pages import EntrySpan
from memory.cold import ColdStore
from memory.cold.changes import note_change, said_at
from memory.cold.encoding import pack as packed_body
from memory.cold.encoding import readable_meta, to_bytes, unpack
from memory.cold.integrity.repair import FindText
from memory.cold.sql import fetch, first, run
from memory.errors import Damaged, MemoryFailure, NotFound, StorageUnreachable
from memory.pages.read.reader import read_picture
from memory.pages.render.header import text_digest
from memory.pages.types import EntryText, PageRow, PageText
from memory.records import AnalysedTerms, Entry


class PageTextSource(Protocol):
    """The part of the vault that is needed here."""

    def entry_text(self, entry: Entry) -> EntryText: ...

    def read_page(self, page_id: str) -> PageText: ...


class RestoredText(Struct, frozen=True):
    """The readable text; `troubles` are sentences, none where the text is exact."""

    text: str
    lost: tuple[str, ...] = ()  # ids of pages, or the entry's own where the store lost it
    troubles: tuple[str, ...] = ()
    exact: bool = True  # the stored text, verified by the SHA-256 of the index


def readable_text(vault: PageTextSource, cold: ColdStore, entry: Entry) -> RestoredText:
    """The readable part of the entry's text. Raises StorageUnreachable where its pages cannot be fetched now, and
    nothing else."""
    damaged_columns = tuple(
        f"Entry {entry.id}: its {column} is damaged." for column in entry.damaged if column != "text"
    )
    try:
        passage = vault.entry_text(entry)
    except StorageUnreachable:
        raise
    except MemoryFailure as error:
        return _parts(vault, cold, entry, damaged_columns, error)
    if passage.trust is not Trust.EXACT:
        why = tuple(f"Entry {entry.id}: {sentence[0].lower()}{sentence[1:]}" for sentence in passage.warnings)
        return RestoredText(passage.text, (), why, exact=False)
    return RestoredText(passage.text, (), damaged_columns)


def _parts(
    vault: PageTextSource, cold: ColdStore, entry: Entry, odd: tuple[str, ...], error: MemoryFailure
) -> RestoredText:
    spans = cold.read(lambda db: pages.spans_of(db, entry.seq))
    if not spans:
        why = f"the text of entry {entry.id} is damaged"
        return RestoredText(f"[lost: {why}]", (entry.id,), (*odd, f"Entry {entry.id}: {error.message}"), exact=False)
    parts, lost = list[str](), list[str]()
    for span in spans:
        text = _span_text(vault, span)
        if text is None and span.page not in lost:
            lost.append(span.page)
            parts.append(f"[lost: page {span.page} is damaged]")
        parts.append(text or "")
    troubles = tuple(f"Entry {entry.id}: its part on page {page} is lost." for page in lost)
    if not troubles:  # its pages are there, and one of them is not the one that should be
        troubles = (f"Entry {entry.id}: its text is approximate, because a page is damaged.",)
    return RestoredText("".join(parts), tuple(lost), (*odd, *troubles), exact=False)


def _span_text(vault: PageTextSource, span: EntrySpan) -> str | None:
    try:
        text = vault.read_page(span.page).text
    except StorageUnreachable:
        raise
    except (MemoryFailure, NotFound):
        return None
    return text[span.page_start : span.page_start + span.length]


_CACHED_PAGES = 256  # pages


class EntryTextReader:
    """Reads each page once while its neighbours are requested."""

    def __init__(self, storage: Storage, facts: Mapping[Key, Fields]) -> None:
        self._storage = storage
        self._facts = facts
        self._pages: OrderedDict[str, str | None] = OrderedDict()
        self._packs: dict[str, Pack] = {}

    def terms_of(self, cold: ColdStore, entry: Fields) -> AnalysedTerms | None:
        """The entry's terms; None where its exact text cannot be read."""
        text = self.of(entry)
        if text is None:
            return None
        at = said_at(entry["kind"], entry["time_ms"])
        return cold.analyse(text, entry["speaker"], readable_meta(entry["meta"]), at)

    def of(self, entry: Fields) -> str | None:
        """The entry's text, where it matches the hash of the fact."""
        parts = [(self._page(page), at, length) for _, length, page, at in entry["spans"]]
        if any(text is None for text, _, _ in parts):
            return None
        text = "".join((text or "")[at : at + length] for text, at, length in parts)
        return text if text_digest(text).hex() == entry["sha256"] else None

    def _page(self, id_: str) -> str | None:
        if id_ not in self._pages:
            self._pages[id_] = self._read(id_)
            if len(self._pages) > _CACHED_PAGES:
                self._pages.popitem(last=False)
        return self._pages[id_]

    def _read(self, id_: str) -> str | None:
        fact = self._facts.get(("page", id_))
        if fact is None:
            return None
        try:
            pack = self._packs.get(fact["pack"])
            if pack is None:
                pack = self._packs[fact["pack"]] = Pack(self._storage, fact["pack"])
            page = read_picture(pack.png(fact["position"]), sha256=fact["sha256"], page_id=id_, engine="cells")
        except MemoryFailure:
            return None
        return page.text if page.trust is Trust.EXACT else None


_ON_PAGE = (
    "SELECT DISTINCT e.seq, e.id, e.time_ms, e.sha256 FROM spans s JOIN entries e ON e.seq = s.entry WHERE s.page = ?"
)

_PACKS = "SELECT DISTINCT p.pack FROM spans s JOIN pages p ON p.id = s.page WHERE s.entry = ?"


def restore_entries(
    cold: ColdStore, storage: Storage, quarantine: Quarantine, page: PageRow, find_text: FindText
) -> tuple[list[str], list[tuple[str, int]]]:
    """Restores entries of a lost page: ids of those restored (from equal text, or from `find_text`), and id and time of
    the others."""
    restored, lost = list[str](), list[tuple[str, int]]()
    for seq, id_, ms, sha256 in cold.read(lambda db: fetch(db, _ON_PAGE, (page.id,))):
        text = _equal_text(cold, storage, seq, sha256) or find_text(id_, sha256)
        if text is None:
            lost.append((id_, ms))
            continue
        quarantine.copy_database(cold)
        cold.write(lambda db, seq=seq, text=text: _store(db, storage, seq, text))
        restored.append(id_)
    if restored and not lost:
        cold.write(lambda db: _delete_page(db, storage, page))
    return restored, lost


def _equal_text(cold: ColdStore, storage: Storage, seq: int, sha256: bytes) -> str | None:
    """The text with that hash: from the store, or from sound pages."""
    sql = "SELECT seq, body, packed, chars FROM entries WHERE sha256 = ? AND seq <> ?"
    for twin, body, packed, chars in cold.read(lambda db: fetch(db, sql, (sha256, seq))):
        try:
            text = unpack(body, packed, chars) if body is not None else _from_pages(cold, storage, twin)
        except MemoryFailure:
            continue
        if text_digest(text) == sha256:
            return text
    return None


def _from_pages(cold: ColdStore, storage: Storage, seq: int) -> str:
    spans = cold.read(lambda db: pages.spans_of(db, seq))
    rows = cold.read(lambda db: pages.pages_by_id(db, [span.page for span in spans]))
    if not spans or len(rows) != len({span.page for span in spans}):
        raise Damaged("A text is missing", f"Entry {seq} is on no page.", "Restore it from a backup of the workspace.")
    texts: dict[str, str] = {}
    for id_, row in rows.items():
        png = Pack(storage, row.pack).png(row.position)
        texts[id_] = read_picture(png, sha256=row.sha256, page_id=id_, engine="cells").text
    return "".join(texts[span.page][span.page_start : span.page_start + span.length] for span in spans)


def _store(db: apsw.Connection, storage: Storage, seq: int, text: str) -> None:
    packs = [row[0] for row in fetch(db, _PACKS, (seq,))]
    body, packed = packed_body(to_bytes(text))
    run(db, "UPDATE entries SET body = ?, packed = ? WHERE seq = ?", (body, packed, seq))
    run(db, "DELETE FROM spans WHERE entry = ?", (seq,))
    note_change(db, "change", [seq])
    seal(db, storage, packs)


def _delete_page(db: apsw.Connection, storage: Storage, page: PageRow) -> None:
    """Deletes the row of a lost page without entries, and its pack with its last page."""
    run(db, "DELETE FROM pages WHERE id = ?", (page.id,))
    if first(db, "SELECT 1 FROM pages WHERE pack = ?", (page.pack,)) is None:
        pages.delete_packs(db, [page.pack])
    seal(db, storage, [page.pack])
