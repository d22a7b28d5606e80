"""Reads a whole backup and compares all that a restore would."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable

from msgspec import Struct

from memory.backup.errors import BackupDamaged
from memory.backup.pieces import SUFFIX as PIECE
from memory.backup.pieces import read_piece
from memory.backup.place import BackupPlace
from memory.backup.retention import readable_snapshots
from memory.backup.snapshot import SavedFile, is_piece, snapshot_ids, sort_files

_NAMED = 5  # files of a damaged piece


class BackupProblem(Struct, frozen=True):
    """What is wrong, as a sentence, with the ids of the snapshots and the paths of the files that are affected."""

    message: str
    snapshots: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class BackupReport(Struct, frozen=True):
    """What was read, and what is wrong. `unneeded` counts pieces of backups that did not finish."""

    snapshots: int
    pieces: int
    bytes: int
    unneeded: int
    problems: tuple[BackupProblem, ...]


def check_backup(place: BackupPlace, on_piece: Callable[[int], None] = lambda _: None) -> BackupReport:
    """Reads everything at the place. Changes nothing. Raises NotABackup, BackupUnreachable."""
    snapshot_ids(place)
    sizes = place.sizes()
    snapshots, unreadable = readable_snapshots(place)
    problems = [BackupProblem(error.message) for error in unreadable]
    versions = defaultdict[str, defaultdict[SavedFile, list[str]]](lambda: defaultdict(list))
    for snapshot in snapshots:
        files, refused = sort_files(snapshot)
        problems += [BackupProblem(f"{snapshot.id}: {each.why}", (snapshot.id,), (each.path,)) for each in refused]
        for file in files:
            versions[file.path][file].append(snapshot.id)
    pieces = _Pieces(place, on_piece)
    for path, files in versions.items():
        problems += [
            BackupProblem(f"{path} is not what was saved: it has another hash or size.", tuple(files[file]), (path,))
            for file in _differing(files, pieces)
        ]
    needed = {name for snapshot in snapshots for name in snapshot.pieces if is_piece(name)}
    for name in sorted(needed - pieces.seen):  # of files that are not restored
        pieces.read(name)
    uses = [(file, ids) for files in versions.values() for file, ids in files.items()]
    problems += [_affected(error, name, uses) for name, error in pieces.damaged.items()]
    size = sum(sizes.get(name + PIECE, 0) for name in needed)
    stored = sum(name.endswith(PIECE) for name in sizes)
    missing = sum(name + PIECE not in sizes for name in needed)
    return BackupReport(len(snapshots), len(needed), size, stored - (len(needed) - missing), tuple(problems))


class _Pieces:
    """Reads pieces, counts them in `seen`, and keeps the last one. `damaged`: why some cannot be read."""

    def __init__(self, place: BackupPlace, on_piece: Callable[[int], None]) -> None:
        self._place = place
        self._on_piece = on_piece
        self._last = ("", b"")
        self.seen = set[str]()
        self.damaged: dict[str, BackupDamaged] = {}

    def read(self, name: str) -> bytes | None:
        """The piece; None if it is damaged."""
        if name not in self.seen:
            self.seen.add(name)
            self._on_piece(len(self.seen))
        if name != self._last[0] and name not in self.damaged:
            try:
                self._last = (name, read_piece(self._place, name))
            except BackupDamaged as error:
                self.damaged[name] = error
        return self._last[1] if name == self._last[0] else None


def _differing(files: Iterable[SavedFile], pieces: _Pieces) -> set[SavedFile]:
    """The versions of one file whose intact pieces are not what was saved.

    All are hashed at once, position by position: versions of a database share most pieces, each read once.
    """
    hashes = {file: hashlib.sha256() for file in files}
    sizes = dict.fromkeys(hashes, 0)
    for position in range(max(len(file.pieces) for file in hashes)):
        users = defaultdict[str, list[SavedFile]](list)
        for file in hashes:
            if position < len(file.pieces):
                users[file.pieces[position]].append(file)
        for name, sharing in users.items():
            if (body := pieces.read(name)) is None:
                for file in sharing:
                    del hashes[file]
                continue
            for file in sharing:
                hashes[file].update(body)
                sizes[file] += len(body)
    return {file for file, digest in hashes.items() if (digest.hexdigest(), sizes[file]) != (file.sha256, file.size)}


def _affected(error: BackupDamaged, name: str, uses: Iterable[tuple[SavedFile, list[str]]]) -> BackupProblem:
    using = [(file, ids) for file, ids in uses if name in file.pieces]
    files = sorted({file.path for file, _ in using})
    more = f" and {len(files) - _NAMED:,} more" if len(files) > _NAMED else ""
    named = ", ".join(files[:_NAMED]) + more
    snapshots = sorted({id_ for _, ids in using for id_ in ids})
    part = f" It is part of {named}." if named else ""
    return BackupProblem(error.message + part, tuple(snapshots), tuple(files))
