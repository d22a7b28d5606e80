"""Makes a snapshot: saves each file in pieces, then writes the manifest.

A backup that is killed leaves pieces without a manifest: earlier snapshots are whole, and the next backup uses those
pieces after comparing them.
"""

import hashlib
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

from foundation.clock import Clock, to_ms
from foundation.files import make_private_folder, open_for_reading, remove, remove_tree, status
from foundation.paths import Workspace
from memory.backup.database import copy_database, workspace_full
from memory.backup.errors import BackupDiskFull, WorkspaceBusy
from memory.backup.pieces import DATABASE_PIECE, FILE_PIECE, cut, encode_piece
from memory.backup.pieces import SUFFIX as PIECE
from memory.backup.place import FULL, BackupPlace, LocalPlace, held
from memory.backup.reminder import LastBackup, record_backup
from memory.backup.retention import Removed, dated_later, readable_snapshots, remove_old, remove_unneeded
from memory.backup.snapshot import SUFFIX, SavedFile, Snapshot, digest_of, encode_snapshot
from memory.backup.sources import Sources, WorkspaceFile
from memory.versions.objects import content_name

_ATTEMPTS = 3
_DATABASE = ".palimpsest/cold.db"


class BackupResult(Struct, frozen=True, kw_only=True):
    """The snapshot that was made, what it cost, and what was removed."""

    snapshot: Snapshot
    new_pieces: int
    new_bytes: int
    """Bytes written, compressed, without the manifest."""
    skipped: tuple[str, ...]
    """Names that are no regular files, links, or too deep paths: not saved."""
    removed: Removed
    dated_later: tuple[str, ...] = ()
    """Ids of snapshots of this workspace that bear a later date, removed or not: the clock was ahead, or is behind."""


def back_up(
    workspace: Workspace,
    place: BackupPlace,
    clock: Clock,
    *,
    device: str,
    program: str,
    packs_at: str = "",
    keep: int = 0,
    on_file: Callable[[int], None] = lambda _: None,
) -> BackupResult:
    """Saves the workspace. With `keep`, only so many snapshots of it stay. `on_file` gets the count of saved files.

    Raises TemporaryFailure, BackupDiskFull, StoreError, OSError; then no snapshot was made.
    """
    make_private_folder(workspace.own)
    with held(workspace.own / "backup.lock"), place.locked():
        earlier, _ = readable_snapshots(place)
        own = [each for each in earlier if each.origin == (device, str(workspace.root))]
        writer, snapshot = _PieceWriter(place, earlier), None
        copies = workspace.own / "backup"
        try:
            remove_tree(copies)
            make_private_folder(copies)
            saved = _save(workspace, writer, own[-1] if own else None, copies, on_file)
            snapshot = Snapshot(
                time_ms=to_ms(clock.now()),
                device=device,
                workspace=str(workspace.root),
                program=program,
                packs_at=packs_at,
                files=saved.files,
                pieces={name: writer.sizes[name] for file in saved.files for name in file.pieces},
                digest=digest_of(saved.files),
            )
            place.sync(name + PIECE for name in writer.new)
            place.write(snapshot.id + SUFFIX, encode_snapshot(snapshot), sync=True)
        except BackupDiskFull:
            if snapshot is not None:  # it may have its name already: what it names goes after it
                place.delete(snapshot.id + SUFFIX)
            writer.take_back()
            raise
        except OSError as error:  # of the workspace: the place has sentences of its own
            if error.errno not in FULL:
                raise
            writer.take_back()
            raise workspace_full(workspace) from error
        finally:
            remove_tree(copies)
        record_backup(workspace, LastBackup(place=place.name, time_ms=snapshot.time_ms, snapshot=snapshot.id))
        later, removed = dated_later(place, snapshot), Removed()
        if keep:
            removed = remove_old(place, keep, snapshot)
        elif isinstance(place, LocalPlace):  # behind fsspec, another device may be writing pieces now
            removed = remove_unneeded(place)
        return BackupResult(
            snapshot=snapshot,
            new_pieces=len(writer.new),
            new_bytes=sum(writer.sizes[name] for name in writer.new),
            skipped=saved.skipped,
            removed=removed,
            dated_later=later,
        )


class _Saved(Struct, frozen=True):
    files: tuple[SavedFile, ...]
    skipped: tuple[str, ...]


