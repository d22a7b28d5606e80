"""Queries of the knowledge tables, within a transaction of the caller."""

from collections.abc import Iterable, Mapping, Sequence

import apsw

from foundation.clock import from_ms, to_ms
from foundation.names import PICTURE
from foundation.text.similarity import Sketch, pack_sketch, unpack_sketch
from memory.cold.integrity.row_seals import PLACES
from memory.cold.sql import SqlRow, fetch, first, run, run_many
from memory.knowledge.readers.document import DocumentLocation
from memory.knowledge.records import DocumentView, KnowledgeRecord
from memory.names import vetted

_COLUMNS = """seq, CAST(id AS BLOB), CAST(source AS BLOB), CAST(name AS BLOB), CAST(root AS BLOB),
              CAST(kind AS BLOB), CAST(category AS BLOB), bytes, mtime_ns, sha256, text_sha256, chars, added_ms,
              importance, accesses, accessed_ms, conversation, missing_ms, replaced_ms"""
_KNOWN = f"SELECT {_COLUMNS} FROM knowledge"
_CURRENT = f"{_KNOWN} WHERE replaced_ms IS NULL"


def insert(db: apsw.Connection, known: KnowledgeRecord, sketch: Sketch) -> int:
    """Inserts a memory; returns its seq."""
    run(
        db,
        """INSERT INTO knowledge (id, source, name, root, kind, category, bytes, mtime_ns, sha256, text_sha256, chars,
           added_ms, importance, accesses, accessed_ms, conversation, sketch)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            known.id,
            known.source,
            known.name,
            known.root,
            known.kind,
            known.category,
            known.bytes,
            known.mtime_ns,
            bytes.fromhex(known.sha256),
            bytes.fromhex(known.text_sha256),
            known.chars,
            to_ms(known.added),
            known.importance,
            known.accesses,
            to_ms(known.accessed) if known.accessed else None,
            known.conversation,
            pack_sketch(sketch),
        ),
    )
    return db.last_insert_rowid()


def insert_places(db: apsw.Connection, seq: int, places: Iterable[DocumentLocation]) -> None:
    run_many(
        db,
        "INSERT OR REPLACE INTO knowledge_places (memory, start, place, read_by) VALUES (?, ?, ?, ?)",
        [(seq, place.start, place.label, place.read_by) for place in places],
    )


def insert_views(db: apsw.Connection, seq: int, views: Iterable[DocumentView]) -> None:
    run_many(
        db,
        "INSERT INTO knowledge_views (memory, number, start, length, picture, mode) VALUES (?, ?, ?, ?, ?, ?)",
        [(seq, view.number, view.start, view.length, view.picture, view.mode) for view in views],
    )


def current(db: apsw.Connection) -> list[KnowledgeRecord]:
    """Every current memory, by name; replaced versions are left out."""
    return [_record(row) for row in fetch(db, f"{_CURRENT} ORDER BY name, source")]


def at_source(db: apsw.Connection, source: str) -> KnowledgeRecord | None:
    """The memory of the file at that path."""
    row = first(db, f"{_CURRENT} AND source = ?", (source,))
    return _record(row) if row else None


def by_conversation(db: apsw.Connection, conversations: Sequence[str]) -> dict[str, KnowledgeRecord]:
    """Current memories by the id of the conversation that holds their pages."""
    found: dict[str, KnowledgeRecord] = {}
    for ref in dict.fromkeys(conversations):
        row = first(db, f"{_CURRENT} AND conversation IN (SELECT seq FROM conversations WHERE id = ?)", (ref,))
        if row:
            found[ref] = _record(row)
    return found


def past_keeping(db: apsw.Connection) -> list[KnowledgeRecord]:
    """Replaced versions, and memories of missing files."""
    return [_record(row) for row in fetch(db, f"{_KNOWN} WHERE replaced_ms IS NOT NULL OR missing_ms IS NOT NULL")]


def versions(db: apsw.Connection, source: str) -> list[KnowledgeRecord]:
    """All stored versions of the file at that path, the newest first."""
    return [_record(row) for row in fetch(db, f"{_KNOWN} WHERE source = ? ORDER BY seq DESC", (source,))]


def counts(db: apsw.Connection) -> dict[int, dict[str, int]]:
    """The number of views by mode, for each memory."""
    found: dict[int, dict[str, int]] = {}
    for seq, mode, count in fetch(db, "SELECT memory, mode, count(*) FROM knowledge_views GROUP BY memory, mode"):
        found.setdefault(seq, {})[mode] = count
    return found


def sketches(db: apsw.Connection, seqs: Sequence[int]) -> dict[int, Sketch]:
    wanted = set(seqs)
    rows = fetch(db, "SELECT seq, sketch FROM knowledge WHERE replaced_ms IS NULL")
    return {seq: unpack_sketch(raw) for seq, raw in rows if seq in wanted}


def view_at(db: apsw.Connection, seq: int, offset: int) -> DocumentView | None:
    """The view of that character of the file's text, a picture before a page."""
    row = first(
        db,
        """SELECT number, start, length, picture, mode FROM knowledge_views WHERE memory = ? AND start <= ?
           AND start + max(length, 1) > ? ORDER BY picture = '', start DESC LIMIT 1""",
        (seq, offset, offset),
    )
    return _view(row) if row else None


def views_of(db: apsw.Connection, seq: int) -> list[DocumentView]:
    sql = "SELECT number, start, length, picture, mode FROM knowledge_views WHERE memory = ? ORDER BY number"
    return [_view(row) for row in fetch(db, sql, (seq,))]


def places_of(db: apsw.Connection, seq: int) -> list[DocumentLocation]:
    sql = f"SELECT {PLACES.listed} FROM knowledge_places WHERE memory = ? ORDER BY start"
    return [
        DocumentLocation(start, _name(place), _name(read_by)) for _, start, place, read_by in fetch(db, sql, (seq,))
    ]


def replace(db: apsw.Connection, seq: int, ms: int) -> None:
    """Marks a version as replaced."""
    run(db, "UPDATE knowledge SET replaced_ms = ? WHERE seq = ?", (ms, seq))


def touch(db: apsw.Connection, seq: int, mtime_ns: int, name: str, root: str) -> None:
    """Updates the time of an unchanged file. A file that was named by itself joins a folder that is added."""
    run(
        db,
        "UPDATE knowledge SET mtime_ns = ?1, missing_ms = NULL, name = iif(root = '' AND ?3 != '', ?2, name), "
        "root = iif(root = '', ?3, root) WHERE seq = ?4",
        (mtime_ns, name, root, seq),
    )


def set_missing(db: apsw.Connection, seqs: Iterable[int], ms: int | None) -> None:
    run_many(db, "UPDATE knowledge SET missing_ms = ? WHERE seq = ?", [(ms, seq) for seq in seqs])


def set_importance(db: apsw.Connection, values: Mapping[int, float]) -> None:
    run_many(db, "UPDATE knowledge SET importance = ? WHERE seq = ?", [(value, seq) for seq, value in values.items()])


def set_category(db: apsw.Connection, seqs: Iterable[int], category: str) -> None:
    run_many(db, "UPDATE knowledge SET category = ? WHERE seq = ?", [(category, seq) for seq in seqs])


def count_use(db: apsw.Connection, seqs: Iterable[int], ms: int) -> None:
    """Adds one use to each."""
    sql = "UPDATE knowledge SET accesses = accesses + 1, accessed_ms = ? WHERE seq = ?"
    run_many(db, sql, [(ms, seq) for seq in seqs])


def keep_pattern(db: apsw.Connection, pattern: str, importance: float, ms: int) -> None:
    """Stores a pattern. The last one set takes precedence, also for files that are added later."""
    run(
        db,
        "INSERT OR REPLACE INTO knowledge_patterns (pattern, importance, set_ms) VALUES (?, ?, ?)",
        (pattern, importance, ms),
    )


def patterns(db: apsw.Connection) -> list[tuple[str, float]]:
    """The patterns in the order in which they were set."""
    rows = fetch(db, "SELECT pattern, importance FROM knowledge_patterns ORDER BY set_ms, pattern")
    return [(row[0], row[1]) for row in rows]


def pictures_only_of(db: apsw.Connection, seq: int) -> list[str]:
    """The stored pictures that no other memory has."""
    sql = """SELECT DISTINCT picture FROM knowledge_views v WHERE memory = ?1 AND picture != '' AND NOT EXISTS
             (SELECT 1 FROM knowledge_views o WHERE o.picture = v.picture AND o.memory != ?1)"""
    return [_picture(row[0]) for row in fetch(db, sql, (seq,))]


def pictures_of_conversation(db: apsw.Connection, conversation: int) -> list[str]:
    """The stored pictures to delete with it: of the memory whose pages it holds, and of no other."""
    of_it = fetch(db, "SELECT seq FROM knowledge WHERE conversation = ?", (conversation,))
    return [picture for row in of_it for picture in pictures_only_of(db, row[0])]


def pictures(db: apsw.Connection) -> set[str]:
    """All stored pictures of memories."""
    return {_picture(row[0]) for row in fetch(db, "SELECT DISTINCT picture FROM knowledge_views WHERE picture != ''")}


def _picture(name: str) -> str:
    return vetted(PICTURE, name, "table knowledge_views")


def _view(row: SqlRow) -> DocumentView:
    if row[3]:
        _picture(row[3])
    return DocumentView(*row)


def delete(db: apsw.Connection, seq: int) -> None:
    run(db, "DELETE FROM knowledge WHERE seq = ?", (seq,))


def _record(row: SqlRow) -> KnowledgeRecord:
    (
        seq,
        id_,
        source,
        name,
        root,
        kind,
        category,
        size,
        mtime_ns,
        sha256,
        text_sha256,
        chars,
        added,
        importance,
        accesses,
        accessed,
        conversation,
        missing,
        replaced,
    ) = row
    return KnowledgeRecord(
        seq=seq,
        id=_name(id_),
        source=_name(source),
        name=_name(name),
        root=_name(root),
        kind=_name(kind),
        category=_name(category),
        bytes=size,
        mtime_ns=mtime_ns,
        sha256=sha256.hex(),
        text_sha256=text_sha256.hex(),
        chars=chars,
        added=from_ms(added),
        importance=importance,
        accesses=accesses,
        accessed=from_ms(accessed) if accessed is not None else None,
        conversation=conversation,
        missing=from_ms(missing) if missing is not None else None,
        replaced=from_ms(replaced) if replaced is not None else None,
    )


def _name(raw: bytes) -> str:
    """A TEXT column as it is: a flipped bit may have made it invalid UTF-8."""
    return raw.decode("utf-8", "replace")
