"""The files of a backup, by name: in a local folder, or behind fsspec.

All are in one flat folder, so that a copy of it made with any tool is a backup, too.
"""

import errno
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from foundation.files import (
    FileLock,
    LockTimeout,
    is_folder,
    list_files,
    list_names,
    make_private_folder,
    read_bytes,
    remove,
    resolve_path,
    scan,
    sync_file,
    sync_folder,
    write_atomically,
)
from foundation.names import BACKUP_FILE
from foundation.paths import expand_home
from memory.archive.packs.addresses import remote_storage
from memory.archive.packs.remote import RemoteStorage
from memory.backup.errors import (
    BackupDamaged,
    BackupDiskFull,
    BackupInUse,
    BackupUnreachable,
    NotABackup,
    UnusableFolder,
)
from memory.errors import Damaged, StorageUnreachable
from memory.names import vetted

LOCK = "backup.lock"
_FULL = {errno.ENOSPC, errno.EDQUOT}


class BackupPlace(Protocol):
    """A flat folder of pieces and snapshots. Each method raises BackupUnreachable where the place does not answer."""

    @property
    def name(self) -> str:
        """The location, for a person."""
        ...

    def sizes(self) -> dict[str, int]:
        """Every file's size in bytes, by name."""
        ...

    def read(self, name: str) -> bytes:
        """The file. Raises BackupDamaged where it is missing."""
        ...

    def write(self, name: str, data: bytes, *, sync: bool = False) -> None:
        """Writes the file whole or not at all; durable with `sync`, or after it. Raises BackupDiskFull."""
        ...

    def sync(self, names: Iterable[str]) -> None:
        """Makes these files durable."""
        ...

    def delete(self, name: str) -> None:
        """Deletes the file; quiet where there is none."""
        ...

    def holds(self, name: str, data: bytes) -> bool:
        """Whether a file of this size and name holds these bytes. A remote place keeps only what it took whole."""
        ...

    def locked(self) -> AbstractContextManager[None]:
        """Locks the place for writing, where that can be done; creates it. Raises BackupInUse."""
        ...