def _save(
    workspace: Workspace, writer: "_PieceWriter", last: Snapshot | None, copies: Path, on_file: Callable[[int], None]
) -> _Saved:
    """Saves all files, again where one that the database may refer to was deleted meanwhile."""
    known = {file.path: file for file in last.files} if last else {}
    for _ in range(_ATTEMPTS):
        sources = Sources(workspace)
        files: dict[str, SavedFile] = {}
        bodies: list[WorkspaceFile] = []

        def save_all(found: Iterable[WorkspaceFile], files: dict[str, SavedFile] = files) -> None:
            for source in found:
                if (saved := writer.save(source, known.get(source.name))) is not None:
                    files[source.name] = saved
                    on_file(len(files))

        def save_manifests(sources: Sources = sources, bodies: list[WorkspaceFile] = bodies) -> None:
            save_all(sources.manifests())
            bodies += sources.bodies()

        save_all(sources.notes())
        save_all(sources.state())
        if status(workspace.database) is None:
            save_manifests()
        else:
            copy = copies / "cold.db"
            copy_database(workspace, copy, save_manifests)
            database = writer.save(WorkspaceFile(_DATABASE, copy), None, piece=DATABASE_PIECE)
            remove(copy)
            if database is not None:
                files[_DATABASE] = database
        save_all(source for source in bodies if source.name not in files)
        if all(source.name in files for source in bodies):
            return _Saved(tuple(sorted(files.values(), key=lambda file: file.path)), tuple(sorted(sources.skipped)))
    raise WorkspaceBusy(
        "The workspace is busy",
        f"Packs or versions in {workspace.root} were replaced in each of {_ATTEMPTS} attempts. No snapshot was made.",
        "Run it again in a minute.",
    )


class _PieceWriter:
    """Writes the pieces that the place lacks. `sizes`: stored bytes of each piece that is known to be there."""

    def __init__(self, place: BackupPlace, earlier: Iterable[Snapshot]) -> None:
        self._place = place
        self._there = place.sizes()
        self.new: dict[str, None] = {}
        self.sizes: dict[str, int] = {
            name: size
            for snapshot in earlier
            for name, size in snapshot.pieces.items()
            if self._there.get(name + PIECE) == size
        }

    def save(self, source: WorkspaceFile, last: SavedFile | None, *, piece: int = FILE_PIECE) -> SavedFile | None:
        """Saves one file; None where it was deleted meanwhile. One that changes while it is read is read once more."""
        try:
            before = _state_of(source.path)
            if last is not None and self._is_unchanged(before, last):
                return last
            saved = self._read(source, before, piece)
            if (after := _state_of(source.path)) != before:
                saved = self._read(source, after, piece)
        except FileNotFoundError:
            return None
        return saved

    def take_back(self) -> None:
        """Deletes the pieces of this run: the disk is full."""
        for name in self.new:
            self._place.delete(name + PIECE)

    def _is_unchanged(self, state: "_FileState", last: SavedFile) -> bool:
        return state == _FileState(last.size, last.mode, last.mtime_ns, last.ctime_ns) and all(
            name in self.sizes for name in last.pieces
        )

    def _read(self, source: WorkspaceFile, state: "_FileState", piece: int) -> SavedFile:
        digest, size, names = hashlib.sha256(), 0, list[str]()
        with open_for_reading(source.path) as file:
            for body in cut(file, piece):
                digest.update(body)
                size += len(body)
                names.append(self._put(body))
        return SavedFile(
            path=source.name,
            size=size,
            mode=state.mode,
            mtime_ns=state.mtime_ns,
            ctime_ns=state.ctime_ns,
            sha256=digest.hexdigest(),
            pieces=tuple(names),
        )

    def _put(self, body: bytes) -> str:
        name = content_name(body)
        if name in self.sizes:
            return name
        stored = encode_piece(body)
        left = self._there.get(name + PIECE) == len(stored) and self._place.holds(name + PIECE, stored)
        if not left:  # otherwise a backup that was cut short wrote it
            self._place.write(name + PIECE, stored)
        self.sizes[name] = len(stored)
        self.new[name] = None
        return name


class _FileState(Struct, frozen=True):
    """By which a change is seen."""

    size: int
    mode: int
    mtime_ns: int
    ctime_ns: int


def _state_of(path: Path) -> _FileState:
    found = status(path)
    if found is None:
        raise FileNotFoundError(str(path))
    return _FileState(found.st_size, stat.S_IMODE(found.st_mode), found.st_mtime_ns, found.st_ctime_ns)
