"""Rows of packs, pages and spans in the cold store, within a transaction that the caller holds."""

from collections.abc import Iterable, Sequence

import apsw
import msgspec
from msgspec import Struct

from foundation.names import PACK, PAGE
from foundation.program import PROGRAM
from foundation.typed_json import decode_json
from memory.cold.sql import SqlRow, batches, each, fetch, marks, run, run_many
from memory.errors import NotFound
from memory.names import vetted
from memory.pages.types import PageRow

_COLUMNS = "mode, width, height, chars, sha256, pack, position, text_tokens, vision_tokens, cell, factsheet"
_PAGES = f"SELECT p.id, p.archive, p.number, {_COLUMNS} FROM pages p"
_HELD = f"SELECT p.id, h.archive, h.number, {_COLUMNS} FROM archive_pages h JOIN pages p ON p.id = h.page"


class PackRow(Struct, frozen=True):
    """A pack's file name, size in bytes, SHA-256, time (ms since 1970), and kind, warm or cold."""

    name: str
    size: int
    sha256: bytes
    created_ms: int
    kind: str = "warm"


class EntrySpan(Struct, frozen=True):
    """Characters of an entry, and their location in a page's text."""

    start: int
    length: int
    page: str
    page_start: int


def insert_packs(connection: apsw.Connection, packs: Iterable[PackRow]) -> None:
    run_many(
        connection,
        "INSERT INTO packs (name, bytes, sha256, created_ms, kind) VALUES (?, ?, ?, ?, ?)",
        [(pack.name, pack.size, pack.sha256, pack.created_ms, pack.kind) for pack in packs],
    )


