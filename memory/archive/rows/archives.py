"""Archives: queries of their rows, labels, tags and pins. Within a transaction that the caller holds."""

from collections.abc import Sequence

import apsw

from foundation.clock import from_ms
from foundation.privacy import Cleared
from foundation.program import PROGRAM
from memory.cold.encoding import plain
from memory.cold.integrity.row_seals import ARCHIVES
from memory.cold.sql import SqlRow, batches, each, fetch, first, marks, run, run_many
from memory.errors import NotFound
from memory.pages.types import ArchiveRow

_ARCHIVES = """SELECT a.seq, a.label, a.created_ms, a.origin, a.pinned, a.conversation, count(p.id),
    coalesce(sum(p.text_tokens), 0), coalesce(sum(p.vision_tokens), 0)
    FROM archives a LEFT JOIN archive_pages h ON h.archive = a.seq LEFT JOIN pages p ON p.id = h.page"""


def insert_archive(
    db: apsw.Connection,
    label: str,
    origin: str,
    created_ms: int,
    *,
    bare: bool = False,
    conversation: int | None = None,
) -> int:
    """Adds an archive; gives its seq. `origin` is file, conversation or knowledge; `bare` where it has no entries."""
    run(
        db,
        "INSERT INTO archives (label, created_ms, origin, bare, conversation) VALUES (?, ?, ?, ?, ?)",
        (label, created_ms, origin, int(bare), conversation),
    )
    return db.last_insert_rowid()


def hold_pages(db: apsw.Connection, archive: int, pages: Sequence[str]) -> None:
    """Assigns the archive's pages, in their order, numbered from 1."""
    run_many(
        db,
        "INSERT INTO archive_pages (archive, number, page) VALUES (?, ?, ?)",
        [(archive, number, page) for number, page in enumerate(pages, 1)],
    )


def archive_rows(db: apsw.Connection) -> list[ArchiveRow]:
    """All archives, newest first."""
    rows = fetch(db, f"{_ARCHIVES} GROUP BY a.seq ORDER BY a.seq DESC")
    return _with_tags(db, rows)


def find_archive(db: apsw.Connection, ref: str | int) -> ArchiveRow:
    """By its number, or its label: of several with that label the newest. Raises NotFound."""
    wheres: list[tuple[str, object]] = [("a.label = ?", plain(str(ref)))]
    number = str(ref).removeprefix("#")
    if number.isdecimal() and len(number) < 19:
        wheres.append(("a.seq = ?", int(number)))
    for where, value in reversed(wheres) if isinstance(ref, int) or str(ref).startswith("#") else wheres:
        rows = fetch(db, f"{_ARCHIVES} WHERE {where} GROUP BY a.seq ORDER BY a.seq DESC LIMIT 1", (value,))
        if rows:
            return _with_tags(db, rows)[0]
    raise NotFound("No such archive", f"There is no archive “{ref}”.", f"`{PROGRAM} archive --list` shows them.")


def label_of(db: apsw.Connection, archive: int) -> str:
    return fetch(db, "SELECT label FROM archives WHERE seq = ?", (archive,))[0][0]


def label_doubts(db: apsw.Connection, archive: int) -> tuple[str, ...]:
    """Why a citation with the archive's label is not exact, in sentences; none where its row is what was stored."""
    row = first(db, f"SELECT {ARCHIVES.listed}, seal FROM archives WHERE seq = ?", (archive,))
    sound = row is None or ARCHIVES.seal(row[:-1]) == row[-1]
    return () if sound else ("Its archive's row is damaged: the label may be wrong.",)


def page_label_doubts(db: apsw.Connection, page: str) -> tuple[str, ...]:
    """The same for the archive that the page was drawn for."""
    row = first(db, "SELECT archive FROM pages WHERE id = ?", (page,))
    return label_doubts(db, row[0]) if row else ()


def packs_of_archive(db: apsw.Connection, archive: int) -> set[str]:
    """Packs of its pages, and "": an archive without pages is in the manifest of no pack."""
    sql = "SELECT DISTINCT p.pack FROM archive_pages h JOIN pages p ON p.id = h.page WHERE h.archive = ?"
    drawn_for_it = "SELECT DISTINCT pack FROM pages WHERE archive = ?"
    return {row[0] for row in [*fetch(db, sql, (archive,)), *fetch(db, drawn_for_it, (archive,))]} | {""}


def tag(db: apsw.Connection, archive: int, name: Cleared) -> None:
    run(db, "INSERT OR IGNORE INTO archive_tags (archive, tag) VALUES (?, ?)", (archive, plain(name)))


