"""Facts of a pack for its manifest: read from the rows, within the caller's transaction.

An entry's fact is in the manifest of every pack that has one of its spans.

Packs of a version without manifests get theirs from their rows when the store is first opened.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import apsw
from msgspec import MsgspecError

from memory.archive.packs.manifest import (
    ArchiveFact,
    ConversationFact,
    EntryFact,
    HeldFact,
    PackManifest,
    PageFact,
    PassageFact,
    delete_manifest,
    manifest_name,
    parts_of,
    write_manifest,
)
from memory.archive.packs.storage import Storage
from memory.archive.packs.tombstones import write_tombstones
from memory.cold import ColdStore, deletions
from memory.cold.encoding import plain
from memory.cold.sql import each, fetch, first, run
from memory.errors import MemoryFailure

_PAGES = """SELECT id, archive, number, mode, cell, position, chars, sha256, text_tokens, vision_tokens, factsheet
    FROM pages WHERE pack = ? ORDER BY position"""
_HELD = """SELECT h.archive, h.number, h.page FROM archive_pages h JOIN pages p ON p.id = h.page
    WHERE p.pack = ? ORDER BY h.archive, h.number"""
_PASSAGES = """SELECT hex(s.hash), s.part, s.page, s.page_start, s.length FROM passages s JOIN pages p ON p.id = s.page
    WHERE p.pack = ? ORDER BY s.hash, s.part"""
_ENTRIES = """SELECT e.seq, e.conversation, e.id, coalesce(p.id, ''), e.kind, e.role, e.speaker, e.time_ms, e.chars,
    e.sha256, e.meta, e.sent, e.complete, t.terms, t.length
    FROM entries e LEFT JOIN entries p ON p.seq = e.parent LEFT JOIN terms t ON t.entry = e.seq
    WHERE e.seq IN (SELECT s.entry FROM spans s JOIN pages g ON g.id = s.page WHERE g.pack = ?) ORDER BY e.seq"""
_SPANS = """SELECT entry, start, length, page, page_start FROM spans
    WHERE entry IN (SELECT s.entry FROM spans s JOIN pages g ON g.id = s.page WHERE g.pack = ?) ORDER BY entry, start"""


def seal(db: apsw.Connection, storage: Storage, packs: Iterable[str]) -> None:
    """Rewrites the manifests of these packs from their rows; deletes those of packs without a row.

    To be called as the last step of each transaction that adds, changes or deletes rows of packs, archives, pages or
    spans: a commit then has its manifest on disk already. "" is for archives without pages of their own.
    """
    for pack in dict.fromkeys(packs):
        manifest = facts_of(db, pack)
        if manifest is None:
            delete_manifest(storage, pack)
        else:
            write_manifest(storage, manifest)
            _let_return(db, storage, manifest)


def _let_return(db: apsw.Connection, storage: Storage, manifest: PackManifest) -> None:
    """Withdraws the deletion of a conversation that was imported again."""
    if first(db, "SELECT 1 FROM deletions LIMIT 1") is None:
        return
    deleted = {deletion.token: deletion.conversation for deletion in deletions.deletions(db)}
    by_token = {deletions.token_of(deletion.source, deletion.id): deletion.seq for deletion in manifest.conversations}
    imported_again = frozenset(token for token, seq in by_token.items() if token in deleted and deleted[token] != seq)
    for token in imported_again:
        deletions.withdraw(db, token)
    if imported_again:
        write_tombstones(storage, (), without=imported_again)


def facts_of(db: apsw.Connection, pack: str) -> PackManifest | None:
    """All facts of the pack in the index; None where it has no row."""
    if not pack:
        return _packless(db)
    row = first(db, "SELECT bytes, sha256, kind, created_ms FROM packs WHERE name = ?", (pack,))
    if row is None:
        return None
    pages, held = fetch(db, _PAGES, (pack,)), fetch(db, _HELD, (pack,))
    archives = sorted({page[1] for page in pages} | {holding[0] for holding in held})
    index_of = {seq: index for index, seq in enumerate(archives)}
    entries = fetch(db, _ENTRIES, (pack,))
    conversations = sorted({entry[1] for entry in entries})
    size, sha256, kind, created_ms = row
    return PackManifest(
        pack=pack,
        size=size,
        sha256=sha256.hex(),
        kind=kind,
        created_ms=created_ms,
        archives=tuple(_archive(db, seq) for seq in archives),
        pages=tuple(_page(page, index_of) for page in pages),
        held=tuple(HeldFact(index_of[archive], number, page) for archive, number, page in held),
        passages=tuple(PassageFact(*row) for row in fetch(db, _PASSAGES, (pack,))),
        conversations=tuple(_conversation(db, seq) for seq in conversations),
        entries=_entries(db, pack, entries, conversations),
    )


def _packless(db: apsw.Connection) -> PackManifest | None:
    rows = fetch(
        db,
        """SELECT seq FROM archives WHERE seq NOT IN (SELECT archive FROM pages)
           AND seq NOT IN (SELECT archive FROM archive_pages) ORDER BY seq""",
    )
    return PackManifest(archives=tuple(_archive(db, seq) for (seq,) in rows)) if rows else None


def _archive(db: apsw.Connection, seq: int) -> ArchiveFact:
    sql = "SELECT label, created_ms, origin, pinned, bare, coalesce(conversation, 0) FROM archives WHERE seq = ?"
    row = first(db, sql, (seq,))
    label, created_ms, origin, pinned, bare, conversation = row or ("", 0, "", 0, 0, 0)  # the row that is named is lost
    return ArchiveFact(
        seq=seq,
        label=label,
        created_ms=created_ms,
        origin=origin,
        tags=tuple(tag for (tag,) in each(db, "SELECT tag FROM archive_tags WHERE archive = ? ORDER BY tag", (seq,))),
        pinned=bool(pinned),
        bare=bool(bare),
        conversation=conversation,
    )


def _page(row: Sequence[Any], place: dict[int, int]) -> PageFact:
    id_, archive, number, mode, cell, position, chars, sha256, text_tokens, vision_tokens, factsheet = row
    return PageFact(
        id=id_,
        archive=place[archive],
        number=number,
        mode=mode,
        cell=cell,
        position=position,
        chars=chars,
        sha256=sha256.hex(),
        text_tokens=text_tokens,
        vision_tokens=vision_tokens,
        factsheet=_words(factsheet),
    )


def _conversation(db: apsw.Connection, seq: int) -> ConversationFact:
    sql = "SELECT source, id, title, created_ms, kind FROM conversations WHERE seq = ?"
    row = first(db, sql, (seq,))
    source, id_, title, created_ms, kind = row or ("", "", b"", 0, "")  # the row that is named is lost
    words = plain(title.decode("utf-8", "surrogatepass"))
    return ConversationFact(seq=seq, source=source, id=id_, title=words, created_ms=created_ms, kind=kind)


def _entries(
    db: apsw.Connection, pack: str, rows: Iterable[Sequence[Any]], conversations: Sequence[int]
) -> tuple[EntryFact, ...]:
    spans: dict[int, list[tuple[int, int, str, int]]] = {}
    for entry, *span in each(db, _SPANS, (pack,)):
        spans.setdefault(entry, []).append(tuple(span))  # pyright: ignore[reportArgumentType] -- four columns
    place = {seq: at for at, seq in enumerate(conversations)}
    return tuple(_entry(row, place, tuple(spans[row[0]])) for row in rows)


def _entry(row: Sequence[Any], place: dict[int, int], spans: tuple[tuple[int, int, str, int], ...]) -> EntryFact:
    seq, conversation, id_, parent, kind, role, speaker, ms, chars, sha256, meta, sent, complete, terms, length = row
    return EntryFact(
        seq=seq,
        conversation=place[conversation],
        id=id_,
        parent=parent,
        kind=kind,
        role=role,
        speaker=speaker,
        time_ms=ms,
        chars=chars,
        sha256=sha256.hex(),
        spans=spans,
        meta=(meta or b"").decode("ascii", "replace"),
        sent=hashlib.sha256(sent).hexdigest() if sent else "",
        complete=bool(complete),
        terms=_digest_of_terms(terms, length),
    )


def _digest_of_terms(terms: bytes | None, length: int | None) -> str:
    return "" if terms is None else hashlib.sha256(terms + str(length).encode("ascii")).hexdigest()


def _words(factsheet: str) -> tuple[str, ...]:
    try:
        return tuple(plain(word) for word in json.loads(factsheet))
    except (ValueError, TypeError, AttributeError):  # a damaged column: it will not be what the manifest says
        return (f"damaged: {plain(factsheet)}",)


def seal_older(cold: ColdStore, storage: Storage) -> None:
    """Writes manifests that were never written. Quick, and loads nothing, where there are none to write.

    An existing manifest stays as it is. Where the rows or the folder refuse, `check` reports it.
    """
    if cold.read_only or not (packs := cold.read(unsealed)):
        return

    def transaction(db: apsw.Connection) -> None:
        names = storage.names()
        seal(db, storage, [pack for pack in packs if not parts_of(manifest_name(pack), names)])
        run(db, "DELETE FROM unsealed")

    with suppress(MemoryFailure, MsgspecError):
        cold.write(transaction)


def unsealed(db: apsw.Connection) -> list[str]:
    """Packs whose manifest is still to be written."""
    return [pack for (pack,) in fetch(db, "SELECT pack FROM unsealed")]
