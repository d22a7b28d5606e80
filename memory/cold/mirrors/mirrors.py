"""Writes conversations/<id>.md: each conversation as a readable file, updated after each turn.

The store is the source of truth; a mirror is derived from it. Turns are appended, so that a long conversation costs no
more than its new turns. A person's edit of a mirror is saved in the versions folder before the mirror is rewritten.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
from msgspec import Struct
from msgspec.structs import replace

from foundation.errors import PalimpsestError
from foundation.files import (
    FileLock,
    append,
    exchange,
    exists,
    make_folder,
    make_private_folder,
    read_bytes,
    remove,
    status,
    write_atomically,
    write_temporary,
)
from foundation.paths import Workspace
from memory.cold.mirrors.escapes import FORMAT
from memory.cold.mirrors.render import head, mirror_name, turn
from memory.cold.sql import fetch, first, run
from memory.cold.store import ColdStore
from memory.records import Conversation, Entry

if TYPE_CHECKING:
    from hashlib import _Hash  # pyright: ignore[reportPrivateUsage]  # it has no other name

LOCK_SECONDS = 30


class _MirrorRow(Struct, frozen=True):
    """The mirror's content at the last write."""

    leaf: int
    head: bytes
    size: int
    sha256: bytes


class _WrittenFile(Struct, frozen=True):
    """The file as this process wrote it: its file status then, and its hash so far."""

    stamp: tuple[int, int, int]
    hash: "_Hash"


class ChangedMirror(Struct, frozen=True):
    """A mirror that is not there, or not as it was written: a person may have deleted or edited it."""

    conversation: int  # its seq
    name: str
    is_there: bool


