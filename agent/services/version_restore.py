"""Restores versions and takes back changes of models, each with a sentence about it. All functions block."""

import difflib
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.services.file_versions import AUTHORS, look_at_files, version_difference, version_text
from foundation.errors import PalimpsestError
from foundation.files import LockTimeout
from foundation.program import PROGRAM
from memory.access import refuse_read_only
from memory.errors import NoteChanged, UnwritableNotes
from memory.memory import Memory
from memory.versions.cause import Author
from memory.versions.manifest import Version

NOTHING_TO_UNDO: Final = "No changes by a model are left to undo."


class VersionReceipt(Struct, frozen=True):
    """What was done, as a sentence; the version that was restored or taken back (None where there was none), the number
    of the version that the file is now, and where bytes of it that were no text are kept."""

    sentence: str
    version: Version | None = None
    now: int = 0
    is_changed: bool = False
    kept: Path | None = None


def change_by_restoring(memory: Memory, version: Version) -> str:
    """What restoring the version would change in the file as it is now, as a unified difference; "" for nothing."""
    no_text = {file.path for file in look_at_files(memory)}
    store = memory.versions.store
    if version.path in no_text and version.sha256:
        lines = version_text(store, version).splitlines()
        name = f"{version.path} (version {version.number})"
        return "\n".join(difflib.unified_diff([], lines, f"{version.path} (no UTF-8 text)", name, lineterm=""))
    newest = store.newest(version.path) or version
    return version_difference(store, newest, version) if newest.sha256 != version.sha256 else ""


def restore_version(memory: Memory, version: Version) -> VersionReceipt:
    """Gives the file the text of the version, as a new version. Raises PalimpsestError."""
    refuse_read_only(memory.workspace)
    look_at_files(memory)
    try:
        done = memory.restorer.restore(version)
    except OSError as error:
        raise _not_written(version.path, error) from error
    now = memory.versions.store.newest(version.path) or version
    if not done.is_changed:
        return VersionReceipt(f"{version.path} already has that text.", version, now.number)
    this = f"; this is version {now.number}" if now.number != version.number else ""
    kept = f" It was not valid UTF-8; a copy is saved as {done.kept}." if done.kept else ""
    sentence = f"{version.path} is restored to version {version.number}{this}.{kept}"
    return VersionReceipt(sentence, version, now.number, is_changed=True, kept=done.kept)


class LastChange(Struct, frozen=True):
    """The last change of a file, the version before it, and what restoring that one changes in the file."""

    change: Version
    before: Version
    difference: str


def last_change_of(memory: Memory, path: str) -> LastChange | None:
    """What `undo_last_change` takes back; None where no version before it is kept. Raises Damaged."""
    look_at_files(memory)
    change = memory.restorer.last_change(path)
    before = memory.versions.store.before(change) if change else None
    if change is None or before is None or not before.sha256:
        return None
    return LastChange(change, before, change_by_restoring(memory, before))


def undo_last_change(memory: Memory, last: LastChange) -> VersionReceipt:
    """Takes the change back, whoever made it: one more undo takes back the one before. Raises PalimpsestError."""
    refuse_read_only(memory.workspace)
    path, number = last.change.path, last.change.number
    if last_change_of(memory, path) != last:
        raise NoteChanged("Not undone", f"{path} was changed meanwhile.", "Check it, then press u again.")
    try:
        memory.restorer.restore(last.before, undone=last.change)
    except OSError as error:
        raise _not_written(path, error) from error
    now = memory.versions.store.newest(path) or last.before
    sentence = f"{path}: version {number} was undone; this is version {now.number}."
    return VersionReceipt(sentence, last.change, now.number, is_changed=True)


def undo_change(memory: Memory, number: int | None = None) -> VersionReceipt:
    """Takes back the last change by a model, or the one that made the version of this number.

    Raises NoteChanged where others changed the same lines since, and other PalimpsestErrors.
    """
    refuse_read_only(memory.workspace)
    look_at_files(memory)
    try:
        undone = memory.restorer.undo(number)
    except OSError as error:
        raise _not_written("The file", error) from error
    if undone is None:
        return VersionReceipt(NOTHING_TO_UNDO if number is None else _why_not(memory, number))
    now = memory.versions.store.newest(undone.path) or undone
    sentence = f"{undone.path}: version {undone.number} ({undone.reason}) was undone; this is version {now.number}."
    return VersionReceipt(sentence, undone, now.number, is_changed=True)


def _why_not(memory: Memory, number: int) -> str:
    version = memory.versions.store.version(number)
    if version.author is not Author.MODEL:
        by = AUTHORS[version.author]
        return (
            f"Version {number} of {version.path} is by {by}: undo only reverts changes by a model. "
            f"`{PROGRAM} memory restore` restores an earlier version."
        )
    if memory.restorer.is_undone(number):
        return f"Version {number} is already undone."
    return f"{version.path} no longer contains anything of version {number}."


def _not_written(name: str, error: OSError) -> PalimpsestError:
    reason = (
        "another Palimpsest process is writing to it"
        if isinstance(error, LockTimeout)
        else error.strerror or str(error)
    )
    return UnwritableNotes(
        "Not written", f"{name} could not be written: {reason}.", "Nothing was changed. Try again later."
    )