class LocalPlace:
    """A folder on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def name(self) -> str:
        return str(self.folder)

    def sizes(self) -> dict[str, int]:
        with self._sentences("read"):
            return {path.name: status.st_size for path, status in scan(self.folder) if BACKUP_FILE.fits(path.name)}

    def read(self, name: str) -> bytes:
        try:
            with self._sentences("read"):
                return read_bytes(self._file(name))
        except FileNotFoundError as error:
            raise BackupDamaged("A file of the backup is missing", f"There is no file {self._file(name)}.") from error

    def write(self, name: str, data: bytes, *, sync: bool = False) -> None:
        with self._sentences("written"):
            write_atomically(self._file(name), data, sync=sync)

    def sync(self, names: Iterable[str]) -> None:
        with self._sentences("written"):
            for name in names:
                sync_file(self._file(name))
            sync_folder(self.folder)

    def delete(self, name: str) -> None:
        with self._sentences("written"):
            remove(self._file(name), missing_ok=True)

    def holds(self, name: str, data: bytes) -> bool:
        return self.read(name) == data

    @contextmanager
    def locked(self) -> Generator[None]:
        with self._sentences("written"):
            self._make()
        with held(self.folder / LOCK):
            for path in list_files(self.folder, ".*.tmp"):  # of a backup that was killed
                remove(path, missing_ok=True)
            yield

    def _make(self) -> None:
        if not is_folder(self.folder.parent):
            raise BackupUnreachable(
                "The place of the backup is not there",
                f"There is no folder {self.folder.parent}.",
                "Mount the disk, or make that folder first.",
            )
        names = [name for name in list_names(self.folder) if name != LOCK and not name.startswith(".")]
        if names and not any(map(BACKUP_FILE.fits, names)):
            raise NotABackup(
                "Not a backup",
                f"{self.folder} holds other files, such as {names[0]!r}, and no backup.",
                "Name an empty folder, or one that does not exist yet.",
            )
        make_private_folder(self.folder)

    def _file(self, name: str) -> Path:
        return self.folder / vetted(BACKUP_FILE, name, "The backup")

    @contextmanager
    def _sentences(self, done: str) -> Generator[None]:
        try:
            yield
        except (FileNotFoundError, BackupUnreachable, NotABackup):
            raise
        except OSError as error:
            if error.errno in _FULL:
                raise disk_full(self.name) from error
            raise BackupUnreachable(
                "The backup cannot be used",
                f"{self.folder} cannot be {done}: {error.strerror or error}.",
                "Look at its rights, and whether the disk is mounted. Earlier snapshots were left as they are.",
            ) from error


class RemotePlace:
    """A folder behind fsspec. A file is put there whole or not at all."""

    def __init__(self, storage: RemoteStorage) -> None:
        self._storage = storage

    @property
    def name(self) -> str:
        return self._storage.place

    def sizes(self) -> dict[str, int]:
        with self._sentences():
            return self._storage.sizes()

    def read(self, name: str) -> bytes:
        with self._sentences():
            return self._storage.read(name)

    def write(self, name: str, data: bytes, *, sync: bool = False) -> None:
        with self._sentences():
            self._storage.write(name, data)

    def sync(self, names: Iterable[str]) -> None:
        """Does nothing: a write is durable."""

    def delete(self, name: str) -> None:
        with self._sentences():
            self._storage.delete(name)

    def holds(self, name: str, data: bytes) -> bool:
        return True

    @contextmanager
    def locked(self) -> Generator[None]:
        self.sizes()  # says now whether it answers
        yield

    @contextmanager
    def _sentences(self) -> Generator[None]:
        try:
            yield
        except StorageUnreachable as error:
            why = error.message.removesuffix(" Nothing was let go.")
            raise BackupUnreachable(
                "The backup cannot be reached", why, "Look at the address, your network and your keys, then try again."
            ) from error
        except Damaged as error:
            raise BackupDamaged("A file of the backup is missing", error.message) from error


def open_place(address: str, here: Path, saved: Sequence[Path] = ()) -> BackupPlace:
    """The place at that address: s3://bucket/prefix, ssh://host/folder, or a folder.

    `saved` are the folders that are backed up. Raises UnusableFolder for one inside of them, Misuse, MissingLibrary.
    """
    if (storage := remote_storage(address, BACKUP_FILE)) is not None:
        return RemotePlace(storage)
    if "://" in address or not address.strip():
        raise UnusableFolder(
            "No place for a backup",
            f"{address!r} is no place.",
            "Name a folder, s3://bucket/prefix or ssh://host/folder.",
        )
    folder = resolve_path(here / expand_home(address))
    if (within := next((each for each in saved if folder.is_relative_to(each)), None)) is not None:
        raise UnusableFolder(
            "The backup would be in the workspace",
            f"{folder} lies inside {within}, and what destroys the one destroys the other.",
            "Name a folder elsewhere, best on another disk.",
        )
    return LocalPlace(folder)


@contextmanager
def held(lock: Path) -> Generator[None]:
    """Holds the lock for the block. Raises BackupInUse."""
    taken = FileLock(lock, timeout=0)
    try:
        taken.acquire()
    except LockTimeout as error:
        raise BackupInUse(
            "A backup is running", f"Another process holds {lock}.", "Try again when it has finished."
        ) from error
    try:
        yield
    finally:
        taken.release()


def disk_full(where: str) -> BackupDiskFull:
    """The error for a disk without space."""
    return BackupDiskFull(
        "The disk is full",
        f"No space is left at {where}. No snapshot was made; the earlier ones are whole.",
        "Free some space there, or keep fewer snapshots (`--keep N`), then run it again.",
    )
