"""Where segments are: a folder, S3 or a host over SSH, as for backups."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from foundation.names import SEGMENT
from memory.backup.place import BackupPlace, PlaceKind, open_place

SYNC: Final = PlaceKind(SEGMENT, "sync", "sync.lock", "palimpsest-sync.txt", b"PSS")


def open_sync_place(address: str, here: Path, workspace: Sequence[Path] = ()) -> BackupPlace:
    """The location at that address. Raises UnusableFolder for one inside of the workspace, Misuse, MissingLibrary."""
    return open_place(address, here, workspace, SYNC)
