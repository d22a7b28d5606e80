"""The files of a backup, by name: in a local folder, or behind fsspec.

All are in one flat folder, so that a copy of it made with any tool is a backup, too.
"""

import errno
import os
import stat
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from foundation.errors import PalimpsestError
from foundation.files import (
    FileLock,
    FileTooLarge,
    LockTimeout,
    UnsafePath,
    is_folder,
    list_files,
    list_names,
    make_private_folder,
    open_for_reading,
    read_bytes,
    remove,
    resolve_path,
    scan,
    sync_file,
    sync_folder,
    write_atomically,
)
from foundation.names import BACKUP_FILE, Grammar
from foundation.paths import expand_home
from foundation.program import PROGRAM
from memory.archive.packs.addresses import remote_storage
from memory.archive.packs.remote import LONGEST_FILE, RemoteStorage
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
_MARK = b"Devices sync by this folder. Leave this file: it shows that the disk is mounted.\n"
_PASSING = (".", "~")  # what a program that carries files is still writing
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


class PlaceKind(Struct, frozen=True):
    """What a place is for: the names of its files, and the noun for a person. `marker` is a file that a folder has once
    it was made: an empty folder without it is one where a disk is not mounted. `magic` begins each file."""

    grammar: Grammar
    noun: str
    lock: str
    marker: str = ""
    magic: bytes = b""


BACKUP = PlaceKind(BACKUP_FILE, "backup", LOCK)


class BackupPlace(Protocol):
    """A flat folder of pieces and snapshots. Each method raises BackupUnreachable where the place does not answer."""

    @property
    def name(self) -> str:
        """The location, for a person."""
        ...

    def sizes(self) -> dict[str, int]:
        """Every file's size in bytes, by name."""
        ...

    def foreign(self) -> list[str]:
        """What has the name of a file and is none: a folder, a link, a pipe."""
        ...

    def copies(self) -> list[str]:
        """Files with other names that begin as one of the place does: what carries files keeps such copies."""
        ...

    def read(self, name: str) -> bytes:
        """The file. Raises BackupDamaged if it is missing, or longer than LONGEST_FILE."""
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

    def make(self) -> None:
        """Creates the place, or says why that cannot be done."""
        ...

    def require(self) -> None:
        """Raises BackupUnreachable where the place was made and is not there now."""
        ...

    def remove_temporary(self, beginning: str = "") -> None:
        """Deletes what a killed writer left of files whose names begin so."""
        ...

    def locked(self) -> AbstractContextManager[None]:
        """Locks the place for writing, where that can be done; creates it. Raises BackupInUse."""
        ...


class LocalPlace:
    """A folder on this machine."""

    def __init__(self, folder: Path, kind: PlaceKind = BACKUP) -> None:
        self.folder = folder
        self._kind = kind

    @property
    def name(self) -> str:
        return str(self.folder)

    def sizes(self) -> dict[str, int]:
        with self._sentences("read"):
            return {path.name: status.st_size for path, status in self._named() if stat.S_ISREG(status.st_mode)}

    def foreign(self) -> list[str]:
        with self._sentences("read"):
            return [path.name for path, status in self._named() if not stat.S_ISREG(status.st_mode)]

    def copies(self) -> list[str]:
        magic = self._kind.magic
        with self._sentences("read"):
            others = [path for path, status in scan(self.folder) if stat.S_ISREG(status.st_mode)] if magic else []
            others = [path for path in others if not self._kind.grammar.fits(path.name)]
            return [path.name for path in others if not path.name.startswith(_PASSING) and _begins(path, magic)]

    def read(self, name: str) -> bytes:
        try:
            with self._sentences("read"):
                return self._read(name)
        except FileNotFoundError as error:
            raise BackupDamaged(
                f"A file of the {self._kind.noun} is missing", f"There is no file {self._file(name)}."
            ) from error

    def _read(self, name: str) -> bytes:
        """The file. Raises BackupDamaged for one that somebody else made unreadable: the others are read."""
        try:
            return read_bytes(self._file(name), most=LONGEST_FILE)
        except (FileTooLarge, UnsafePath, PermissionError) as error:
            why = error.message if isinstance(error, PalimpsestError) else f"{self._file(name)}: {error.strerror}."
            raise BackupDamaged(f"A file of the {self._kind.noun} cannot be read", why) from error

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
        self.make()
        with ExitStack() as stack:
            with self._sentences("written"):
                stack.enter_context(held(self.folder / self._kind.lock, self._kind.noun))
            self.remove_temporary()
            yield

    def make(self) -> None:
        with self._sentences("written"):
            self._make()
            marker = self._kind.marker
            if marker and marker not in list_names(self.folder):
                write_atomically(self.folder / marker, _MARK)
            for path in list_files(self.folder, f".{marker}*.tmp") if marker else ():
                remove(path, missing_ok=True)  # of one that was killed

    def require(self) -> None:
        with self._sentences("read"):
            names = list_names(self.folder)
        if self._kind.marker not in names and not any(map(self._kind.grammar.fits, names)):
            raise BackupUnreachable(
                f"The {self._kind.noun} location does not exist",
                f"{self.folder} does not exist or is a different folder. Nothing was read or written.",
                f"Is the disk mounted? To start over, use `{PROGRAM} {self._kind.noun} remove` and then `add`.",
            )

    def remove_temporary(self, beginning: str = "") -> None:
        with self._sentences("written"):
            for path in list_files(self.folder, f".{beginning}*.tmp"):
                remove(path, missing_ok=True)

    def _named(self) -> list[tuple[Path, os.stat_result]]:
        return [(path, status) for path, status in scan(self.folder) if self._kind.grammar.fits(path.name)]

    def _make(self) -> None:
        if not is_folder(self.folder.parent):
            raise BackupUnreachable(
                f"The {self._kind.noun} location does not exist",
                f"There is no folder {self.folder.parent}.",
                "Mount the disk, or create that folder first.",
            )
        names = [
            name
            for name in list_names(self.folder)
            if name not in {self._kind.lock, self._kind.marker} and not name.startswith(".")
        ]
        if names and not any(map(self._kind.grammar.fits, names)):
            raise NotABackup(
                f"Not a {self._kind.noun}",
                f"{self.folder} contains other files, such as {names[0]!r}, and no {self._kind.noun}.",
                "Choose an empty folder, or one that does not exist yet.",
            )
        make_private_folder(self.folder)

    def _file(self, name: str) -> Path:
        return self.folder / vetted(self._kind.grammar, name, f"The {self._kind.noun}")

    def _full(self) -> BackupDiskFull:
        if self._kind is not BACKUP:
            kept, hint = "Existing files were not changed.", "Free some space there, then run it again."
        else:
            kept = "No snapshot was made; earlier ones are intact."
            hint = "Free some space there, or keep fewer snapshots (`--keep N`), then run it again."
        return BackupDiskFull("The disk is full", f"No space is left at {self.folder}. {kept}", hint)

    @contextmanager
    def _sentences(self, done: str) -> Generator[None]:
        try:
            yield
        except (FileNotFoundError, BackupUnreachable, NotABackup):
            raise
        except OSError as error:
            if error.errno in FULL:
                raise self._full() from error
            if error.errno in _REFUSED and done == "written":
                raise BackupUnreachable(
                    f"The {self._kind.noun} cannot be written to",
                    f"Nothing can be written in {self.folder}: {error.strerror or error}. Existing files "
                    "were not changed.",
                    "Mount the disk for writing, give yourself write permission, or choose another location.",
                ) from error
            raise BackupUnreachable(
                f"The {self._kind.noun} cannot be used",
                f"{self.folder} cannot be {done}: {error.strerror or error}.",
                "Look at its rights, and whether the disk is mounted. Existing files were not changed.",
            ) from error


