"""Writes facts of manifests (or pixels) back into rows, where the index lacks or contradicts them.

Rows keep the numbers of the facts. Where another row has the number, they get a new one, and all references follow.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import apsw
import msgspec

from memory.archive.repair.diff import Fields, Key
from memory.cold.changes import note_change, put_analysed
from memory.cold.encoding import to_bytes
from memory.cold.integrity.row_hashes import seal_rows
from memory.cold.sql import fetch, first, run, run_many
from memory.pages.render.modes import mode_named
from memory.records import AnalysedTerms

Facts = Mapping[Key, Fields]


def write_facts(db: apsw.Connection, facts: Facts, terms: Mapping[int, AnalysedTerms]) -> None:
    """Writes the facts, within the caller's transaction. `terms` are of the entries that lack theirs, by their number.

    Other rows stay unchanged.
    """
    run(db, "PRAGMA defer_foreign_keys = ON")
    numbers = _RowNumbers(db)
    for name in ("conversation", "pack", "archive", "page", "held", "passage"):
        write = _PUT[name]
        for key, fields in _facts_of_kind(facts, name):
            write(db, key, fields, numbers)
    entries = list(_facts_of_kind(facts, "entry"))
    for key, fields in entries:
        _entry(db, key, fields, numbers)
    added = [numbers.entry(fields) for _, fields in entries]
    for (_, fields), seq in zip(entries, added, strict=True):
        _parent(db, fields, seq, numbers)
        if (entry_terms := terms.get(fields["seq"])) is not None:
            put_analysed(db, seq, entry_terms)
    seal_rows(db, added)
    note_change(db, "change", [seq for seq in added if seq not in numbers.new_entries])
    note_change(db, "add", [seq for seq in added if seq in numbers.new_entries])
    _set_missing_leaves(db, {numbers.conversation(fields["conversation"]) for _, fields in entries})


def _facts_of_kind(facts: Facts, kind: str) -> Iterable[tuple[Key, Fields]]:
    matches = [(key, fields) for key, fields in facts.items() if key[0] == kind]
    return sorted(matches, key=lambda fact: abs(fact[1].get("seq", 0)))


class _RowNumbers:
    """Maps numbers of facts to numbers of rows, existing or new."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._conversations: dict[int, int] = {}
        self._entries: dict[int, int] = {}
        self._archives: dict[int, int] = {}
        self.new_entries: set[int] = set()  # entries that were not there

    def conversation(self, seq: int) -> int:
        return self._conversations.get(seq, seq)

    def archive(self, seq: int) -> int:
        return self._archives.get(seq, seq)

    def map_conversation(self, fields: Fields) -> int:
        same = "SELECT seq FROM conversations WHERE seq = ? AND (id = ? OR created_ms = ?)"
        named = "SELECT seq FROM conversations WHERE source = ? AND id = ?"
        children = "SELECT 1 FROM entries WHERE conversation = ? LIMIT 1"
        seq = self._row_number(
            "conversations",
            fields["seq"],
            children,
            [(same, (fields["seq"], fields["id"], fields["created_ms"])), (named, (fields["source"], fields["id"]))],
        )
        self._conversations[fields["seq"]] = seq
        return seq

    def map_archive(self, fields: Fields) -> int:
        same = "SELECT seq FROM archives WHERE seq = ? AND (label = ? OR created_ms = ?)"
        alike = "SELECT seq FROM archives WHERE label = ? AND created_ms = ? AND origin = ?"
        children = "SELECT 1 FROM pages WHERE archive = ? LIMIT 1"
        seq = self._row_number(
            "archives",
            fields["seq"],
            children,
            [
                (same, (fields["seq"], fields["label"], fields["created_ms"])),
                (alike, (fields["label"], fields["created_ms"], fields["origin"])),
            ],
        )
        self._archives[fields["seq"]] = seq
        return seq

    def entry(self, fields: Fields) -> int:
        if fields["seq"] in self._entries:
            return self._entries[fields["seq"]]
        conversation = self.conversation(fields["conversation"])
        same = "SELECT seq FROM entries WHERE seq = ? AND (id = ? OR sha256 = ?)"
        named = "SELECT seq FROM entries WHERE conversation = ? AND id = ?"
        children = "SELECT 1 FROM spans WHERE entry = ? LIMIT 1"
        seq = self._row_number(
            "entries",
            fields["seq"],
            children,
            [
                (same, (fields["seq"], fields["id"], bytes.fromhex(fields["sha256"]))),
                (named, (conversation, fields["id"])),
            ],
        )
        if first(self._db, "SELECT 1 FROM entries WHERE seq = ?", (seq,)) is None:
            self.new_entries.add(seq)
        self._entries[fields["seq"]] = seq
        return seq

    def _row_number(self, table: str, seq: int, children: str, lookups: list[tuple[str, tuple[Any, ...]]]) -> int:
        """The row that is meant: itself, or one of that name under another number; else a number for a new one."""
        taken = seq <= 0 or first(self._db, f"SELECT 1 FROM {table} WHERE seq = ?", (seq,)) is not None
        for sql, values in lookups:
            if (row := first(self._db, sql, values)) is None:
                continue
            existing = int(row[0])
            if (
                existing != seq and not taken and first(self._db, children, (seq,))
            ):  # it is this row's number that is off
                run(self._db, f"UPDATE {table} SET seq = ? WHERE seq = ?", (seq, existing))
                return seq
            return existing
        if not taken:
            return seq
        newest = first(self._db, "SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
        highest = first(self._db, f"SELECT coalesce(max(seq), 0) FROM {table}") or (0,)
        return max(int(highest[0]), int(newest[0]) if newest else 0, *self._assigned(table)) + 1

    def _assigned(self, table: str) -> list[int]:
        maps = {"conversations": self._conversations, "entries": self._entries, "archives": self._archives}
        return [0, *maps[table].values()]


def _conversation(db: apsw.Connection, _: Key, fields: Fields, numbers: _RowNumbers) -> None:
    seq, created_ms = numbers.map_conversation(fields), fields["created_ms"]
    run(
        db,
        """INSERT INTO conversations (seq, source, id, title, created_ms, updated_ms, kind) VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (seq) DO UPDATE SET source = excluded.source, id = excluded.id,
           created_ms = excluded.created_ms, kind = excluded.kind""",
        (seq, fields["source"], fields["id"], to_bytes(fields["title"]), created_ms, created_ms, fields["kind"]),
    )


def _pack(db: apsw.Connection, key: Key, fields: Fields, _: _RowNumbers) -> None:
    run(
        db,
        """INSERT INTO packs (name, bytes, sha256, created_ms, kind) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (name) DO UPDATE SET bytes = excluded.bytes, sha256 = excluded.sha256,
           created_ms = excluded.created_ms, kind = excluded.kind""",
        (key[1], fields["size"], bytes.fromhex(fields["sha256"]), fields["created_ms"], fields["kind"]),
    )


def _archive(db: apsw.Connection, _: Key, fields: Fields, numbers: _RowNumbers) -> None:
    seq = numbers.map_archive(fields)
    conversation = numbers.conversation(fields["conversation"])
    if first(db, "SELECT 1 FROM conversations WHERE seq = ?", (conversation,)) is None:
        conversation = 0
    run(
        db,
        """INSERT INTO archives (seq, label, created_ms, origin, pinned, bare, conversation)
           VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (seq) DO UPDATE SET label = excluded.label, created_ms = excluded.created_ms,
           origin = excluded.origin, pinned = excluded.pinned, bare = excluded.bare,
           conversation = excluded.conversation""",
        (
            seq,
            fields["label"],
            fields["created_ms"],
            fields["origin"],
            int(fields["pinned"]),
            int(fields["bare"]),
            conversation or None,
        ),
    )
    run(db, "DELETE FROM archive_tags WHERE archive = ?", (seq,))
    tags = [(seq, tag) for tag in fields["tags"]]
    run_many(db, "INSERT INTO archive_tags (archive, tag) VALUES (?, ?)", tags)


def _page(db: apsw.Connection, key: Key, fields: Fields, numbers: _RowNumbers) -> None:
    side = mode_named(fields["mode"]).side
    run(
        db,
        """INSERT INTO pages (id, archive, number, mode, width, height, chars, sha256, pack, position, text_tokens,
           vision_tokens, cell, factsheet) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (id) DO UPDATE SET archive = excluded.archive, number = excluded.number, mode = excluded.mode,
           width = excluded.width, height = excluded.height, chars = excluded.chars, sha256 = excluded.sha256,
           pack = excluded.pack, position = excluded.position, text_tokens = excluded.text_tokens,
           vision_tokens = excluded.vision_tokens, cell = excluded.cell, factsheet = excluded.factsheet""",
        (
            key[1],
            numbers.archive(fields["archive"]),
            fields["number"],
            fields["mode"],
            side,
            side,
            fields["chars"],
            bytes.fromhex(fields["sha256"]),
            fields["pack"],
            fields["position"],
            fields["text_tokens"],
            fields["vision_tokens"],
            fields["cell"],
            msgspec.json.encode(fields["factsheet"]).decode(),
        ),
    )


def _held(db: apsw.Connection, _: Key, fields: Fields, numbers: _RowNumbers) -> None:
    values = (numbers.archive(fields["archive"]), fields["number"], fields["page"])
    run(
        db,
        """INSERT INTO archive_pages (archive, number, page) VALUES (?, ?, ?)
           ON CONFLICT (archive, number) DO UPDATE SET page = excluded.page""",
        values,
    )


def _passage(db: apsw.Connection, _: Key, fields: Fields, __: _RowNumbers) -> None:
    run(
        db,
        """INSERT INTO passages (hash, part, page, page_start, length) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (hash, part) DO UPDATE SET page = excluded.page, page_start = excluded.page_start,
           length = excluded.length""",
        (bytes.fromhex(fields["hash"]), fields["part"], fields["page"], fields["page_start"], fields["length"]),
    )


def _entry(db: apsw.Connection, _: Key, fields: Fields, numbers: _RowNumbers) -> None:
    """Writes the entry with its spans. The recorded context stays where it matches the fact's hash."""
    seq = numbers.entry(fields)
    meta = fields["meta"].encode("ascii") or None
    run(
        db,
        """INSERT INTO entries (seq, conversation, id, kind, role, speaker, time_ms, body, packed, chars, sha256, meta,
           complete) VALUES (?, ?, ?, ?, ?, ?, ?, NULL, 0, ?, ?, ?, ?)
           ON CONFLICT (seq) DO UPDATE SET conversation = excluded.conversation, id = excluded.id,
           kind = excluded.kind, role = excluded.role, speaker = excluded.speaker, time_ms = excluded.time_ms,
           body = NULL, packed = 0, chars = excluded.chars, sha256 = excluded.sha256, meta = excluded.meta,
           complete = excluded.complete""",
        (
            seq,
            numbers.conversation(fields["conversation"]),
            fields["id"],
            fields["kind"],
            fields["role"],
            fields["speaker"],
            fields["time_ms"],
            fields["chars"],
            bytes.fromhex(fields["sha256"]),
            meta,
            int(fields["complete"]),
        ),
    )
    sent = first(db, "SELECT sent FROM entries WHERE seq = ?", (seq,))
    if sent and sent[0] and hashlib.sha256(sent[0]).hexdigest() != fields["sent"]:
        run(db, "UPDATE entries SET sent = NULL WHERE seq = ?", (seq,))
    run(db, "DELETE FROM spans WHERE entry = ?", (seq,))
    sql = "INSERT INTO spans (entry, start, length, page, page_start) VALUES (?, ?, ?, ?, ?)"
    run_many(db, sql, [(seq, *span) for span in fields["spans"]])


def _parent(db: apsw.Connection, fields: Fields, seq: int, numbers: _RowNumbers) -> None:
    """The parent by its id; where it is missing, the entry before in the conversation."""
    conversation, parent = numbers.conversation(fields["conversation"]), None
    if fields["parent"]:
        by_id = "SELECT seq FROM entries WHERE conversation = ? AND id = ?"
        before = "SELECT max(seq) FROM entries WHERE conversation = ? AND seq < ?"
        rows = fetch(db, by_id, (conversation, fields["parent"])) or fetch(db, before, (conversation, seq))
        parent = rows[0][0]
    run(db, "UPDATE entries SET parent = ? WHERE seq = ?", (parent, seq))


def _set_missing_leaves(db: apsw.Connection, conversations: Iterable[int]) -> None:
    """Sets the leaf of a conversation without one to its newest entry."""
    for seq in conversations:
        run(
            db,
            """UPDATE conversations SET
               leaf = coalesce(leaf, (SELECT max(seq) FROM entries WHERE conversation = conversations.seq)),
               updated_ms = max(updated_ms,
                   coalesce((SELECT max(time_ms) FROM entries WHERE conversation = conversations.seq), 0))
               WHERE seq = ?""",
            (seq,),
        )


_PUT: dict[str, Callable[[apsw.Connection, Key, Fields, _RowNumbers], None]] = {
    "conversation": _conversation,
    "pack": _pack,
    "archive": _archive,
    "page": _page,
    "held": _held,
    "passage": _passage,
}
