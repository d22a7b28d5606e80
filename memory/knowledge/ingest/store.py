"""Stores one file as a memory: archives its text and inserts its rows in one transaction."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

import apsw
from msgspec.structs import replace

from foundation.clock import to_ms
from foundation.privacy import Cleared, clear
from foundation.text.similarity import sketch
from memory.archive.vault import Vault
from memory.cold.encoding import to_bytes
from memory.cold.file_places import KIND
from memory.cold.sql import fetch
from memory.errors import AlreadyExists
from memory.knowledge import rows
from memory.knowledge.importance.patterns import importance_of
from memory.knowledge.importance.score import DEFAULT_IMPORTANCE
from memory.knowledge.ingest.report import AddOptions
from memory.knowledge.ingest.walk import WalkedFile
from memory.knowledge.readers.document import Document, DocumentLocation
from memory.knowledge.records import DocumentView, KnowledgeRecord
from memory.knowledge.retrieve import images
from memory.pages.types import ArchiveResult
from memory.records import new_id

_PAGES = """SELECT chars, (SELECT p.mode FROM spans s JOIN pages p ON p.id = s.page WHERE s.entry = e.seq
            ORDER BY s.start LIMIT 1) FROM entries e WHERE conversation = ? ORDER BY seq"""


class IngestFile:
    """A file's bytes, read once: the bytes that are hashed are the bytes that are stored."""

    def __init__(self, met: WalkedFile, raw: bytes, mtime_ns: int) -> None:
        self.met, self.raw, self.mtime_ns = met, raw, mtime_ns

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.raw).hexdigest()


class DocumentStore:
    """Stores documents. `folder` is the folder of pictures."""

    def __init__(self, folder: Path, vault: Vault, options: AddOptions, now: datetime) -> None:
        self._folder = folder
        self._vault = vault
        self._options = options
        self._now = now

    def keep(
        self, file: IngestFile, document: Document, text: Cleared, sha256: str = ""
    ) -> tuple[KnowledgeRecord, ArchiveResult]:
        """Stores the document and returns its memory. `sha256` stands for the file's bytes where their own hash may
        not.

        Raises AlreadyExists where another process added the same meanwhile: nothing is stored then.
        """
        names = images.keep(self._folder, document.pictures)
        record = self._known(file, document, text, sha256 or file.sha256)
        hashes = sketch(text)

        def also(db: apsw.Connection, archived: ArchiveResult) -> None:
            (conversation,) = fetch(db, "SELECT conversation FROM archives WHERE seq = ?", (archived.seq,))[0]
            new_record = self._with_previous(db, replace(record, conversation=conversation))
            seq = rows.insert(db, new_record, hashes)
            rows.insert_places(
                db, seq, [DocumentLocation(0, ""), *document.places]
            )  # what stands at 0 itself goes before
            rows.insert_views(db, seq, _views(db, conversation, document, names))

        archived = self._vault.archive_text(
            text, label=record.name, mode=self._options.mode, kind=KIND, origin=KIND, also=also
        )
        return record, archived

    def _known(self, file: IngestFile, document: Document, text: Cleared, sha256: str) -> KnowledgeRecord:
        met = file.met
        return KnowledgeRecord(
            id=new_id("k"),
            source=met.path,
            name=clear(met.name),
            root=met.root,
            kind=document.kind,
            category=clear(self._options.category or _category(met, document)),
            bytes=len(file.raw),
            mtime_ns=file.mtime_ns,
            sha256=sha256,
            text_sha256=hashlib.sha256(to_bytes(text)).hexdigest(),
            chars=len(text),
            added=self._now,
        )

    def _with_previous(self, db: apsw.Connection, record: KnowledgeRecord) -> KnowledgeRecord:
        """The record with the previous version's fields; that version is marked as replaced."""
        old = rows.at_source(db, record.source)
        importance = importance_of(record, rows.patterns(db), old.importance if old else DEFAULT_IMPORTANCE)
        if old is None:
            return replace(record, importance=importance)
        if (old.sha256, old.text_sha256) == (record.sha256, record.text_sha256):
            raise AlreadyExists("Already known", f"{record.source} was added meanwhile.")
        rows.replace(db, old.seq, to_ms(record.added))
        category = record.category if self._options.category else old.category
        return replace(record, importance=importance, category=category, accesses=old.accesses, accessed=old.accessed)


def _category(met: WalkedFile, document: Document) -> str:
    """The file's folder below the one that was named; else its kind."""
    folders = met.name.split("/")[1:-1] if met.root else []
    return folders[0] if folders else document.kind


def _views(db: apsw.Connection, conversation: int, document: Document, names: Sequence[str]) -> list[DocumentView]:
    """The pictures, and each page whose text goes beyond a picture."""
    found, at = list[DocumentView](), 0
    for chars, mode in fetch(db, _PAGES, (conversation,)):
        if not _is_pictured(document, at, at + chars):
            found.append(DocumentView(len(found) + 1, at, chars, "", mode or "base"))
        at += chars
    for picture, name in zip(document.pictures, names, strict=True):
        mode = images.mode_of(picture.width, picture.height)
        found.append(DocumentView(len(found) + 1, picture.start, picture.length, name, mode))
    return found


def _is_pictured(document: Document, start: int, end: int) -> bool:
    """Whether that span of the text lies within pictures, separators aside."""
    shown = sum(max(0, min(end, p.start + p.length) - max(start, p.start)) for p in document.pictures)
    return shown > 0 and shown >= end - start - 2 * len(document.pictures)
