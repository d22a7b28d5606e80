"""The lock that every write to the notes holds, also between processes."""

import errno
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from foundation.errors import TemporaryFailure
from foundation.files import FileLock, LockTimeout, make_private_folder
from foundation.paths import Workspace
from memory.errors import UnwritableNotes

_SECONDS: Final = 10
_REFUSED: Final = {errno.EROFS, errno.EACCES, errno.EPERM}


class NotesLock:
    """The lock of one workspace. Whoever holds it and takes it again only counts: threads need one of their own."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = FileLock(workspace.hot_lock, timeout=_SECONDS)

    @contextmanager
    def held(self) -> Generator[None]:
        """Holds it for the block. Raises TemporaryFailure where another process does for long, UnwritableNotes where
        nothing can be written, OSError."""
        try:
            make_private_folder(self._workspace.own)
            self._lock.acquire()
        except LockTimeout as error:
            raise TemporaryFailure(
                "Memory is locked",
                f"Another Palimpsest process has locked {self._lock.path} for {_SECONDS} seconds.",
                "Wait for it to finish, or close it.",
            ) from error
        except OSError as error:
            if error.errno not in _REFUSED:
                raise
            raise UnwritableNotes(
                "The workspace is read-only",
                f"{self._lock.path.parent} is read-only: notes can be read but not added.",
                "Check the permissions of the folder and how the disk is mounted, or copy the workspace elsewhere.",
            ) from error
        try:
            yield
        finally:
            self._lock.release()
