"""Clears up after a process that was killed in the middle of a change, with the lock held.

The temporary file beside each file tells how far it came: it holds the new bytes (not exchanged yet), the old ones
(exchanged), or those of another program that wrote at the same moment, which go back where they belong. One that is
still staged was not exchanged, and is removed.
"""

import glob
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from agent.checkpoints.change import ChangedFile, CheckpointRecord, is_below, is_beside, is_path, remove_empty_folders
from agent.checkpoints.conflicts import keep_beside
from agent.checkpoints.journal import Ended, Journal
from foundation.errors import PalimpsestError
from foundation.files import STAGED, exchange, exists, is_folder, list_files, read_bytes, remove
from foundation.files.atomic_exchange import ASIDE, link_if_free
from memory.versions.objects import Objects, content_name

_MOST_NAMES: Final = 5


def recover_change(record: CheckpointRecord, journal: Journal, folder: Path, folders: Sequence[Path]) -> str:
    """Finds out which files of the change were changed, and writes its end; a sentence for the person.

    A change of files that are not below the project folders `folders` is left to a session that has those.
    """
    forged = [file.path for file in record.files if not is_path(file)]
    outside = [
        file.place
        for file in record.files
        if is_path(file) and not is_below(file.folder, file.path, folders) and is_folder(Path(file.folder))
    ]
    if outside:
        return (
            "A change of files outside the project folders was interrupted; these files were not "
            f"restored: {_names(outside)}."
        )
    changed: list[int] = []
    kept: list[Path] = []
    for index, file in enumerate(record.files):
        if not is_below(file.folder, file.path, folders):
            continue
        with suppress(PalimpsestError, OSError):  # a file that cannot be read counts as unchanged
            was_changed, displaced = _settle(file, Objects(folder / "blobs", "checkpoint"))
            if was_changed:
                changed.append(index)
            if displaced is not None:
                kept.append(keep_beside(folder, record.id, file, displaced))
    for index in sorted(set(range(len(record.files))) - set(changed)):
        file = record.files[index]
        if not file.before and is_below(file.folder, file.path, folders):
            remove_empty_folders(record.files[index])
    journal.add(Ended(record.id, changed=tuple(changed), interrupted=True))
    count, names = len(record.files), _names([record.files[index].path for index in changed])
    sentence = f"A change of {count} file{'s' * (count != 1)} was interrupted: "
    sentence += f"{len(changed)} changed ({names}); /undo undoes changes by tools." if changed else "none changed."
    if forged:
        sentence += f" The journal contains paths outside the project folders; skipped: {_names(forged)}."
    return sentence + "".join(f" Another program's text was kept in {place}." for place in kept)


def _names(paths: Sequence[str | Path]) -> str:
    """The first names."""
    more = f" and {len(paths) - _MOST_NAMES} more" if len(paths) > _MOST_NAMES else ""
    return ", ".join(map(str, paths[:_MOST_NAMES])) + more


def _settle(file: ChangedFile, blobs: Objects) -> tuple[bool, bytes | None]:
    """Whether the file was changed, and what another program wrote to it that is in no file now."""
    place = file.place
    if not is_beside(file.beside, place):  # forged: no other file is moved or deleted
        return _state(place) != file.before, None
    beside = place.with_name(file.beside)
    _restore_aside(place)
    remove(beside.with_name(beside.name + STAGED), missing_ok=True)
    if not exists(beside):
        return _state(place) != file.before, None
    body = read_bytes(beside)
    displaced = None
    if content_name(body) == file.after:
        was_changed = _state(place) == file.after
    elif content_name(body) == file.before:
        was_changed = True
    else:  # another program's
        was_changed = False
        if _state(place) == file.after and file.after:
            exchange(place, beside)
        elif not link_if_free(beside, place):
            displaced, was_changed = body, _state(place) != file.before
    remove(beside, missing_ok=True)
    return was_changed, displaced


def _restore_aside(place: Path) -> None:
    """Puts back what a file system without an exchange had moved aside."""
    for aside in list_files(place.parent, f".{glob.escape(place.name)}.*{ASIDE}"):
        if link_if_free(aside, place):
            remove(aside)


def _state(place: Path) -> str:
    """The SHA-256 of the file; "" where there is none."""
    try:
        return content_name(read_bytes(place))
    except (FileNotFoundError, NotADirectoryError):
        return ""
