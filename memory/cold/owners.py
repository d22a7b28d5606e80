"""Who writes an answer in flight: a process, known by a lock file that it holds while it lives.

A number of a process may be given to another; a lock cannot outlive its holder.
"""

import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.names import OWNER
from memory.cold.ids import new_id
from memory.vetting import vetted

if TYPE_CHECKING:
    from filelock import FileLock


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
                self._folder.mkdir(mode=0o700, exist_ok=True)
                lock = _lock(self._file(self.name))
                lock.acquire()
                self._lock = lock
        return self.name

    def is_gone(self, name: str) -> bool:
        """Whether the process that held `name` has ended."""
        from filelock import Timeout

        if name == self.name:
            return False
        if not self._file(name).exists():
            return True
        lock = _lock(self._file(name))
        try:
            lock.acquire()
        except Timeout:
            return False
        lock.release()
        return True

    def forget(self, name: str) -> None:
        """Removes the file of a name that is gone; where another process looks at it just now, that one will."""
        with suppress(PermissionError):  # Windows removes no file that is open
            self._file(name).unlink(missing_ok=True)

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


def _lock(path: Path) -> "FileLock":
    from filelock import FileLock

    return FileLock(path, timeout=0, thread_local=False, mode=0o600)
