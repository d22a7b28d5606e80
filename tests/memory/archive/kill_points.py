"""Dies at the n-th time that the process asks the system for something: before it is done, or when it is.

Files of SQLite's are watched by a file system beneath it, all others where Python calls the system.
"""

import os
import signal
from collections.abc import Callable
from typing import Any

import apsw

CALLS = ("open", "write", "fsync", "rename", "replace", "unlink", "close")
SYSTEM = apsw.vfs_names()[0]


class Fuse:
    """Burns at the `at`-th call; at 0 never. `kinds` counts what was asked."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.at = at
        self.after = after
        self.count = 0

    def around(self, call: Callable[[], Any]) -> Any:
        self.count += 1
        if self.count == self.at and not self.after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = call()
        if self.count == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    def lay(self) -> None:
        """Under Python's calls, and under SQLite."""
        for name in CALLS:
            setattr(os, name, self._fused(getattr(os, name)))
        self._vfs = FusedVFS(self)

    def _fused(self, real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **named: self.around(lambda: real(*args, **named))


class FusedVFS(apsw.VFS):
    def __init__(self, fuse: Fuse) -> None:
        self._fuse = fuse
        super().__init__("fused", SYSTEM, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return FusedFile(self._fuse, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        self._fuse.around(lambda: super(FusedVFS, self).xDelete(name, syncdir))


class FusedFile(apsw.VFSFile):
    def __init__(self, fuse: Fuse, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._fuse = fuse
        super().__init__(SYSTEM, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._fuse.around(lambda: super(FusedFile, self).xWrite(data, offset))

    def xSync(self, flags: int) -> None:
        self._fuse.around(lambda: super(FusedFile, self).xSync(flags))

    def xTruncate(self, newsize: int) -> None:
        self._fuse.around(lambda: super(FusedFile, self).xTruncate(newsize))