class RemotePlace:
    """A folder behind fsspec. A file is put there whole or not at all."""

    def __init__(self, storage: RemoteStorage, noun: str = BACKUP.noun) -> None:
        self._storage = storage
        self._noun = noun

    @property
    def name(self) -> str:
        return self._storage.place

    def sizes(self) -> dict[str, int]:
        with self._sentences():
            return self._storage.sizes()

    def foreign(self) -> list[str]:
        return []

    def copies(self) -> list[str]:
        return []

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

    def make(self) -> None:
        self.require()

    def require(self) -> None:
        self.sizes()  # says now whether it answers

    def remove_temporary(self, beginning: str = "") -> None:
        """Does nothing: a file is put there whole or not at all."""

    @contextmanager
    def locked(self) -> Generator[None]:
        self.make()
        yield

    @contextmanager
    def _sentences(self) -> Generator[None]:
        try:
            yield
        except StorageUnreachable as error:
            why = error.message.removesuffix(" Nothing was deleted.")
            raise BackupUnreachable(
                f"The {self._noun} cannot be reached",
                why,
                "Check the address, your network and your keys, then try again.",
            ) from error
        except Damaged as error:
            raise BackupDamaged(f"A file of the {self._noun} is missing", error.message) from error


def _begins(path: Path, magic: bytes) -> bool:
    with suppress(OSError), open_for_reading(path) as file:
        return file.read(len(magic)) == magic
    return False


def open_place(address: str, here: Path, saved: Sequence[Path] = (), kind: PlaceKind = BACKUP) -> BackupPlace:
    """The place at that address: s3://bucket/prefix, ssh://host/folder, or a folder.

    `saved` are the folders that are backed up. Raises UnusableFolder for one inside of them, Misuse, MissingLibrary.
    """
    if (storage := remote_storage(address, kind.grammar)) is not None:
        return RemotePlace(storage, kind.noun)
    if "://" in address or not address.strip():
        raise UnusableFolder(
            f"No location for a {kind.noun}",
            f"{address!r} is not a valid location.",
            "Use a folder, s3://bucket/prefix or ssh://host/folder.",
        )
    folder = resolve_path(here / expand_home(address))
    if (within := next((each for each in saved if folder.is_relative_to(each)), None)) is not None:
        raise UnusableFolder(
            f"The {kind.noun} would be in the workspace",
            f"{folder} is inside {within}, so both could be lost together.",
            "Choose a folder elsewhere, preferably on another disk.",
        )
    return LocalPlace(folder, kind)


@contextmanager
def held(lock: Path, noun: str = BACKUP.noun) -> Generator[None]:
    """Holds the lock for the block. Raises BackupInUse."""
    taken = FileLock(lock, timeout=0)
    try:
        taken.acquire()
    except LockTimeout as error:
        raise BackupInUse(
            f"A {noun} is running", f"Another process has locked {lock}.", "Try again when it has finished."
        ) from error
    try:
        yield
    finally:
        taken.release()