def insert_pages(connection: apsw.Connection, pages: Iterable[PageRow]) -> None:
    run_many(
        connection,
        """INSERT INTO pages (id, archive, number, mode, width, height, chars, sha256, pack, position, text_tokens,
           vision_tokens, cell, factsheet) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        [
            (
                p.id,
                p.archive,
                p.number,
                p.mode,
                p.width,
                p.height,
                p.chars,
                bytes.fromhex(p.sha256),
                p.pack,
                p.position,
                p.text_tokens,
                p.vision_tokens,
                p.cell,
                _ascii(p.factsheet),
            )
            for p in pages
        ],
    )


def insert_spans(connection: apsw.Connection, entry: int, spans: Iterable[EntrySpan]) -> None:
    run_many(
        connection,
        "INSERT INTO spans (entry, start, length, page, page_start) VALUES (?, ?, ?, ?, ?)",
        [(entry, span.start, span.length, span.page, span.page_start) for span in spans],
    )


def page_row(connection: apsw.Connection, page_id: str) -> PageRow:
    """Raises NotFound."""
    rows = fetch(connection, f"{_PAGES} WHERE p.id = ?", (page_id,))
    if not rows:
        raise NotFound("No such page", f"There is no page {page_id} here.", f"`{PROGRAM} archive --list` shows them.")
    return _page(rows[0])


def page_rows(connection: apsw.Connection, archive: int | None = None) -> list[PageRow]:
    """All pages, or those that one archive holds, in its order, whichever archive they were drawn for."""
    if archive is None:
        return [_page(row) for row in each(connection, f"{_PAGES} ORDER BY p.archive, p.number")]
    return [_page(row) for row in each(connection, f"{_HELD} WHERE h.archive = ? ORDER BY h.number", (archive,))]


def pages_by_id(connection: apsw.Connection, ids: Iterable[str], *, not_of: str = "") -> dict[str, PageRow]:
    """Those that exist, and were not drawn for an archive of origin `not_of`."""
    pages: dict[str, PageRow] = {}
    for batch in batches(sorted(set(ids))):
        sql = f"{_PAGES} JOIN archives a ON a.seq = p.archive WHERE p.id IN ({marks(batch)}) AND a.origin <> ?"
        rows = each(connection, sql, (*batch, not_of))
        pages.update((row[0], _page(row)) for row in rows)
    return pages


def pages_of_pack(connection: apsw.Connection, pack: str) -> list[PageRow]:
    """Pages of the pack, in their order within it."""
    return [_page(row) for row in each(connection, f"{_PAGES} WHERE pack = ? ORDER BY position", (pack,))]


def pack_rows(connection: apsw.Connection) -> list[PackRow]:
    rows = fetch(connection, "SELECT name, bytes, sha256, created_ms, kind FROM packs ORDER BY created_ms, name")
    return [PackRow(vetted(PACK, row[0], "table packs"), *row[1:]) for row in rows]


def pack_row(connection: apsw.Connection, name: str) -> PackRow | None:
    rows = fetch(connection, "SELECT name, bytes, sha256, created_ms, kind FROM packs WHERE name = ?", (name,))
    return PackRow(*rows[0]) if rows else None


def packs_of(connection: apsw.Connection, pages: Iterable[str]) -> set[str]:
    """The packs of these pages."""
    packs: set[str] = set()
    for batch in batches(sorted(set(pages))):
        rows = each(connection, f"SELECT pack FROM pages WHERE id IN ({marks(batch)})", batch)
        packs.update(vetted(PACK, pack, "table pages") for (pack,) in rows)
    return packs


def empty_packs(connection: apsw.Connection, names: Iterable[str]) -> list[str]:
    """Those of the packs without a page."""
    sql = "SELECT 1 FROM pages WHERE pack = ? LIMIT 1"
    return [name for name in names if not fetch(connection, sql, (name,))]


def delete_packs(connection: apsw.Connection, names: Iterable[str]) -> None:
    run_many(connection, "DELETE FROM packs WHERE name = ?", [(name,) for name in names])


def sha256_of_page(connection: apsw.Connection, page_id: str) -> bytes | None:
    """Hash of the page's text; None where there is no such page."""
    rows = fetch(connection, "SELECT sha256 FROM pages WHERE id = ?", (page_id,))
    return rows[0][0] if rows else None


def start_of(connection: apsw.Connection, page: PageRow) -> int:
    """Offset of the page in the text of the archive it was drawn for, in characters."""
    sql = """SELECT coalesce(sum(p.chars), 0) FROM archive_pages h JOIN pages p ON p.id = h.page WHERE h.archive = ?
             AND h.number < (SELECT min(number) FROM archive_pages WHERE archive = h.archive AND page = ?)"""
    return int(fetch(connection, sql, (page.archive, page.id))[0][0])


def first_entry(connection: apsw.Connection, page_id: str) -> int | None:
    """Seq of the first entry with text on the page; None where there is none."""
    rows = fetch(connection, "SELECT min(entry) FROM spans WHERE page = ?", (page_id,))
    return rows[0][0]


def warm_pages(connection: apsw.Connection, before_ms: int) -> int:
    """Number of pages in packs from before that moment that can be repacked: warm ones, and cold ones of version 1."""
    sql = "SELECT count(*) FROM pages p JOIN packs k ON k.name = p.pack WHERE k.created_ms <= ? AND k.kind <> 'symbols'"
    return int(fetch(connection, sql, (before_ms,))[0][0])


def knows_packs(connection: apsw.Connection) -> bool:
    return bool(fetch(connection, "SELECT 1 FROM packs LIMIT 1"))


def spans_of(connection: apsw.Connection, entry: int) -> list[EntrySpan]:
    """Spans of the entry's text on pages, in its own order."""
    sql = "SELECT start, length, page, page_start FROM spans WHERE entry = ? ORDER BY start"
    return [EntrySpan(*row) for row in fetch(connection, sql, (entry,))]


def delete_pages(connection: apsw.Connection, pages: Iterable[str]) -> None:
    """Deletes pages and their dependent rows; raises apsw.ConstraintError where an entry has a span on one."""
    run_many(connection, "DELETE FROM pages WHERE id = ?", [(page,) for page in pages])


def delete_spans(connection: apsw.Connection, entry: int) -> None:
    run(connection, "DELETE FROM spans WHERE entry = ?", (entry,))


def sha256_of(connection: apsw.Connection, entry: int) -> bytes:
    """Hash of the entry's text, as it was stored. Raises NotFound."""
    rows = fetch(connection, "SELECT sha256 FROM entries WHERE seq = ?", (entry,))
    if not rows:
        raise NotFound("No such entry", f"There is no entry {entry} here.", "It may have been deleted.")
    return rows[0][0]


def is_stored(connection: apsw.Connection, entry: int, sha256: bytes) -> bool:
    """Whether the entry has exactly that text in the store, and is not being written."""
    sql = """SELECT 1 FROM entries WHERE seq = ? AND body IS NOT NULL AND sha256 = ?
             AND NOT EXISTS (SELECT 1 FROM answers WHERE answers.entry = entries.seq)"""
    return bool(fetch(connection, sql, (entry, sha256)))


def move_page(connection: apsw.Connection, page: str, old: str, new: str, position: int) -> bool:
    """Moves the page's row to another pack; False where it is no longer in `old`."""
    run(connection, "UPDATE pages SET pack = ?, position = ? WHERE id = ? AND pack = ?", (new, position, page, old))
    return connection.changes() == 1


def _ascii(facts: Sequence[str]) -> str:
    return msgspec.json.encode(tuple(fact.encode("ascii", "backslashreplace").decode() for fact in facts)).decode()


def factsheet_of(column: str) -> tuple[str, ...]:
    """The exact tokens in a column; none where a damaged bit left no JSON, which `check` reports."""
    try:
        return decode_json(column, tuple[str, ...])
    except msgspec.DecodeError:
        return ()


def _page(row: SqlRow) -> PageRow:
    values = dict(zip(PageRow.__struct_fields__, row, strict=False))
    values["sha256"] = values["sha256"].hex()
    values["factsheet"] = factsheet_of(values["factsheet"])
    vetted(PAGE, values["id"], "table pages")
    vetted(PACK, values["pack"], "table pages")
    return PageRow(**values)
