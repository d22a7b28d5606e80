"""Faults at the n-th time that the process asks the system for something: it is killed, or the call fails.

Files of SQLite's are watched by a file system beneath it, all others where Python calls the system.
"""

import errno
import io
import os
import signal
from collections.abc import Callable
from typing import Any

import apsw

CALLS = ("open", "write", "fsync", "rename", "replace", "unlink", "close")
FAILING = ("open", "write", "fsync", "rename", "replace", "unlink", "link", "mkdir")
"""Without `close`: it is called where all is done."""
SYSTEM = apsw.vfs_names()[0]


class Fuse:
    """Burns at the `at`-th call; at 0 never. `count` is how many there were, `burnt` whether it was reached.

    Without an `error` the process is killed, before the call is made or `after` it. With one (ENOSPC, EIO) the call
    fails with it, a write when half of it is written; the process goes on, and later calls are made.
    """

    def __init__(self, at: int, *, after: bool = False, error: int = 0) -> None:
        self.at = at
        self.after = after
        self.error = error
        self.count = 0
        self.burnt = False
        self.what = ""
        """The name of the call at which it burnt."""
        self._real: dict[str, Any] = {}

    def around(self, call: Callable[[], Any], half: Callable[[], Any] = lambda: None, what: str = "") -> Any:
        self.count += 1
        if self.count != self.at:
            return call()
        self.burnt, self.what = True, what
        if self.error:
            half()
            raise OSError(self.error, os.strerror(self.error))
        try:
            return call() if self.after else None
        finally:  # after a call that failed of itself too, as one for a file that is not there
            os.kill(os.getpid(), signal.SIGKILL)

    def lay(self) -> None:
        """Under Python's calls, and under SQLite: `vfs_name` is then the default one."""
        for name in FAILING if self.error else CALLS:
            self._real[name] = getattr(os, name)
            setattr(os, name, self._fused(name))
        self._real["fdopen"] = os.fdopen
        os.fdopen = self._fdopen
        self._vfs = FusedVFS(self)

    def lift(self) -> None:
        """Takes it away. SQLite's stores have to be closed before."""
        for name, real in self._real.items():
            setattr(os, name, real)
        self._vfs.unregister()

    def _fused(self, name: str) -> Callable[..., Any]:
        real = self._real[name]
        return lambda *args, **named: self.around(lambda: real(*args, **named), what=name)

    def _fdopen(self, handle: int, mode: str = "r", *rest: Any, **named: Any) -> Any:
        if mode not in {"wb", "ab"}:
            return self._real["fdopen"](handle, mode, *rest, **named)
        return io.BufferedWriter(_FusedRaw(self, handle, mode))


class _FusedRaw(io.FileIO):
    """A failing write takes half of the bytes, as a disk that fills up; all later ones of this file fail."""

    def __init__(self, fuse: Fuse, handle: int, mode: str) -> None:
        super().__init__(handle, mode)
        self._fuse = fuse
        self._failing = False

    def write(self, data: Any) -> int:
        if self._failing:
            raise OSError(self._fuse.error, os.strerror(self._fuse.error))
        whole, real, taken = bytes(data), super().write, list[int]()
        try:
            return self._fuse.around(lambda: real(whole), lambda: taken.append(real(whole[: len(whole) // 2])), "write")
        except OSError:
            self._failing = True
            if taken and taken[0]:
                return taken[0]
            raise


class FusedVFS(apsw.VFS):
    def __init__(self, fuse: Fuse) -> None:
        self._fuse = fuse
        super().__init__("fused", SYSTEM, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return FusedFile(self._fuse, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        as_sqlite(lambda: self._fuse.around(lambda: super(FusedVFS, self).xDelete(name, syncdir)))


class FusedFile(apsw.VFSFile):
    def __init__(self, fuse: Fuse, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._fuse = fuse
        super().__init__(SYSTEM, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        real = super().xWrite
        as_sqlite(
            lambda: self._fuse.around(
                lambda: real(data, offset), lambda: real(bytes(data)[: len(data) // 2], offset), "SQLite's write"
            )
        )

    def xSync(self, flags: int) -> None:
        as_sqlite(lambda: self._fuse.around(lambda: super(FusedFile, self).xSync(flags), what="SQLite's sync"))

    def xTruncate(self, newsize: int) -> None:
        as_sqlite(lambda: self._fuse.around(lambda: super(FusedFile, self).xTruncate(newsize)))


def as_sqlite(call: Callable[[], Any]) -> None:
    """The call, its failure as SQLite's."""
    try:
        call()
    except OSError as error:
        raise (apsw.FullError if error.errno == errno.ENOSPC else apsw.IOError)(str(error)) from error
