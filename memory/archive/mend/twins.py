"""Entries on a lost page whose very text stands somewhere else: it comes back to the store."""

import apsw

from memory.archive.index import ledger
from memory.archive.index.facts import seal
from memory.archive.mend.keeping import Damages
from memory.archive.packs.pack import Pack
from memory.archive.packs.storage import Storage
from memory.cold import ColdStore
from memory.cold.encoding import pack as packed_body
from memory.cold.encoding import to_bytes, unpack
from memory.cold.insert import note_change
from memory.cold.integrity.repair import Elsewhere
from memory.cold.sql import fetch, first, run
from memory.errors import Damaged, MemoryTrouble
from memory.pages.read.reader import read_picture
from memory.pages.render.header import digest
from memory.pages.types import PageRow

_ON_PAGE = (
    "SELECT DISTINCT e.seq, e.id, e.time_ms, e.sha256 FROM spans s JOIN entries e ON e.seq = s.entry WHERE s.page = ?"
)

_PACKS = "SELECT DISTINCT p.pack FROM spans s JOIN pages p ON p.id = s.page WHERE s.entry = ?"


def bring_back(
    cold: ColdStore, storage: Storage, damages: Damages, page: PageRow, elsewhere: Elsewhere
) -> tuple[list[str], list[tuple[str, int]]]:
    """Ids of the entries whose text came back (from a twin, or from `elsewhere`), and id and moment of the others."""
    brought, lost = list[str](), list[tuple[str, int]]()
    for seq, id_, ms, sha256 in cold.read(lambda db: fetch(db, _ON_PAGE, (page.id,))):
        text = _twin(cold, storage, seq, sha256) or elsewhere(id_, sha256)
        if text is None:
            lost.append((id_, ms))
            continue
        damages.keep_database(cold)
        cold.write(lambda db, seq=seq, text=text: _store(db, storage, seq, text))
        brought.append(id_)
    if brought and not lost:
        cold.write(lambda db: _let_page_go(db, storage, page))
    return brought, lost


def _twin(cold: ColdStore, storage: Storage, seq: int, sha256: bytes) -> str | None:
    """The text with that hash: from the store, or from pages that are sound."""
    sql = "SELECT seq, body, packed, chars FROM entries WHERE sha256 = ? AND seq <> ?"
    for twin, body, packed, chars in cold.read(lambda db: fetch(db, sql, (sha256, seq))):
        try:
            text = unpack(body, packed, chars) if body is not None else _from_pages(cold, storage, twin)
        except MemoryTrouble:
            continue
        if digest(text) == sha256:
            return text
    return None


def _from_pages(cold: ColdStore, storage: Storage, seq: int) -> str:
    spans = cold.read(lambda db: ledger.spans_of(db, seq))
    rows = cold.read(lambda db: ledger.pages_by_id(db, [span.page for span in spans]))
    if not spans or len(rows) != len({span.page for span in spans}):
        raise Damaged("A text is missing", f"Entry {seq} stands on no page.", "A backup of the workspace has it.")
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


def _let_page_go(db: apsw.Connection, storage: Storage, page: PageRow) -> None:
    """A lost page on which nothing stands any more; its pack goes with the last of them."""
    run(db, "DELETE FROM pages WHERE id = ?", (page.id,))
    if first(db, "SELECT 1 FROM pages WHERE pack = ?", (page.pack,)) is None:
        ledger.delete_packs(db, [page.pack])
    seal(db, storage, [page.pack])
