"""Reconciles the index with the manifests: decides fact by fact which of the two is right.

A manifest has a hash of its own, a row has none: where they differ, the manifest is right. A text in the store is never
removed because of a manifest, and deleted conversations do not come back.
"""

from collections.abc import Mapping

import apsw
from msgspec import Struct

from memory.archive.packs.manifest import ForeignPack, read_parts
from memory.archive.packs.storage import Storage
from memory.archive.repair.deleted import DeletedConversations, is_deleted_conversation, without_deleted
from memory.archive.repair.diff import Fields, Key, alike, facts
from memory.archive.rows import pages
from memory.archive.rows.checks import SIDE
from memory.archive.rows.facts import facts_of
from memory.cold.encoding import digest, to_bytes, unpack
from memory.cold.sql import each, first, run
from memory.errors import Damaged, MemoryFailure


class ManifestFacts(Struct, frozen=True):
    """Facts of the manifests of these packs, the packs they are of, and packs of another workspace."""

    facts: dict[Key, Fields]
    packs: frozenset[str]
    foreign: frozenset[str]


def read_manifest_facts(
    storage: Storage, packs: list[str], known: Mapping[Key, Fields], deleted: DeletedConversations
) -> ManifestFacts:
    """Facts of the packs' manifests, without deleted conversations. Where two manifests differ, the fact that the index
    has is used."""
    names = storage.names()
    found: dict[Key, Fields] = {}
    read, foreign = set[str](), set[str]()
    for pack in packs:
        try:
            parts = read_parts(storage, pack, names)
        except ForeignPack:
            foreign.add(pack)
            continue
        except MemoryFailure:  # it is written anew, or the pixels tell
            continue
        if parts:
            read.add(pack)
        for part in parts:
            for key, fields in facts(part).items():
                if key not in found or not alike(found[key], known.get(key)):
                    found[key] = fields
    return ManifestFacts(without_deleted(found, deleted), frozenset(read), frozenset(foreign))


def index_facts(db: apsw.Connection) -> dict[Key, Fields]:
    """All facts of the index."""
    found: dict[Key, Fields] = {}
    for pack in [*(row.name for row in pages.pack_rows(db)), ""]:
        if (known := facts_of(db, pack)) is not None:
            found |= facts(known)
    return found


def missing_facts(db: apsw.Connection, sealed: Mapping[Key, Fields], known: Mapping[Key, Fields]) -> dict[Key, Fields]:
    """Facts that the rows lack or contradict.

    Without any `known` the packs are unknown ones: a page that is in another pack stays there.
    """
    found = {
        key: fields
        for key, fields in sealed.items()
        if not alike(known.get(key), fields) and not _is_index_right(db, key, fields, known, sealed)
    }
    return found | _referenced_facts(found, sealed) | _changed_conversations(sealed, known)


def delete_unlisted_rows(db: apsw.Connection, sealed: ManifestFacts, known: Mapping[Key, Fields]) -> None:
    """Deletes rows that no manifest mentions and that carry no text: the pages of an archive, the places of
    passages."""
    for key, fields in known.items():
        if key in sealed.facts or fields.get("page") is None:
            continue
        pack = known.get(("page", fields["page"]), {}).get("pack")
        if pack not in sealed.packs:
            continue
        if key[0] == "held":
            sql = "DELETE FROM archive_pages WHERE archive = ? AND number = ?"
            run(db, sql, (fields["archive"], fields["number"]))
        elif key[0] == "passage":
            sql = "DELETE FROM passages WHERE hash = ? AND part = ?"
            run(db, sql, (bytes.fromhex(fields["hash"]), fields["part"]))


def delete_dangling_rows(db: apsw.Connection, names: list[str]) -> None:
    """Deletes rows that a changed key left behind: they refer to nothing."""
    for pack in [row.name for row in pages.pack_rows(db)]:
        if pack not in names and first(db, "SELECT 1 FROM pages WHERE pack = ?", (pack,)) is None:
            run(db, "DELETE FROM packs WHERE name = ?", (pack,))
    run(
        db,
        """DELETE FROM pages WHERE id NOT IN (SELECT page FROM spans) AND id NOT IN (SELECT page FROM archive_pages)
           AND (pack, position) IN (SELECT pack, position FROM pages GROUP BY pack, position HAVING count(*) > 1)""",
    )
    run(
        db,
        """DELETE FROM archives WHERE seq NOT IN (SELECT archive FROM archive_pages)
           AND seq NOT IN (SELECT archive FROM pages) AND EXISTS (SELECT 1 FROM archives other
           WHERE other.seq <> archives.seq AND other.label = archives.label
           AND other.created_ms = archives.created_ms)""",
    )
    for table, column, other in (
        ("spans", "entry", "entries"),
        ("archive_tags", "archive", "archives"),
        ("archive_pages", "archive", "archives"),
        ("terms", "entry", "entries"),
        ("seals", "entry", "entries"),
    ):
        run(db, f"DELETE FROM {table} WHERE {column} NOT IN (SELECT seq FROM {other})")
    for table in ("archive_pages", "passages"):
        run(db, f"DELETE FROM {table} WHERE page NOT IN (SELECT id FROM pages)")
    run(db, f"UPDATE pages SET width = {SIDE}, height = {SIDE} WHERE width <> {SIDE} OR height <> {SIDE}")
    run(db, "DELETE FROM leaving WHERE name IN (SELECT name FROM packs)")
    run(db, "UPDATE entries SET packed = 0 WHERE body IS NULL AND packed <> 0")


