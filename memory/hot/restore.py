"""Puts an earlier text back into a file, and keeps what stands there now."""

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from foundation.clock import Clock
from foundation.errors import Misuse
from foundation.files import NotUtf8, encode, exists, read_bytes, resolve_within
from foundation.files.atomic_exchange import ASIDE
from foundation.files.conditional import FileSwap, UnexpectedContent
from foundation.paths import Workspace
from foundation.program import PROGRAM
from memory.errors import NoteChanged, UnwritableNotes
from memory.hot.edits import Edit
from memory.hot.files import edit_target, is_hot_name
from memory.hot.lock import NotesLock
from memory.hot.reversal import without_change
from memory.hot.swap import SWAP, ExposedStates, apply_edit, content_digest, decode
from memory.hot.versions import Versions
from memory.versions.cause import Author, Cause
from memory.versions.file_history import FileHistory
from memory.versions.manifest import Version
from memory.versions.objects import content_name

_UNDO: Final = "undo of version "


class RestoredFile(Struct, frozen=True):
    """Whether restoring changed the file, and where the bytes of before are kept, if they were no UTF-8 text."""

    is_changed: bool
    kept: Path | None = None


class FileRestorer:
    """Restores versions of a workspace's files; each is a new version of the person's."""

    def __init__(self, workspace: Workspace, history: FileHistory, clock: Clock) -> None:
        self._workspace = workspace
        self._history = history
        self._copies = Versions(workspace.versions)
        self._clock = clock

    def restore(self, version: Version, undone: Version | None = None) -> RestoredFile:
        """Gives the file what it held then, as an undo where `undone` is given.

        Bytes that are no UTF-8 text are of no version: a copy of them is kept, and an undo leaves them. Raises Damaged,
        NotUtf8, Misuse, OSError.
        """
        if not version.sha256:
            raise Misuse(
                "Nothing to restore",
                f"{version.path} did not exist in version {version.number}.",
                f"`{PROGRAM} memory log {version.path}` lists the versions with text.",
            )
        wanted = self._text(version)
        reason = f"{_UNDO}{undone.number}" if undone else f"version {version.number} restored"
        try:
            return RestoredFile(self._write(version.path, lambda _: wanted, Cause(Author.USER, reason)))
        except NotUtf8:
            if undone:
                raise
            return RestoredFile(is_changed=True, kept=self._replace_bytes(version.path, wanted, reason))

    def renew(self, name: str, before: str, now: str) -> bool:
        """Replaces a text that this program once wrote by its present one; whether that changed the file.

        A file that holds another text is left, and so is one that held the present text before: its owner went back.
        Raises OSError, NotUtf8.
        """
        if content_name(encode(now)) in {version.sha256 for version in self._history.store.versions(name)}:
            return False
        cause = Cause(Author.PROGRAM, "new default text")
        return self._write(name, lambda text: now if text == before else text, cause)

    def last_change(self, name: str) -> Version | None:
        """The last change of the file, by whoever, that an undo has not already taken back; None where none is kept."""
        store = self._history.store
        by_undo = {f"{_UNDO}{version.number}": version for version in store.versions(name)}
        last = store.newest(name)
        while last is not None and (undone := by_undo.get(last.reason)) and undone.number < last.number:
            before = store.before(undone)
            if before is None or before.sha256 != last.sha256:  # what came after the undone version was kept
                break
            last = before
        return last

    def is_undone(self, number: int) -> bool:
        """Whether the change that made this version was taken back."""
        return any(version.reason == f"{_UNDO}{number}" for version in self._history.store.versions())

    def undo(self, number: int | None = None) -> Version | None:
        """Takes back the last change by a model of which something is left, or that which made the version `number`.

        What others changed since then stays. Gives the version that was undone; None where there is none, or nothing
        is left of it. Raises NoteChanged, with the file as it is, where others changed the same lines since.
        """
        open_changes = self._open_changes()
        for version in open_changes:
            if number in {None, version.number} and self._take_back(version, open_changes):
                return version
        return None

    def _open_changes(self) -> list[Version]:
        """The changes by models that no undo took back, the newest first."""
        versions = self._history.store.versions()
        undone = {version.reason for version in versions}
        return [
            version
            for version in reversed(versions)
            if version.author is Author.MODEL and f"{_UNDO}{version.number}" not in undone
        ]

    def _take_back(self, change: Version, open_changes: Sequence[Version]) -> bool:
        """Whether anything was left of the change."""
        replaced = self._history.store.before(change)
        before, after = self._text(replaced), self._text(change)

        def taken_back(now: str) -> str:
            text = without_change(before, after, now)
            if text is not None:
                return text
            other = next((each for each in open_changes if each.number < change.number), None)
            raise NoteChanged(
                "Not undone",
                f"The same lines of {change.path} were changed since version {change.number}.",
                f"`{PROGRAM} memory diff {change.number}` shows what the model changed; revert it by hand."
                + (f" `{PROGRAM} memory undo {other.number}` undoes the one before it." if other else ""),
            )

        path = self._target(change.path)
        if change.sha256 and (not exists(path) or taken_back(now := decode(path, read_bytes(path))) == now):
            return False  # somebody took it out
        was_there = replaced is not None and bool(replaced.sha256)
        cause = Cause(Author.USER, f"{_UNDO}{change.number}")
        return self._write(change.path, taken_back, cause, keep_empty=was_there)

    def _text(self, version: Version | None) -> str:
        return self._history.store.body(version).decode("utf-8")

    def _write(self, name: str, edit: Edit, cause: Cause, *, keep_empty: bool = True) -> bool:
        """Applies the edit, as a version; whether that changed the file. Without `keep_empty` an empty one is deleted.

        Raises TemporaryFailure where another process writes the notes for too long, UnwritableNotes.
        """
        now, came_out, exposed = self._clock.now(), list[bytes](), ExposedStates()

        def keep(file: Path, body: bytes) -> None:
            came_out.append(body)
            self._copies.take(name, file, body, now)

        path = self._target(name)
        with NotesLock(self._workspace).held():
            was_there = exists(path)
            text: str | None = apply_edit(path, edit, keep, now, exposed)
            if not text and not keep_empty:
                text = _deleted_where_empty(path)
            elif not text and not was_there:
                _swap(path, None, b"")
        theirs = [body for body in came_out if not exposed.has(body.decode("utf-8", "replace"))]
        self._history.wrote(name, theirs, text, cause)
        return bool(came_out) or not was_there

    def _replace_bytes(self, name: str, text: str, reason: str) -> Path:
        """Gives a file whose bytes are no text a text; the copy of the bytes. Raises UnexpectedContent."""
        path = self._target(name)
        with NotesLock(self._workspace).held():
            body = read_bytes(path)
            kept = self._copies.keep(name, body, self._clock.now())
            _swap(path, body, encode(text))
        self._history.wrote(name, (), text, Cause(Author.USER, reason))
        return kept

    def _target(self, name: str) -> Path:
        if is_hot_name(name):
            return edit_target(self._workspace, name, UnwritableNotes)
        path = self._workspace.root / name
        return resolve_within(path, self._workspace.bounds_of(path))


def _deleted_where_empty(path: Path) -> str | None:
    """None where the file is deleted; "" where somebody wrote to it first."""
    try:
        _swap(path, b"", None)
    except UnexpectedContent:
        return ""
    return None


def _swap(path: Path, expected: bytes | None, new: bytes | None) -> None:
    """Puts `new` at `path`, where it holds `expected`; None stands for no file. Raises UnexpectedContent, OSError.

    What a process that is killed, or fails, in between leaves beside a note is settled with the next look at the notes.
    """
    digests = ".".join(content_digest(body) for body in (expected, new) if body is not None)
    suffix = ASIDE if new is None else f".{digests}{SWAP}"
    swap = FileSwap(path, expected, new, beside=path.with_name(f".{path.name}.{secrets.token_hex(6)}{suffix}"))
    try:
        swap.stage()
        swap.make()
    except UnexpectedContent:
        swap.discard()
        raise
    if (outgoing := swap.finish()) is not None:
        outgoing.close()
