"""Locks between processes: a file that one process locks. The system frees it when the holder ends.

The file is never emptied or deleted: locking changes nothing in it.
"""

import errno
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from foundation.files.regular_files import open_file

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    _try_shared = _try_lock  # there is no other

    def _unlock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _try_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _try_shared(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


_POLL_S = 0.02
_HELD = {errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK}


class LockTimeout(TimeoutError):
    """Another process, or another thread, holds the lock."""


class FileLock:
    """The lock at `path`, made (0600) where it is missing: the user's own regular file, with no link in its path.

    `timeout` in seconds: how long taking it waits; negative for ever. A holder that takes it again only counts.
    """

    def __init__(self, path: Path, *, timeout: float = -1) -> None:
        self.path = path
        self._timeout = timeout
        self._handle: int | None = None
        self._taken = 0
        self._guard = threading.Lock()

    @property
    def is_locked(self) -> bool:
        """Whether this object holds the lock."""
        return self._handle is not None

    def acquire(self, timeout: float | None = None) -> None:
        """Takes the lock. Raises LockTimeout, UnsafePath, OSError where it cannot be opened."""
        wait = self._timeout if timeout is None else timeout
        until = None if wait < 0 else time.monotonic() + wait
        while not self._try():
            if until is not None and time.monotonic() >= until:
                raise LockTimeout(errno.ETIMEDOUT, "another process holds the lock", str(self.path))
            time.sleep(_POLL_S)

    def release(self) -> None:
        """Gives the lock back; without effect where it is not held."""
        with self._guard:
            if self._handle is None:
                return
            self._taken -= 1
            if self._taken == 0:
                handle, self._handle = self._handle, None
                _unlock(handle)
                os.close(handle)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _try(self) -> bool:
        with self._guard:
            if self._handle is None:
                handle = open_file(self.path, os.O_RDWR | os.O_CREAT, owned=True, writes=False)
                try:
                    locked = (
                        _lock(handle, _try_lock) and os.fstat(handle).st_nlink > 0
                    )  # 0: deleted by the one before us
                except BaseException:
                    os.close(handle)
                    raise
                if not locked:
                    os.close(handle)
                    return False
                self._handle = handle
            self._taken += 1
            return True


def is_lock_held(path: Path) -> bool:
    """Whether a process holds the lock at `path`; False where no file is there. Neither writes nor waits.

    Raises UnsafePath, OSError where the file cannot be read, or where its file system has no locks.
    """
    try:
        handle = open_file(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        if not _lock(handle, _try_shared):
            return True
        _unlock(handle)
        return False
    finally:
        os.close(handle)


def _lock(handle: int, attempt: Callable[[int], None]) -> bool:
    """Locks without waiting; False where another holds the lock."""
    try:
        attempt(handle)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise
    return True
