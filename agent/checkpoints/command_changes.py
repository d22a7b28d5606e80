"""Notices what a command changed in files that tools changed before, so that undo goes back past a formatter.

Files that no tool changed are not looked at: what a command does to them is not undone.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.checkpoints.blobs import Blobs
from agent.checkpoints.change import ChangedFile, CheckpointRecord
from foundation.errors import PalimpsestError
from foundation.files import read_bytes, status
from foundation.files.conditional import permission_bits

MOST_FILES: Final = 500
MOST_FILE_BYTES: Final = 20_000_000


class TrackedFile(Struct, frozen=True):
    """A file before a command: the version that is kept, and what a change of it shows in."""

    folder: str
    path: str
    version: str
    mode: int | None
    signature: tuple[int, int, int] | None

    @property
    def place(self) -> Path:
        return Path(self.folder, self.path)


def tracked_files(records: Iterable[CheckpointRecord], blobs: Blobs) -> tuple[TrackedFile, ...]:
    """The files of the checkpoints as they are now, each kept as a version; where there are many, the last ones."""
    files = {file.place: file for record in records for file in record.files}
    tracked: list[TrackedFile] = []
    for place, file in list(files.items())[-MOST_FILES:]:
        try:
            signature = _signature(place)
            version = "" if signature is None else blobs.put(read_bytes(place, most=MOST_FILE_BYTES))
        except (PalimpsestError, OSError):  # no regular file, or too large: it is not looked at
            continue
        tracked.append(TrackedFile(file.folder, file.path, version, permission_bits(place), signature))
    return tuple(tracked)


def changed_files(tracked: Iterable[TrackedFile], blobs: Blobs) -> tuple[ChangedFile, ...]:
    """Those that are not as they were, each with both versions kept."""
    changed: list[ChangedFile] = []
    for file in tracked:
        try:
            if (signature := _signature(file.place)) == file.signature:
                continue
            version = "" if signature is None else blobs.put(read_bytes(file.place, most=MOST_FILE_BYTES))
            bits = permission_bits(file.place)
        except (PalimpsestError, OSError):
            continue
        if version != file.version:
            changed.append(
                ChangedFile(
                    folder=file.folder,
                    path=file.path,
                    before=file.version,
                    after=version,
                    mode_before=file.mode,
                    mode_after=bits,
                )
            )
    return tuple(changed)


def _signature(place: Path) -> tuple[int, int, int] | None:
    """Size, time of change and number of the file; None where there is none."""
    found = status(place)
    return None if found is None else (found.st_size, found.st_mtime_ns, found.st_ino)
