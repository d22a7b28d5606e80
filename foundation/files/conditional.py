"""Replaces, creates or deletes a file only where it still holds the expected bytes.

The file and the new one are exchanged, and what came out is read (see atomic_exchange): an edit that another program
makes at the same moment comes out on the other side and is put back. The file is the old or the new one at any time,
also when the process is killed; what is then left beside it is found by its name, which the caller chooses.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from foundation.errors import PalimpsestError
from foundation.files.atomic import STAGED, read_bytes, sync_folder, sync_handle
from foundation.files.atomic_exchange import exchange, link_if_free
from foundation.files.directory import exists, is_file, remove, replace, status
from foundation.files.folders import WINDOWS
from foundation.files.refusals import UnsafePath, is_link, link_in_path, not_regular
from foundation.files.regular_files import open_file, open_new

_NEW_FILE: Final = 0o666  # without what the process masks, as an editor makes it
_ATTEMPTS: Final = 20  # exchanges against a program that writes without a pause


class UnexpectedContent(PalimpsestError, OSError):
    """A file is not what it was expected to be: another program changed, made or deleted it. It was not changed.

    `displaced` are the texts of that program that were out of the file for an instant, and were put back where it did
    not write again.
    """

    code = "file_changed"

    def __init__(self, path: Path, what: str, displaced: tuple[bytes, ...] = ()) -> None:
        super().__init__("A file has changed", f"{path} {what}. It was not changed.", "Read it again.")
        self.displaced = displaced
        self.filename = str(path)

    def __str__(self) -> str:
        return self.message


class Outgoing(Struct, frozen=True):
    """The file that was replaced or deleted, still open: a program that had it open may write to it a little later."""

    handle: int | None  # None where it cannot be opened, and on Windows, where an open file cannot be deleted
    body: bytes

    def late_edit(self) -> bytes | None:
        """What was written to it since; None where nothing was."""
        if self.handle is None or os.fstat(self.handle).st_size == 0:
            return None
        now = _content(self.handle)
        return None if now == self.body else now

    def close(self) -> None:
        if self.handle is not None:
            os.close(self.handle)


class FileSwap:
    """One change: puts `new` at `path`, which holds `expected`; None stands for no file.

    `beside` is a free name in the same folder; until the new bytes are on the disk they are at that name with STAGED.
    `mode` are the permission bits; by default those that the file has.
    `stage` takes the room on the disk, so that `make` and `take_back` need none; `finish` or `discard` ends it.
    """

    def __init__(
        self, path: Path, expected: bytes | None, new: bytes | None, *, beside: Path, mode: int | None = None
    ) -> None:
        self._path = path
        self._expected = expected
        self._new = new
        self._beside = beside
        self._mode = mode
        self._came_out = False  # what was expected lies beside

    def stage(self) -> None:
        """Writes the new file beside. Raises UnexpectedContent, UnsafePath, OSError; then nothing is left beside."""
        if self._new is not None:
            staged = self._beside.with_name(self._beside.name + STAGED)
            _write_beside(self._path, self._new, staged, self._mode)
            replace(staged, self._beside)

    def make(self) -> None:
        """Puts the file in its place. Raises UnexpectedContent, UnsafePath, OSError, with the file as it was."""
        if self._expected is None:
            if self._new is not None and not link_if_free(self._beside, self._path):
                raise UnexpectedContent(self._path, "exists now")
            return
        if self._new is None:
            _move_aside(self._path, self._expected, self._beside)
        else:
            _replace(self._path, self._expected, self._new, self._beside)
        self._came_out = True

    def take_back(self) -> bool:
        """Undoes `make`. False where another program changed the file meanwhile: its text stays."""
        if self._expected is None:
            return self._new is None or self._remove_again(self._new)
        if self._new is None:
            return link_if_free(self._beside, self._path)
        with suppress(FileNotFoundError):
            exchange(self._path, self._beside)
            if read_bytes(self._beside) == self._new:
                return True
            exchange(self._path, self._beside)
        return False

    def _remove_again(self, new: bytes) -> bool:
        remove(self._beside, missing_ok=True)
        try:
            replace(self._path, self._beside)
        except FileNotFoundError:
            return False
        if read_bytes(self._beside) == new:
            return True
        link_if_free(self._beside, self._path)
        return False

    def finish(self) -> Outgoing | None:
        """Removes what is beside, synced, and gives what was replaced or deleted."""
        outgoing = _opened(self._beside, self._expected) if self._came_out and self._expected is not None else None
        self.discard()
        with suppress(FileNotFoundError, NotADirectoryError):  # the folder was moved since: the change went with it
            sync_folder(self._path.parent)
        return outgoing

    def discard(self) -> None:
        """Removes what is beside: what `stage` wrote, or what `take_back` took out."""
        with suppress(OSError):
            remove(self._beside, missing_ok=True)


def permission_bits(path: Path) -> int | None:
    """The permission bits of the file; None where there is no regular file, or the system has none."""
    found = status(path)
    return None if WINDOWS or found is None or not stat.S_ISREG(found.st_mode) else stat.S_IMODE(found.st_mode)


def _write_beside(path: Path, new: bytes, beside: Path, mode: int | None) -> None:
    current = status(path)
    if current is not None and is_link(current):
        raise link_in_path(path, path)
    if current is not None and stat.S_ISDIR(current.st_mode):
        raise UnexpectedContent(path, "is a folder")
    if current is not None and not stat.S_ISREG(current.st_mode):
        raise not_regular(path)
    if mode is None and current is not None:
        mode = stat.S_IMODE(current.st_mode)
    file = open_new(beside, _NEW_FILE if mode is None else mode & 0o700 | 0o600)
    try:
        with file:
            file.write(new)
            if mode is not None and not WINDOWS:
                os.fchmod(file.fileno(), mode)
            file.flush()
            sync_handle(file.fileno())
    except BaseException:
        remove(beside, missing_ok=True)
        raise


def _replace(path: Path, expected: bytes, new: bytes, beside: Path) -> None:
    try:
        exchange(path, beside)
    except FileNotFoundError as error:
        raise UnexpectedContent(path, "was deleted") from error
    if not _holds(beside, expected):
        came_out = _readable(beside)
        raise UnexpectedContent(path, "has changed since it was read", (*came_out, *_put_back(path, new, beside)))


def _put_back(path: Path, new: bytes, beside: Path) -> tuple[bytes, ...]:
    """Exchanges until `new` came out again; gives every other text that came out, the last one excepted."""
    displaced: list[bytes] = []
    for _ in range(_ATTEMPTS):
        try:
            exchange(path, beside)
        except FileNotFoundError:  # deleted meanwhile
            if not exists(path) and link_if_free(beside, path):
                return tuple(displaced)
            continue
        out = read_bytes(beside)
        if out == new or out in displaced:
            return tuple(displaced)
        with suppress(OSError):
            displaced.append(read_bytes(path))  # the older text of the other program, which is there now
    return (*displaced, read_bytes(beside))


def _move_aside(path: Path, expected: bytes, beside: Path) -> None:
    current = status(path)
    if current is None:
        raise UnexpectedContent(path, "was deleted")
    if is_link(current):
        raise link_in_path(path, path)
    if not is_file(path):
        raise not_regular(path)
    try:
        replace(path, beside)
    except FileNotFoundError as error:
        raise UnexpectedContent(path, "was deleted") from error
    if not _holds(beside, expected):
        came_out = _readable(beside)
        link_if_free(beside, path)
        raise UnexpectedContent(path, "has changed since it was read", came_out)


def _readable(beside: Path) -> tuple[bytes, ...]:
    """The text that came out: a program that read the file in the instant without it may save over it later."""
    with suppress(OSError):
        return (read_bytes(beside),)
    return ()


def _holds(beside: Path, expected: bytes) -> bool:
    """Whether what came out is as expected."""
    with suppress(UnsafePath, OSError):
        handle = open_file(beside, os.O_RDONLY)
        try:
            return _content(handle) == expected
        finally:
            os.close(handle)
    return False


def _opened(beside: Path, expected: bytes) -> Outgoing:
    with suppress(UnsafePath, OSError):
        if not WINDOWS:
            return Outgoing(open_file(beside, os.O_RDONLY), expected)
    return Outgoing(None, expected)


def _content(handle: int) -> bytes:
    os.lseek(handle, 0, os.SEEK_SET)
    with os.fdopen(handle, "rb", closefd=False) as file:
        return file.read()
