"""Ownership of in-progress answers, by a held lock file.

A process id may be reused; a lock cannot outlive its holder.
"""

import threading
from contextlib import suppress
from pathlib import Path

from foundation.files import FileLock, LockTimeout, exists, make_private_folder, remove
from foundation.names import OWNER
from memory.names import vetted
from memory.records import new_id


class Owner:
    """The name and lock of one open store. `folder` is created with the first answer."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = new_id("w")
        self._lock: FileLock | None = None
        self._lock_guard = threading.Lock()

    def hold(self) -> str:
        """Takes the lock and returns the name; from then on `is_gone(name)` is False in every process."""
        with self._lock_guard:
            if self._lock is None:
                make_private_folder(self._folder)
                lock = FileLock(self._file(self.name), timeout=0)
                lock.acquire()
                self._lock = lock
        return self.name

    def is_gone(self, name: str) -> bool:
        """Whether the process that held `name` has ended."""
        if name == self.name:
            return False
        if not exists(self._file(name)):
            return True
        lock = FileLock(self._file(name), timeout=0)
        try:
            lock.acquire()
        except LockTimeout:
            return False
        lock.release()
        return True

    def forget(self, name: str) -> None:
        """Removes the lock file of an ended owner, unless another process has it open (Windows)."""
        with suppress(PermissionError):  # Windows removes no file that is open
            remove(self._file(name), missing_ok=True)

    def release(self) -> None:
        """Releases the lock."""
        with self._lock_guard:
            if self._lock is not None:
                self._lock.release()
                self.forget(self.name)
                self._lock = None

    def _file(self, name: str) -> Path:
        """The lock file of an owner. Raises ForgedName for a name that no store makes."""
        return self._folder / f"{vetted(OWNER, name, 'table answers')}.lock"
