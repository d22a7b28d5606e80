"""Puts an earlier text back into a file, and keeps what stands there now."""

import secrets
from collections import Counter
from pathlib import Path
from typing import Final

from foundation.clock import Clock
from foundation.errors import Misuse
from foundation.files import resolve_within
from foundation.files.conditional import FileSwap, UnexpectedContent
from foundation.paths import Workspace
from foundation.program import PROGRAM
from memory.errors import NoteChanged, UnwritableNotes
from memory.hot.edits import Edit
from memory.hot.files import edit_target
from memory.hot.lock import NotesLock
from memory.hot.merge import merge
from memory.hot.parse import lines_of
from memory.hot.swap import ExposedStates, apply_edit
from memory.hot.versions import Versions
from memory.versions.cause import Author, Cause
from memory.versions.file_history import FileHistory
from memory.versions.manifest import Version

_UNDO: Final = "undo of version "


class FileRestorer:
    """Restores versions of a workspace's files; each is a new version of the person's."""

    def __init__(self, workspace: Workspace, history: FileHistory, clock: Clock) -> None:
        self._workspace = workspace
        self._history = history
        self._copies = Versions(workspace.versions)
        self._clock = clock

    def restore(self, version: Version, undone: Version | None = None) -> bool:
        """Gives the file what it held then, as an undo where `undone` is given; whether that is another text.

        Raises Damaged, NotUtf8, Misuse, OSError.
        """
        if not version.sha256:
            raise Misuse(
                "Nothing to restore",
                f"In version {version.number} {version.path} was not there.",
                f"`{PROGRAM} memory log {version.path}` lists the versions that hold a text.",
            )
        wanted = self._text(version)
        reason = f"{_UNDO}{undone.number}" if undone else f"version {version.number} restored"
        return self._write(version.path, lambda _: wanted, reason)

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
        """Takes back the last change by a model that was not taken back, or that which made the version of this number.

        What others changed since then stays. Gives the version that was undone; None where there is none. Raises
        NoteChanged, with the file as it is, where others changed the same lines since.
        """
        store = self._history.store
        undone = {version.reason for version in store.versions()}
        last = next(
            (
                version
                for version in reversed(store.versions())
                if version.author is Author.MODEL
                and number in {None, version.number}
                and f"{_UNDO}{version.number}" not in undone
            ),
            None,
        )
        if last is None:
            return None
        replaced = store.before(last)
        theirs, before = self._text(last), self._text(replaced)

        def taken_back(now: str) -> str:
            merged = merge(theirs, now, before)
            added = Counter(lines_of(theirs)) - Counter(lines_of(before))
            left = added & (Counter(lines_of(merged.text)) - Counter(lines_of(before)))
            if merged.leftover.strip() or merged.text == now or left:
                raise NoteChanged(
                    "Not taken back",
                    f"{last.path} was changed since version {last.number}, in the same lines.",
                    f"`{PROGRAM} memory diff {last.number}` shows what the model changed; take it out by hand.",
                )
            return merged.text

        was_there = replaced is not None and bool(replaced.sha256)
        self._write(last.path, taken_back, f"{_UNDO}{last.number}", keep_empty=was_there)
        return last

    def _text(self, version: Version | None) -> str:
        return self._history.store.body(version).decode("utf-8")

    def _write(self, name: str, edit: Edit, reason: str, *, keep_empty: bool = True) -> bool:
        """Applies the edit, as a version; whether that changed the file. Without `keep_empty` an empty one is deleted.

        Raises TemporaryFailure where another process writes the notes for too long, UnwritableNotes.
        """
        now, came_out, exposed = self._clock.now(), list[bytes](), ExposedStates()

        def keep(file: Path, body: bytes) -> None:
            came_out.append(body)
            self._copies.take(name, file, body, now)

        path = self._target(name)
        with NotesLock(self._workspace).held():
            text: str | None = apply_edit(path, edit, keep, now, exposed)
            if not text and not keep_empty:
                text = _deleted_where_empty(path)
        theirs = [body for body in came_out if not exposed.has(body.decode("utf-8", "replace"))]
        self._history.wrote(name, theirs, text, Cause(Author.USER, reason))
        return bool(came_out)

    def _target(self, name: str) -> Path:
        if name == "MEMORY.md" or name.startswith("memory/"):
            return edit_target(self._workspace, name, UnwritableNotes)
        path = self._workspace.root / name
        return resolve_within(path, self._workspace.bounds_of(path))


def _deleted_where_empty(path: Path) -> str | None:
    """None where the file is deleted; "" where somebody wrote to it first."""
    swap = FileSwap(path, b"", None, beside=path.with_name(f".{path.name}.{secrets.token_hex(6)}.gone"))
    try:
        swap.make()
    except UnexpectedContent:
        return ""
    if (outgoing := swap.finish()) is not None:
        outgoing.close()
    return None
