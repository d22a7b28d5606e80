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


def remove_old(place: BackupPlace, keep: int, origin: tuple[str, str]) -> Removed:
    """Removes all but the newest `keep` snapshots of one workspace, then what nothing needs any more."""
    snapshots, _ = readable_snapshots(place)
    old = [snapshot for snapshot in snapshots if snapshot.origin == origin][:-keep]
    sizes = place.sizes()
    for snapshot in old:
        place.delete(snapshot.id + SUFFIX)
    rest = remove_unneeded(place)
    manifests = sum(sizes.get(snapshot.id + SUFFIX, 0) for snapshot in old)
    return Removed(len(old), rest.pieces, rest.bytes + manifests)


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