class Mirrors:
    """Writes mirrors. Safe to call from any thread, and beside another process.

    `text_of` gives an entry's text, from the store or from its pages.
    """

    def __init__(self, workspace: Workspace, cold: ColdStore, text_of: Callable[[Entry], str]) -> None:
        self._workspace = workspace
        self._cold = cold
        self._text_of = text_of
        self._known: dict[int, _WrittenFile] = {}

    @staticmethod
    def file_name(conversation: Conversation) -> str:
        """The name of the conversation's mirror."""
        return mirror_name(conversation)

    def update(self, conversation_seq: int) -> Path | None:
        """Brings the mirror up to the conversation's leaf; gives its path.

        None for a conversation without turns, or one that only represents an archive. An unfinished answer is left for
        later.
        """
        conversation = self._cold.conversation_at(conversation_seq)
        if conversation.kind != "chat" or conversation.leaf is None or self._cold.read_only:
            return None
        path = self._workspace.conversations / mirror_name(conversation)
        with self._lock():
            make_folder(path.parent)
            self._update_file(conversation, conversation.leaf, path)
        return path

    def missing_of_imports(self) -> list[int]:
        """Imported conversations that no mirror was written of: an import that was interrupted stored them."""
        sql = """SELECT seq FROM conversations WHERE kind = 'chat' AND source <> '' AND leaf IS NOT NULL
                 AND seq NOT IN (SELECT conversation FROM mirrors) ORDER BY seq"""
        return [seq for (seq,) in self._cold.read(lambda db: fetch(db, sql))]

    def changed(self) -> list[ChangedMirror]:
        """The mirrors that are not as they were written last. Reads all of them, and changes nothing."""
        sql = """SELECT conversation FROM mirrors JOIN conversations ON seq = conversation
                 WHERE kind = 'chat' AND conversations.leaf IS NOT NULL AND head <> x'' ORDER BY conversation"""
        found: list[ChangedMirror] = []
        for (seq,) in self._cold.read(lambda db: fetch(db, sql)):
            name = mirror_name(self._cold.conversation_at(seq))
            path = self._workspace.conversations / name
            row = self._cold.read(lambda db, seq=seq: _row(db, seq))
            if not exists(path) or (row is not None and not self._is_readable_and_ours(seq, path, row)):
                found.append(ChangedMirror(seq, name, exists(path)))
        return found

    def _is_readable_and_ours(self, seq: int, path: Path, row: _MirrorRow) -> bool:
        try:
            return self._is_ours(seq, path, row)
        except OSError:  # a link, a folder, or a file of another owner
            return False

    def write_due(self, most: int, should_stop: Callable[[], bool]) -> int:
        """Writes mirrors of conversations that another device added to, or gave a title: newest first, and no more than
        so many. Gives their number. What cannot be read is left for the next time. Raises OSError."""
        sql = """SELECT c.seq FROM conversations c LEFT JOIN mirrors m ON m.conversation = c.seq
                 WHERE c.kind = 'chat' AND c.leaf IS NOT NULL
                 AND (m.leaf IS NULL OR m.leaf <> c.leaf OR m.head = x'')
                 ORDER BY c.updated_ms DESC, c.seq DESC"""
        count = 0
        for (seq,) in self._cold.read(lambda db: fetch(db, sql)):
            if count == most or should_stop():
                break
            count += 1
            with suppress(PalimpsestError):  # a text that cannot be read
                self.update(seq)
        return count

    def renew(self) -> None:
        """Rewrites mirrors with text that the store has deleted."""
        sql = "SELECT conversation FROM mirrors WHERE head = x''"
        for (conversation,) in self._cold.read(lambda db: fetch(db, sql)):
            self.update(conversation)

    def remove(self, conversation_seq: int) -> None:
        """Deletes the mirror, before its conversation is deleted; a person's edit is saved as a version.

        Raises ReadOnly.
        """
        self._cold.refuse_read_only()
        conversation = self._cold.conversation_at(conversation_seq)
        path = self._workspace.conversations / mirror_name(conversation)
        with self._lock():
            row = self._cold.read(lambda db: _row(db, conversation.seq))
            self._known.pop(conversation.seq, None)
            if exists(path):
                self._keep_edit(path, read_bytes(path), row)
                remove(path)

    def _update_file(self, conversation: Conversation, leaf: int, path: Path) -> None:
        row = self._cold.read(lambda db: _row(db, conversation.seq))
        ours = row is not None and self._is_ours(conversation.seq, path, row)
        new = self._since(leaf, row.leaf) if row is not None and ours else None
        if row is None or new is None or not _is_escaped(row.head):
            whole = self._since(leaf, 0) or []
            self._rewrite(conversation, path, row, self._turns(whole), whole[-1].seq if whole else 0)
        elif row.head != head(conversation):
            turns = read_bytes(path)[len(row.head) :] + self._turns(new)
            self._rewrite(conversation, path, row, turns, new[-1].seq if new else row.leaf)
        elif new:
            self._append(conversation, path, row, new)

    # ── the current file ──

    def _is_ours(self, seq: int, path: Path, row: _MirrorRow) -> bool:
        """Whether the file is as last written, byte for byte."""
        try:
            stamp = _stamp(path)
        except FileNotFoundError:
            return False
        known = self._known.get(seq)
        if known is not None and known.stamp == stamp and known.hash.digest() == row.sha256:
            return True
        hashed = hashlib.sha256(read_bytes(path))
        if hashed.digest() != row.sha256:
            return False
        self._known[seq] = _WrittenFile(stamp, hashed)
        return True

    def _since(self, leaf: int, last: int) -> list[Entry] | None:
        """Settled entries after `last` (0: from the root) down to `leaf`; None where `last` is not on that path."""
        in_flight = self._cold.read(_in_flight)
        new: list[Entry] = []
        for entry in self._cold.path(leaf):
            if entry.seq <= last:
                return new[::-1] if entry.seq == last else None
            if entry.seq in in_flight:
                new.clear()  # entries after an in-progress answer wait for it
            else:
                new.append(replace(entry, meta={}, sent=()))  # not shown in a mirror, and possibly large
        return new[::-1] if last == 0 else None

    def _turns(self, entries: list[Entry]) -> bytes:
        return b"".join(turn(entry, self._text_of(entry)) for entry in entries)

    # ── writing ──

    def _append(self, conversation: Conversation, path: Path, row: _MirrorRow, new: list[Entry]) -> None:
        """Appends to the file in place: an edit at this very moment is not lost."""
        added = self._turns(new)
        append(path, added)
        hashed = self._known[conversation.seq].hash.copy()
        hashed.update(added)
        stamp = _stamp(path)
        if stamp[0] == row.size + len(added):
            self._known[conversation.seq] = _WrittenFile(stamp, hashed)
        self._note(conversation, _MirrorRow(new[-1].seq, row.head, row.size + len(added), hashed.digest()))

    def _rewrite(self, conversation: Conversation, path: Path, row: _MirrorRow | None, turns: bytes, leaf: int) -> None:
        """Replaces the file, and checks the replaced one: an edit at this very moment is seen there."""
        above = head(conversation)
        whole = above + turns
        append(path, b"")  # exchanging takes two files
        beside = write_temporary(path, whole)
        exchange(path, beside)
        hashed = hashlib.sha256(whole)
        self._keep_edit(path, read_bytes(beside), row)
        remove(beside)
        self._known[conversation.seq] = _WrittenFile(_stamp(path), hashed)
        self._note(conversation, _MirrorRow(leaf, above, len(whole), hashed.digest()))

    def _keep_edit(self, path: Path, found: bytes, row: _MirrorRow | None) -> None:
        """Saves the replaced file as a version, unless this program wrote it."""
        digest = hashlib.sha256(found)
        if not found or (row is not None and digest.digest() == row.sha256):
            return
        folder = self._workspace.versions
        make_private_folder(folder)
        when = self._cold.clock.now().strftime("%Y%m%dT%H%M%SZ")
        write_atomically(folder / f"conversations-{path.stem}-{when}-{digest.hexdigest()[:12]}.md", found)

    def _note(self, conversation: Conversation, row: _MirrorRow) -> None:
        sql = "INSERT OR REPLACE INTO mirrors (conversation, leaf, head, bytes, sha256) VALUES (?, ?, ?, ?, ?)"
        self._cold.write(lambda db: run(db, sql, (conversation.seq, row.leaf, row.head, row.size, row.sha256)))

    def _lock(self) -> FileLock:
        return FileLock(self._workspace.state / "mirrors.lock", timeout=LOCK_SECONDS)


def _row(db: apsw.Connection, conversation: int) -> _MirrorRow | None:
    found = first(db, "SELECT leaf, head, bytes, sha256 FROM mirrors WHERE conversation = ?", (conversation,))
    return _MirrorRow(*found) if found else None


def _is_escaped(head: bytes) -> bool:
    """Whether texts below that head are escaped; older mirrors are rewritten."""
    return f"\n{FORMAT}\n".encode() in head


def _in_flight(db: apsw.Connection) -> set[int]:
    return {entry for (entry,) in fetch(db, "SELECT entry FROM answers")}


def _stamp(path: Path) -> tuple[int, int, int]:
    if (found := status(path)) is None:
        raise FileNotFoundError(path)
    return found.st_size, found.st_mtime_ns, found.st_ino