def normalise_flags(db: apsw.Connection) -> None:
    """Normalises flags above 1 to 1; where the flag was 0, the manifest has corrected it by now."""
    for column in ("pinned", "bare"):
        run(db, f"UPDATE archives SET {column} = 1 WHERE {column} NOT IN (0, 1)")


def resolve_double_storage(db: apsw.Connection) -> None:
    """Resolves entries with both stored text and spans: the place that has the right text stays."""
    sql = """SELECT seq, body, packed, chars, sha256 FROM entries
             WHERE body IS NOT NULL AND seq IN (SELECT entry FROM spans)"""
    for seq, body, packed, chars, sha256 in list(each(db, sql)):
        if body_matches(body, packed, chars, sha256):
            run(db, "DELETE FROM spans WHERE entry = ?", (seq,))
        else:
            run(db, "UPDATE entries SET body = NULL, packed = 0 WHERE seq = ?", (seq,))


def _is_index_right(
    db: apsw.Connection, key: Key, fields: Fields, known: Mapping[Key, Fields], sealed: Mapping[Key, Fields]
) -> bool:
    """Whether the index is right to lack this fact."""
    match key[0]:
        case "entry":
            return _is_stored_or_deleted(db, fields)
        case "page" if not known:
            row = first(db, "SELECT pack FROM pages WHERE id = ?", (key[1],))
            return row is not None and row[0] != fields["pack"] and _has_pack(db, row[0])
        case "conversation":
            return True  # put where an entry or an archive that is put names it
        case "archive" if key in known and fields["conversation"]:
            return is_deleted_conversation(db, fields["conversation"], sealed)
        case _:
            return False


def _referenced_facts(found: Mapping[Key, Fields], sealed: Mapping[Key, Fields]) -> dict[Key, Fields]:
    """The conversations, archives and packs that the facts refer to: their numbers may have changed."""
    keys: set[Key] = set()
    for key, fields in found.items():
        if key[0] == "entry" or key[0] == "archive":
            keys.add(("conversation", str(fields["conversation"])))
        if key[0] in ("page", "held"):
            keys.add(("archive", str(fields["archive"])))
        if key[0] == "page":
            keys.add(("pack", fields["pack"]))
    return {key: sealed[key] for key in keys if key in sealed}


def _changed_conversations(sealed: Mapping[Key, Fields], known: Mapping[Key, Fields]) -> dict[Key, Fields]:
    return {
        key: fields
        for key, fields in sealed.items()
        if key[0] == "conversation" and key in known and not alike(known[key], fields)
    }


def _is_stored_or_deleted(db: apsw.Connection, fields: Fields) -> bool:
    if is_stored(db, fields):
        return True
    there = first(db, "SELECT 1 FROM entries WHERE seq = ? OR id = ?", (fields["seq"], fields["id"]))
    deleted = first(db, "SELECT 1 FROM changes WHERE op = 'remove' AND entry = ?", (fields["seq"],))
    return there is None and deleted is not None


def is_stored(db: apsw.Connection, entry: Fields) -> bool:
    """Whether the store has the entry's text itself, whole: that of the manifest, or another one since a forgetting."""
    sha256 = bytes.fromhex(entry["sha256"])
    sql = """SELECT body, packed, chars FROM entries WHERE body IS NOT NULL
             AND (seq = ? AND (id = ? OR sha256 = ?) OR id = ? AND sha256 = ?)"""
    rows = list(each(db, sql, (entry["seq"], entry["id"], sha256, entry["id"], sha256)))
    return any(body_matches(body, packed, chars, sha256) for body, packed, chars in rows) or has_other_text(db, entry)


def has_other_text(db: apsw.Connection, entry: Fields) -> bool:
    """Whether the store has another text of this entry, whole: only a forgetting changes one."""
    sql = """SELECT body, packed, chars, sha256 FROM entries
             WHERE id = ? AND seq = ? AND sha256 <> ? AND body IS NOT NULL"""
    rows = list(each(db, sql, (entry["id"], entry["seq"], bytes.fromhex(entry["sha256"]))))
    return any(body_matches(*row) for row in rows)


def body_matches(body: bytes, packed: int, chars: int, sha256: bytes) -> bool:
    """Whether a stored body is the text with that hash."""
    try:
        return digest(to_bytes(unpack(body, packed, chars))) == sha256
    except Damaged:
        return False


def _has_pack(db: apsw.Connection, name: str) -> bool:
    return first(db, "SELECT 1 FROM packs WHERE name = ?", (name,)) is not None
