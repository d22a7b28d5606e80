"""The manifest of one backup. It is written last, so that what it lists is stored whole."""

import hashlib
import re
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Final

import msgspec
from msgspec import Struct

from foundation.clock import parse_ms
from foundation.typed_json import decode_json
from memory.backup.errors import BackupDamaged, NewerBackup, NotABackup
from memory.backup.place import BackupPlace
from memory.backup.sources import is_savable
from memory.errors import Damaged
from memory.versions.objects import checked, unchecked
from memory.zstd import packer, unpack

SUFFIX: Final = ".snapshot"
_FAMILY: Final = b"PBS"
_MAGIC: Final = b"PBS1"
_MOST: Final = 512 * 2**20  # bytes of a manifest
_PIECE: Final = re.compile(r"[0-9a-f]{64}")
_MOST_PIECE: Final = 2**20  # bytes of a piece, as memory.backup.pieces has them
_SHOWN: Final = 80  # characters of a path in a sentence


class SavedFile(Struct, frozen=True, kw_only=True):
    """A file: its path in the workspace with `/`, bytes, mode, and the names of its pieces in order.

    `mtime_ns` and `ctime_ns` are of the file that was read, 0 for the copy of the database: an unchanged one is not
    read again.
    """

    path: str
    size: int
    mode: int
    mtime_ns: int
    ctime_ns: int
    sha256: str
    pieces: tuple[str, ...]


class Snapshot(Struct, frozen=True, kw_only=True):
    """What one backup holds. `pieces` has the stored size of each piece, by name."""

    time_ms: int
    device: str
    workspace: str
    """The folder that was saved."""
    program: str
    """The version of the program that made it."""
    packs_at: str = ""
    """Where packs are that are not in the workspace, and so not in the backup; "" for none."""
    files: tuple[SavedFile, ...]
    pieces: dict[str, int]
    digest: str
    """SHA-256 over the paths and contents of all files."""

    @property
    def time(self) -> datetime:
        return parse_ms(self.time_ms)

    @property
    def id(self) -> str:
        """`20260314T092653123Z-3f2a9c01`: the time to the millisecond, so that the names are in order."""
        key = f"{self.digest} {self.device} {self.workspace} {self.time_ms}"
        return f"{self.time:%Y%m%dT%H%M%S}{self.time_ms % 1000:03}Z-{hashlib.sha256(key.encode()).hexdigest()[:8]}"

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def origin(self) -> tuple[str, str]:
        """Which workspace on which device."""
        return self.device, self.workspace


def digest_of(files: tuple[SavedFile, ...]) -> str:
    """The digest of a snapshot of these files."""
    lines = (f"{file.sha256} {file.size} {file.mode} {file.path}\n" for file in files)
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def encode_snapshot(snapshot: Snapshot) -> bytes:
    return checked(_MAGIC, packer()(msgspec.json.encode(snapshot)))


def read_snapshot(place: BackupPlace, id: str) -> Snapshot:  # noqa: A002 - the word of the command line
    """The snapshot. Raises BackupDamaged, NewerBackup."""
    stored = place.read(id + SUFFIX)
    if stored[:3] == _FAMILY and stored[3:4].isdigit() and stored[3:4] > _MAGIC[3:]:
        raise NewerBackup(
            "A newer backup",
            f"A newer version of this program wrote {id} at {place.name}.",
            "Install that version to read it. It was not changed.",
        )
    frame = unchecked(_MAGIC, stored)
    try:
        if frame is not None:
            snapshot = decode_json(unpack(frame, limit=_MOST), Snapshot)
            if snapshot.id == id and snapshot.digest == digest_of(snapshot.files):
                return snapshot
    except (Damaged, msgspec.DecodeError, OSError, OverflowError, ValueError):  # a time that is none
        pass
    raise damaged_snapshot(place, id, "was changed or damaged.")


def damaged_snapshot(place: BackupPlace, id: str, why: str) -> BackupDamaged:  # noqa: A002 - the word of the command line
    """The error for a snapshot of which nothing can be restored."""
    return BackupDamaged(
        "A snapshot is damaged",
        f"{id}{SUFFIX} at {place.name} {why}",
        "Another snapshot may be intact: `backup list` shows them, `backup restore --at ID` restores one.",
    )


def snapshot_ids(place: BackupPlace) -> list[str]:
    """The ids of all snapshots, oldest first. Raises NotABackup where there is none."""
    ids = sorted(name.removesuffix(SUFFIX) for name in place.sizes() if name.endswith(SUFFIX))
    if not ids:
        raise NotABackup(
            "Not a backup",
            f"There is no snapshot at {place.name}.",
            "Check the address and whether the disk is mounted.",
        )
    return ids


class RefusedFile(Struct, frozen=True):
    """A file of a snapshot that no restore writes, and why, as a sentence."""

    path: str
    why: str


def sort_files(snapshot: Snapshot) -> tuple[list[SavedFile], list[RefusedFile]]:
    """The files of a snapshot that may be restored, and those that no backup has written: a snapshot is input of
    whoever can write to the place."""
    paths = {file.path for file in snapshot.files}
    sound, refused, seen = list[SavedFile](), list[RefusedFile](), set[str]()
    for file in snapshot.files:
        if why := _forged_part(file, snapshot, paths, seen):
            refused.append(RefusedFile(file.path, why))
        else:
            sound.append(file)
        seen.add(file.path)
    return sound, refused


def _forged_part(file: SavedFile, snapshot: Snapshot, paths: Collection[str], seen: Collection[str]) -> str:
    """What of the file no backup has written, as a sentence; "" if a backup may have written it."""
    path = repr(file.path if len(file.path) <= _SHOWN else file.path[:_SHOWN] + "…")
    if not is_savable(file.path):
        return f"it has a file at {path}, where no backup has one."
    if file.path in seen or any(above in paths for above in _folders_above(file.path)):
        return f"it has two files at {path}, or one below another file."
    if not 0 <= file.size <= len(file.pieces) * _MOST_PIECE:
        return f"the size of {path}, {file.size:,} bytes, is not that of its pieces."
    if not abs(file.mtime_ns) < 2**63:
        return f"the time of {path} is none that a file has."
    if not all(is_piece(name) and name in snapshot.pieces for name in file.pieces):
        return f"{path} names a piece that no backup has."
    return ""


def is_piece(name: str) -> bool:
    """Whether a piece may have this name."""
    return bool(_PIECE.fullmatch(name))


def _folders_above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
