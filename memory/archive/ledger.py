"""The archive's rows in the cold store, within a transaction that the caller holds."""

from collections.abc import Iterable

import apsw
from msgspec import Struct

from foundation.clock import from_ms
from memory.archive.modes import Mode
from memory.archive.passage import ArchiveRow, PageRow
from memory.cold.sql import Row, fetch, run, run_many
from memory.errors import NotFound

_PAGES = """SELECT id, archive, number, mode, width, height, chars, sha256, pack, position, text_tokens, vision_tokens
            FROM pages"""


class PackRow(Struct, frozen=True):
    """A pack's file name, length in bytes, SHA-256 and moment (ms since 1970)."""

    name: str
    size: int
    sha256: bytes
    created_ms: int


class Bound(Struct, frozen=True):
    """A page that stands in a pack and was read back from it; nothing refers to it yet. `sha256` is of its text."""

    id: str
    number: int
    mode: Mode
    text: str
    sha256: bytes
    pack: PackRow
    position: int


class Span(Struct, frozen=True):
    """Which characters of an entry stand where in a page's text."""

    start: int
    length: int
    page: str
    page_start: int


def insert_archive(connection: apsw.Connection, label: str, origin: str, created_ms: int) -> int:
    """The new archive's seq. `origin` is file or conversation."""
    run(connection, "INSERT INTO archives (label, created_ms, origin) VALUES (?, ?, ?)", (label, created_ms, origin))
    return connection.last_insert_rowid()


def insert_packs(connection: apsw.Connection, packs: Iterable[PackRow]) -> None:
    run_many(
        connection,
        "INSERT INTO packs (name, bytes, sha256, created_ms) VALUES (?, ?, ?, ?)",
        [(pack.name, pack.size, pack.sha256, pack.created_ms) for pack in packs],
    )


def insert_pages(connection: apsw.Connection, pages: Iterable[PageRow]) -> None:
    run_many(
        connection,
        "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (p.id, p.archive, p.number, p.mode, p.width, p.height, p.chars, bytes.fromhex(p.sha256), p.pack, p.position,
             p.text_tokens, p.vision_tokens)
            for p in pages
        ],
    )  # fmt: skip


def insert_spans(connection: apsw.Connection, entry: int, spans: Iterable[Span]) -> None:
    run_many(
        connection,
        "INSERT INTO spans (entry, start, length, page, page_start) VALUES (?, ?, ?, ?, ?)",
        [(entry, span.start, span.length, span.page, span.page_start) for span in spans],
    )


def page_row(connection: apsw.Connection, page_id: str) -> PageRow:
    """Raises NotFound."""
    rows = fetch(connection, f"{_PAGES} WHERE id = ?", (page_id,))
    if not rows:
        raise NotFound("No such page", f"There is no page {page_id} here.", "`palimpsest archive --list` shows them.")
    return _page(rows[0])


def page_rows(connection: apsw.Connection, archive: int | None = None) -> list[PageRow]:
    """All pages, or one archive's, in order."""
    where, values = ("", ()) if archive is None else (" WHERE archive = ?", (archive,))
    return [_page(row) for row in fetch(connection, f"{_PAGES}{where} ORDER BY archive, number", values)]


def archive_rows(connection: apsw.Connection) -> list[ArchiveRow]:
    """All archives, newest first."""
    rows = fetch(
        connection,
        """SELECT a.seq, a.label, a.created_ms, a.origin, (SELECT count(*) FROM pages p WHERE p.archive = a.seq)
           FROM archives a ORDER BY a.seq DESC""",
    )
    return [
        ArchiveRow(seq=seq, label=label, created=from_ms(created), origin=origin, pages=pages)
        for seq, label, created, origin, pages in rows
    ]


def label_of(connection: apsw.Connection, archive: int) -> str:
    return fetch(connection, "SELECT label FROM archives WHERE seq = ?", (archive,))[0][0]


def pack_rows(connection: apsw.Connection) -> list[PackRow]:
    rows = fetch(connection, "SELECT name, bytes, sha256, created_ms FROM packs ORDER BY created_ms, name")
    return [PackRow(*row) for row in rows]


def sha256_of_page(connection: apsw.Connection, page_id: str) -> bytes | None:
    """Of the page's text; None where there is no such page."""
    rows = fetch(connection, "SELECT sha256 FROM pages WHERE id = ?", (page_id,))
    return rows[0][0] if rows else None


def start_of(connection: apsw.Connection, page: PageRow) -> int:
    """How many characters stand before the page in its archive."""
    sql = "SELECT coalesce(sum(chars), 0) FROM pages WHERE archive = ? AND number < ?"
    return int(fetch(connection, sql, (page.archive, page.number))[0][0])


def knows_packs(connection: apsw.Connection) -> bool:
    return bool(fetch(connection, "SELECT 1 FROM packs LIMIT 1"))


def spans_of(connection: apsw.Connection, entry: int) -> list[Span]:
    """Where the entry's text stands, in its own order."""
    sql = "SELECT start, length, page, page_start FROM spans WHERE entry = ? ORDER BY start"
    return [Span(*row) for row in fetch(connection, sql, (entry,))]


def sha256_of(connection: apsw.Connection, entry: int) -> bytes:
    """Of the entry's text, as it was stored. Raises NotFound."""
    rows = fetch(connection, "SELECT sha256 FROM entries WHERE seq = ?", (entry,))
    if not rows:
        raise NotFound("No such entry", f"There is no entry {entry} here.", "It may have been deleted.")
    return rows[0][0]


def is_stored(connection: apsw.Connection, entry: int, sha256: bytes) -> bool:
    """Whether the entry has its text in the store, it is that text, and nobody is writing it still."""
    sql = """SELECT 1 FROM entries WHERE seq = ? AND body IS NOT NULL AND sha256 = ?
             AND NOT EXISTS (SELECT 1 FROM answers WHERE answers.entry = entries.seq)"""
    return bool(fetch(connection, sql, (entry, sha256)))


def let_pages_go(connection: apsw.Connection, pages: Iterable[str]) -> list[str]:
    """Deletes the rows of pages that no entry stands on, and gives the packs that nothing refers to any more."""
    run_many(
        connection,
        "DELETE FROM pages WHERE id = ? AND NOT EXISTS (SELECT 1 FROM spans WHERE spans.page = pages.id)",
        [(page,) for page in pages],
    )
    rows = fetch(connection, "DELETE FROM packs WHERE name NOT IN (SELECT pack FROM pages) RETURNING name")
    return [row[0] for row in rows]


def _page(row: Row) -> PageRow:
    values = dict(zip(PageRow.__struct_fields__, row, strict=False))
    return PageRow(**values | {"sha256": values["sha256"].hex()})
