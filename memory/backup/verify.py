"""Reads a whole backup: each snapshot, and each piece once."""

from collections.abc import Callable

from msgspec import Struct

from memory.backup.errors import BackupDamaged
from memory.backup.pieces import SUFFIX as PIECE
from memory.backup.pieces import read_piece
from memory.backup.place import BackupPlace
from memory.backup.retention import readable_snapshots
from memory.backup.snapshot import Snapshot, snapshot_ids

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
    needed = sorted({name for snapshot in snapshots for name in snapshot.pieces})
    size = 0
    for count, name in enumerate(needed, 1):
        try:
            read_piece(place, name)
        except BackupDamaged as error:
            problems.append(_affected(error, name, snapshots))
        size += sizes.get(name + PIECE, 0)
        on_piece(count)
    stored = sum(name.endswith(PIECE) for name in sizes)
    missing = sum(name + PIECE not in sizes for name in needed)
    return BackupReport(len(snapshots), len(needed), size, stored - (len(needed) - missing), tuple(problems))


def _affected(error: BackupDamaged, name: str, snapshots: list[Snapshot]) -> BackupProblem:
    using = [snapshot for snapshot in snapshots if name in snapshot.pieces]
    files = sorted({file.path for snapshot in using for file in snapshot.files if name in file.pieces})
    more = f" and {len(files) - _NAMED:,} more" if len(files) > _NAMED else ""
    named = ", ".join(files[:_NAMED]) + more
    return BackupProblem(f"{error.message} It is part of {named}.", tuple(s.id for s in using), tuple(files))