def untag(db: apsw.Connection, archive: int, name: str) -> bool:
    """Removes a tag; whether the archive had it."""
    run(db, "DELETE FROM archive_tags WHERE archive = ? AND tag = ?", (archive, plain(name)))
    return db.changes() > 0


def pin(db: apsw.Connection, archive: int, pinned: bool) -> None:
    run(db, "UPDATE archives SET pinned = ? WHERE seq = ?", (int(pinned), archive))


def relabel(db: apsw.Connection, archive: int, label: Cleared) -> None:
    run(db, "UPDATE archives SET label = ? WHERE seq = ?", (plain(label), archive))


def orphans(db: apsw.Connection) -> tuple[list[int], list[str]]:
    """Archives whose conversation is deleted, and the pages that were drawn for them or that they hold."""
    deleted = "SELECT seq FROM archives WHERE conversation IS NULL AND NOT bare"
    sql = f"""SELECT id FROM pages WHERE archive IN ({deleted})
              UNION SELECT page FROM archive_pages WHERE archive IN ({deleted})"""
    return [row[0] for row in fetch(db, deleted)], [row[0] for row in each(db, sql)]


def reassign_pages(db: apsw.Connection, pages: Sequence[str]) -> None:
    """Moves pages whose archive is deleted to another archive that holds them too."""
    run_many(
        db,
        """UPDATE pages SET archive = living.seq FROM (
             SELECT a.seq FROM archive_pages h JOIN archives a ON a.seq = h.archive
             WHERE h.page = ? AND (a.conversation IS NOT NULL OR a.bare) ORDER BY a.seq LIMIT 1) living
           WHERE id = ? AND archive IN (SELECT seq FROM archives WHERE conversation IS NULL AND NOT bare)""",
        [(page, page) for page in pages],
    )


def entries_of_deleted_archives(db: apsw.Connection, pages: Sequence[str]) -> list[int]:
    """Entries on these pages of deleted archives: their text must be restored elsewhere."""
    entries: set[int] = set()
    for batch in batches(pages):
        sql = f"""SELECT DISTINCT s.entry FROM spans s JOIN pages p ON p.id = s.page
                  JOIN archives a ON a.seq = p.archive
                  WHERE p.id IN ({marks(batch)}) AND a.conversation IS NULL AND NOT a.bare"""
        entries.update(row[0] for row in each(db, sql, batch))
    return sorted(entries)


def unreferenced_pages(db: apsw.Connection, pages: Sequence[str]) -> list[str]:
    """Those of the pages without entries whose archive is deleted."""
    page_ids: list[str] = []
    for batch in batches(pages):
        sql = f"""SELECT p.id FROM pages p JOIN archives a ON a.seq = p.archive WHERE p.id IN ({marks(batch)})
                  AND a.conversation IS NULL AND NOT a.bare
                  AND NOT EXISTS (SELECT 1 FROM spans WHERE spans.page = p.id)"""
        page_ids += [row[0] for row in each(db, sql, batch)]
    return page_ids


def delete_empty_archives(db: apsw.Connection) -> None:
    """Deletes archives without a conversation and without pages."""
    run(
        db,
        """DELETE FROM archives WHERE conversation IS NULL AND NOT bare
           AND NOT EXISTS (SELECT 1 FROM pages WHERE pages.archive = archives.seq)""",
    )


def is_pinned(db: apsw.Connection, conversation: int) -> bool:
    """Whether an archive of this conversation's text is pinned."""
    sql = "SELECT 1 FROM archives WHERE conversation = ? AND pinned LIMIT 1"
    return bool(fetch(db, sql, (conversation,)))


def _with_tags(db: apsw.Connection, rows: list[SqlRow]) -> list[ArchiveRow]:
    tags: dict[int, list[str]] = {}
    for batch in batches([row[0] for row in rows]):
        sql = f"SELECT archive, tag FROM archive_tags WHERE archive IN ({marks(batch)}) ORDER BY tag"
        for archive, name in each(db, sql, batch):
            tags.setdefault(archive, []).append(name)
    return [
        ArchiveRow(
            seq=seq,
            label=label,
            created=from_ms(created_ms),
            origin=origin,
            pages=pages,
            text_tokens=text_tokens,
            vision_tokens=vision_tokens,
            tags=tuple(tags.get(seq, ())),
            pinned=bool(pinned),
            conversation=conversation,
        )
        for seq, label, created_ms, origin, pinned, conversation, pages, text_tokens, vision_tokens in rows
    ]
