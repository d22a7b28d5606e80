"""Who writes an answer in flight: a process, known by a lock file that it holds while it lives.

A number of a process may be given to another; a lock cannot outlive its holder.
"""

import threading
from contextlib import suppress
from pathlib import Path

from foundation.files import FileLock, LockTimeout, exists, make_private_folder, remove
from foundation.names import OWNER
from memory.names import vetted
from memory.records import new_id


class Owner:
    """One open store of one process. `folder` is made when the first answer begins."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = new_id("w")
        self._lock: FileLock | None = None
        self._making = threading.Lock()

    def hold(self) -> str:
        """The name, with its lock taken: from here on `is_gone(name)` is False everywhere."""
        with self._making:
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
        """Removes the file of a name that is gone; where another process looks at it just now, that one will."""
        with suppress(PermissionError):  # Windows removes no file that is open
            remove(self._file(name), missing_ok=True)

    def release(self) -> None:
        """Lets go of the lock."""
        with self._making:
            if self._lock is not None:
                self._lock.release()
                self.forget(self.name)
                self._lock = None

    def _file(self, name: str) -> Path:
        """The lock file of a writer. Raises ForgedName for what is no writer's name."""
        return self._folder / f"{vetted(OWNER, name, 'table answers')}.lock"
