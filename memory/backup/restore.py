"""Restores a snapshot: to a folder beside the target, read back and compared, and only then renamed."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct

from foundation.errors import PalimpsestError
from foundation.files import (
    exists,
    is_folder,
    list_names,
    make_private_folder,
    open_for_reading,
    open_new,
    remove,
    remove_folder,
    remove_tree,
    replace,
    resolve_path,
    status,
    sync_folder,
    touch,
)
from foundation.paths import Workspace
from foundation.sizes import format_size, free_bytes
from memory.backup.errors import BackupDamaged, BackupDiskFull, UnusableFolder
from memory.backup.pieces import FILE_PIECE, cut, read_piece
from memory.backup.place import FULL, BackupPlace, LocalPlace
from memory.backup.reminder import LastBackup, record_backup
from memory.backup.snapshot import RefusedFile, SavedFile, Snapshot, damaged_snapshot, sort_files
from memory.check import CheckReport, check
from memory.settings import ArchiveSettings

_MARK: Final = ".palimpsest-restoring"
"""A file in the folder that a restore writes to: without it nothing there is deleted."""


class _NameTaken(PalimpsestError):
    """Another file of the snapshot has the name, as the disk reads names."""


class RestoreResult(Struct, frozen=True, kw_only=True):
    """What was written, and what the check of the restored workspace found."""

    snapshot: Snapshot
    target: Path
    files: int
    bytes: int
    left_out: tuple[RefusedFile, ...]
    """Files that no backup has written, and damaged ones where it was asked to leave them out."""
    report: CheckReport


def restore(
    place: BackupPlace,
    snapshot: Snapshot,
    target: Path,
    *,
    settings: ArchiveSettings,
    skip_damaged: bool = False,
    on_file: Callable[[int], None] = lambda _: None,
) -> RestoreResult:
    """Writes the snapshot to `target`, which is empty or missing, and checks it as a workspace. It may be neither in
    another workspace nor in the backup.

    Leaves out and names the files that no backup has written. Raises BackupDamaged for a file that is not what was
    saved, unless `skip_damaged` leaves it out; UnusableFolder, BackupDiskFull, BackupUnreachable. Then nothing is at
    `target`.
    """
    target = _empty(target)
    _refuse_within(target, place)
    files, left_out = sort_files(snapshot)
    if left_out and not files:
        raise damaged_snapshot(place, snapshot.id, f"is damaged or forged: {left_out[0].why}")
    needed, free = sum(file.size for file in files), free_bytes(target.parent)
    if free is not None and needed > free:
        raise _disk_full(target, needed)
    partial = target.with_name(f".{target.name}.restoring")
    _begin(partial)
    written = size = 0
    try:
        for file in files:
            try:
                _write(place, file, partial)
            except _NameTaken as error:
                left_out.append(RefusedFile(file.path, error.message))
                continue
            except BackupDamaged as error:
                if not skip_damaged:
                    raise _named(error, file) from error
                left_out.append(RefusedFile(file.path, f"{file.path} is damaged in this snapshot."))
                continue
            written, size = written + 1, size + file.size
            on_file(written)
        remove(partial / _MARK)
        if is_folder(target):
            remove_folder(target)
        replace(partial, target)
        sync_folder(target.parent)
    except BaseException as error:
        remove_tree(partial)
        if isinstance(error, OSError) and error.errno in FULL:
            raise _disk_full(target, needed) from error
        raise
    workspace = Workspace(target)
    if is_folder(workspace.state):
        record_backup(workspace, LastBackup(place=place.name, time_ms=snapshot.time_ms, snapshot=snapshot.id))
    return RestoreResult(
        snapshot=snapshot,
        target=target,
        files=written,
        bytes=size,
        left_out=tuple(left_out),
        report=check(workspace, settings),
    )


def _disk_full(target: Path, needed: int) -> BackupDiskFull:
    return BackupDiskFull(
        "The disk is full",
        f"No space is left in {target.parent} for the restored files ({format_size(needed)}). Nothing was restored.",
        "Free some space there, or choose a folder on another disk.",
    )


def _begin(partial: Path) -> None:
    """Makes the folder that is written to, in place of one that a killed restore left. Raises UnusableFolder for a
    folder that is not a restore's."""
    names = list_names(partial) if is_folder(partial) else []
    if exists(partial) and (not is_folder(partial) or (names and _MARK not in names)):
        raise UnusableFolder(
            "The folder is in use",
            f"{partial} exists and is not from an interrupted restore. It was not changed.",
            "Move it away, or restore to a folder of another name.",
        )
    remove_tree(partial)
    make_private_folder(partial)
    with open_new(partial / _MARK, 0o600):
        pass


def _empty(target: Path) -> Path:
    target = resolve_path(target)
    if exists(target) and (not is_folder(target) or list_names(target)):
        raise UnusableFolder(
            "The folder is not empty",
            f"{target} already exists.",
            "Restore to an empty or new folder.",
        )
    if not is_folder(target.parent):
        raise UnusableFolder("No such folder", f"There is no folder {target.parent}.", "Make it first.")
    return target


def _refuse_within(target: Path, place: BackupPlace) -> None:
    """Raises UnusableFolder for a target inside a workspace, or inside the backup that is restored."""
    if isinstance(place, LocalPlace) and target.is_relative_to(resolve_path(place.folder)):
        raise UnusableFolder(
            "The folder is in the backup",
            f"{target} is inside the backup {place.name}.",
            "Choose a folder elsewhere. Nothing was restored.",
        )
    within = next((folder for folder in target.parents if is_folder(Workspace(folder).state)), None)
    if within is not None:
        raise UnusableFolder(
            "The folder is in a workspace",
            f"{target} is inside the workspace {within}; workspaces cannot be nested.",
            "Choose a folder elsewhere. Nothing was restored.",
        )


def _write(place: BackupPlace, file: SavedFile, root: Path) -> None:
    """Writes one file from its pieces, syncs it, and reads it back. Only skills have programs."""
    path = root.joinpath(*file.path.split("/"))
    mode = file.mode & (0o777 if file.path.startswith("skills/") else 0o666)
    left = file.size
    try:
        make_private_folder(path.parent)
        with open_new(path, mode | 0o600) as target:
            for name in file.pieces:
                body = read_piece(place, name)
                if (left := left - len(body)) < 0:
                    break
                target.write(body)
            target.flush()
            os.fsync(target.fileno())
    except BackupDamaged:
        remove(path)
        raise
    except (FileExistsError, NotADirectoryError) as error:  # a disk that takes a letter and its capital for the same
        raise _NameTaken(
            "Two files of one name",
            f"{file.path} has the name of another file of the snapshot, as the disk of {root.parent} reads names. "
            "A case-sensitive disk takes both.",
        ) from error
    found = status(path)
    if left or found is None or found.st_size != file.size or _digest(path) != file.sha256:
        remove(path)
        raise BackupDamaged("A file was not restored", f"{file.path} reads back differently than it was saved.")
    touch(path, file.mtime_ns / 1e9)


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with open_for_reading(path) as written:
        for body in cut(written, FILE_PIECE):
            digest.update(body)
    return digest.hexdigest()


def _named(error: BackupDamaged, file: SavedFile) -> BackupDamaged:
    return BackupDamaged(
        "The backup is damaged",
        f"{file.path} cannot be restored: {error.message} Nothing was restored.",
        "Another snapshot may be intact (`--at`); `--skip-damaged` restores the other files.",
    )
