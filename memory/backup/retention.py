"""Removes snapshots beyond a number, and pieces that no snapshot needs."""

from msgspec import Struct

from memory.backup.errors import BackupDamaged, NewerBackup
from memory.backup.pieces import SUFFIX as PIECE
from memory.backup.place import BackupPlace
from memory.backup.snapshot import SUFFIX, Snapshot, read_snapshot


class Removed(Struct, frozen=True):
    """Numbers of removed snapshots and pieces, and the bytes that they took."""

    snapshots: int = 0
    pieces: int = 0
    bytes: int = 0


def readable_snapshots(place: BackupPlace) -> tuple[list[Snapshot], list[BackupDamaged | NewerBackup]]:
    """The snapshots, oldest first, and why others cannot be read."""
    found, unreadable = list[Snapshot](), list[BackupDamaged | NewerBackup]()
    for name in sorted(name for name in place.sizes() if name.endswith(SUFFIX)):
        try:
            found.append(read_snapshot(place, name.removesuffix(SUFFIX)))
        except (BackupDamaged, NewerBackup) as error:
            unreadable.append(error)
    return found, unreadable


def dated_later(place: BackupPlace, made: Snapshot) -> tuple[str, ...]:
    """The ids of the snapshots of the same workspace that bear a later date than the one just made."""
    snapshots, _ = readable_snapshots(place)
    return tuple(each.id for each in _others(snapshots, made) if each.time_ms > made.time_ms)


def remove_old(place: BackupPlace, keep: int, made: Snapshot) -> Removed:
    """Removes all but the newest `keep` snapshots of one workspace, then what nothing needs any more.

    `made`, the snapshot of this run, is the newest and stays. One that bears a later date was made while the clock was
    ahead: it goes first.
    """
    snapshots, _ = readable_snapshots(place)
    others = sorted(_others(snapshots, made), key=lambda each: (each.time_ms <= made.time_ms, each.time_ms))
    old = [*others, made][:-keep]
    sizes = place.sizes()
    for snapshot in old:
        place.delete(snapshot.id + SUFFIX)
    rest = remove_unneeded(place)
    manifests = sum(sizes.get(snapshot.id + SUFFIX, 0) for snapshot in old)
    return Removed(len(old), rest.pieces, rest.bytes + manifests)


def _others(snapshots: list[Snapshot], made: Snapshot) -> list[Snapshot]:
    return [each for each in snapshots if each.origin == made.origin and each.id != made.id]


def remove_unneeded(place: BackupPlace) -> Removed:
    """Removes pieces that no snapshot needs; none while a snapshot cannot be read, for what it needs is unknown."""
    snapshots, unreadable = readable_snapshots(place)
    if unreadable:
        return Removed()
    needed = {name + PIECE for snapshot in snapshots for name in snapshot.pieces}
    unneeded = {name: size for name, size in place.sizes().items() if name.endswith(PIECE) and name not in needed}
    for name in unneeded:
        place.delete(name)
    return Removed(0, len(unneeded), sum(unneeded.values()))
