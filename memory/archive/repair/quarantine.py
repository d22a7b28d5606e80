"""Quarantine: before any repair a copy of the damaged file is stored in `.palimpsest/damaged/`, under the date."""

import itertools
import secrets
from datetime import datetime
from pathlib import Path

import apsw

from foundation.files import (
    child,
    exists,
    make_private_file,
    make_private_folder,
    read_bytes,
    replace,
    sync_folder,
    write_atomically,
)
from memory.archive.packs.storage import Storage
from memory.cold import ColdStore
from memory.cold.connection import open_store


class Quarantine:
    """The folder of one repair, created with its first file."""

    def __init__(self, folder: Path, now: datetime) -> None:
        name = now.strftime("%Y%m%d-%H%M%S")
        names = (name if count == 1 else f"{name}-{count}" for count in itertools.count(1))
        self.folder = next(folder / candidate for candidate in names if not exists(folder / candidate))
        self._database_kept = False

    @property
    def place(self) -> Path | None:
        """Path of the folder; None while it is empty."""
        return self.folder if exists(self.folder) else None

    def copy_file(self, storage: Storage, name: str) -> None:
        """Copies a file of the archive, unchanged."""
        self._make()
        write_atomically(child(self.folder, name), storage.read(name))

    def copy_path(self, path: Path) -> None:
        """Copies a file of the workspace, unchanged."""
        self._make()
        write_atomically(self.folder / f"{path.parent.name}-{path.name}", read_bytes(path, owned=True))

    def move_in(self, path: Path) -> Path:
        """Moves a file here, under a generated name; gives its path."""
        self._make()
        target = self.folder / f"{path.parent.name}-{secrets.token_hex(6)}.md"
        replace(path, target)
        sync_folder(self.folder)
        return target

    def copy_database(self, cold: ColdStore) -> None:
        """Copies the store by SQLite's own backup, once per repair."""
        if self._database_kept:
            return
        self._make()
        target = self.folder / cold.database.name
        if exists(target):  # the damaged file itself, put there when a new store was made of it
            target = target.with_suffix(".rebuilt.db")
        make_private_file(target)
        copy = open_store(target)
        try:
            cold.read(lambda db: _copied(db, copy))
        finally:
            copy.close()
        sync_folder(self.folder)
        self._database_kept = True

    def _make(self) -> None:
        make_private_folder(self.folder.parent)
        make_private_folder(self.folder)


def _copied(db: apsw.Connection, copy: apsw.Connection) -> None:
    with copy.backup("main", db, "main") as backup:
        while not backup.done:
            backup.step(1000)
