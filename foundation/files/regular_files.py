"""Regular files opened by descriptor: never through a link, never a pipe, a device or a socket."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from foundation.files.folders import WINDOWS, FileLocation, absolute_path, locate, refuse_link
from foundation.files.held_open import refuse_held
from foundation.files.refusals import UnsafePath, first_link, hard_linked, link_in_path, not_regular, other_owner

PRIVATE = 0o600
_WRITES = os.O_WRONLY | os.O_RDWR
ALWAYS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))


def open_file(path: Path, flags: int, mode: int = PRIVATE, *, owned: bool = False, writes: bool | None = None) -> int:
    """A descriptor of the regular file at `path`, opened with `flags` of os.open. With `owned` it must be the user's.

    A file that is written in place may have no other hard link. `writes` False: it is not, though `flags` say so (a
    lock, an fsync).

    Raises UnsafePath, FileNotFoundError, IsADirectoryError, other OSErrors.
    """
    try:
        with locate(path) as (folder, name):
            if WINDOWS:
                refuse_link(path)
            refuse_held(path, FileLocation(folder, name))
            handle = os.open(name, flags | ALWAYS, mode, dir_fd=folder)
    except UnsafePath:
        raise
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket, or a pipe that nobody reads
            raise not_regular(path) from error
        if error.errno in _LINK_ERRORS and (link := first_link(absolute_path(path))) is not None:
            raise link_in_path(path, link) from error
        error.filename = str(path)
        raise
    if writes is None:
        writes = bool(flags & _WRITES) and not flags & os.O_EXCL
    try:
        _refuse_special(path, os.fstat(handle), owned=owned, writes=writes)
    except BaseException:
        os.close(handle)
        raise
    return handle


def open_for_reading(path: Path, *, owned: bool = False) -> BinaryIO:
    """The regular file, open for reading. Raises as `open_file` does."""
    return os.fdopen(open_file(path, os.O_RDONLY, owned=owned), "rb")


def open_new(path: Path, mode: int = PRIVATE) -> BinaryIO:
    """A file that is made where none is, open for writing. Raises FileExistsError where anything is, a link too."""
    return os.fdopen(open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb")


def open_for_appending(path: Path, mode: int = PRIVATE) -> BinaryIO:
    """The user's own file, made where it is missing, open for appending."""
    return os.fdopen(open_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, mode, owned=True), "ab")


def is_own(file_status: os.stat_result) -> bool:
    """Whether a file belongs to the user of this process. Always so on Windows."""
    return WINDOWS or file_status.st_uid == os.geteuid()


def _refuse_special(path: Path, file_status: os.stat_result, *, owned: bool, writes: bool) -> None:
    if stat.S_ISDIR(file_status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(file_status.st_mode):
        raise not_regular(path)
    if owned and not is_own(file_status):
        raise other_owner(path, file_status.st_uid)
    if writes and file_status.st_nlink > 1:
        raise hard_linked(path)


_LINK_ERRORS = {errno.ELOOP, errno.EMLINK, errno.ENOTDIR}  # EMLINK: FreeBSD's answer to O_NOFOLLOW
