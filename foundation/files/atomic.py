"""Atomic file writes: whole or not at all, and never over a concurrent edit."""

import errno
import os
import secrets
import stat
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from foundation.errors import PalimpsestError
from foundation.files.directory import remove, replace, status
from foundation.files.folders import WINDOWS, open_folder
from foundation.files.refusals import UnsafePath, is_link, link_in_path
from foundation.files.regular_files import PRIVATE, open_file, open_for_appending, open_for_reading, open_new
from foundation.privacy import Cleared

T = TypeVar("T")


class NotUtf8(PalimpsestError):
    """A file that should be text is not UTF-8. Nothing was changed."""

    code = "not_utf8"


class FileTooLarge(PalimpsestError, OSError):
    """A file holds more than is read at once. Nothing was changed."""

    code = "too_large"


def read_bytes(path: Path, *, most: int | None = None, owned: bool = False) -> bytes:
    """The regular file's bytes. Raises UnsafePath, FileTooLarge for more than `most` bytes, OSError as open does."""
    with open_for_reading(path, owned=owned) as file:
        if most is None:
            return file.read()
        data = file.read(most + 1)
    if len(data) > most:
        raise FileTooLarge("A file is too large", f"{path} is larger than the maximum of {most:,} bytes.", "Split it.")
    return data


def read_text(path: Path, *, owned: bool = False) -> str:
    """The file's text, to the byte: line ends as they are, a byte order mark kept as U+FEFF.

    Raises NotUtf8, which names the line, where the file is not UTF-8; UnsafePath; OSError as open does.
    """
    body = read_bytes(path, owned=owned)
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise NotUtf8(
            "A file is not UTF-8",
            f"{path}: line {line} is not UTF-8 text.",
            "Save it as UTF-8 in your editor. The file was not changed.",
        ) from error


STAGED: Final = ".staged"
"""Ends the name of a temporary file until its bytes are on the disk. Such a file was never in place, and a crash may
have left anything in it."""


def write_atomically(path: Path, text: Cleared | bytes, *, sync: bool = True) -> None:
    """Puts `text` at `path`: a reader sees the old file or the new one, whole, even after a power cut.

    A temporary file in the same folder, fsync, rename, fsync of the folder. A file that exists keeps its mode, a new
    one is its owner's alone (0600). No link is followed: UnsafePath where one is at `path` or above it. A lone
    surrogate, which UTF-8 cannot carry, is written as its escape (`\\udc80`). Without `sync` a power cut may leave a
    file that is cut off: for what can be made again, and is looked at before it is believed.
    """
    temporary = write_temporary(path, text, sync=sync)
    try:
        replace(temporary, path)
    except BaseException:
        remove(temporary, missing_ok=True)
        raise
    if sync:
        sync_folder(path.parent)


@contextmanager
def atomic_writer(path: Path) -> Generator[BinaryIO]:
    """A new private file (0600) that replaces `path` when the block ends, synced: for what is too large to be
    held in memory. Where the block or the disk raises, nothing is left of it.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    file = open_new(temporary)
    try:
        with _naming(path), file:
            yield file
            file.flush()
            sync_handle(file.fileno())
        replace(temporary, path)
    except BaseException:
        remove(temporary, missing_ok=True)
        raise
    sync_folder(path.parent)


def write_temporary(path: Path, text: Cleared | bytes, *, suffix: str = ".tmp", sync: bool = True) -> Path:
    """Writes `text` to a temporary file next to `path`, synced, with the mode that `path` has or would get; its path.

    Raises UnsafePath where `path` is a link or has one above it.
    """
    body = text if isinstance(text, bytes) else encode(text)
    current = status(path)
    if current is not None and is_link(current):
        raise link_in_path(path, path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}{suffix}")
    file = open_new(temporary)
    try:
        with _naming(path), file:
            file.write(body)
            if current is not None and stat.S_IMODE(current.st_mode) != PRIVATE and not WINDOWS:
                os.fchmod(file.fileno(), stat.S_IMODE(current.st_mode))
            file.flush()
            if sync:
                sync_handle(file.fileno())
    except BaseException:
        remove(temporary, missing_ok=True)
        raise
    return temporary


def append(path: Path, data: bytes, *, sync: bool = False) -> None:
    """Adds `data` at the end of the user's own file, which is made (0600) where it is missing.

    A file with another hard link is replaced by a copy first, so that nothing changes there. With `sync` the bytes, and
    the name of a new file, outlive a power cut.
    """
    is_new = sync and status(path) is None
    with _naming(path), _apart(path, lambda: open_for_appending(path)) as file:
        file.write(data)
        file.flush()
        if sync:
            sync_handle(file.fileno())
    if is_new:
        sync_folder(path.parent)


def is_cut_off(path: Path) -> bool:
    """Whether the last line of the user's own file has no end: a full disk or a crash cut it off."""
    found = status(path)
    if found is None or not found.st_size:
        return False
    with open_for_reading(path, owned=True) as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


def touch(path: Path, when: float | None = None) -> None:
    """Sets the times of the user's own file, to now where no `when` (seconds since 1970) is given.

    A file with another hard link is replaced by a copy first.
    """
    handle = _apart(path, lambda: open_file(path, os.O_WRONLY, owned=True))
    try:
        os.utime(handle if os.utime in os.supports_fd else path, None if when is None else (when, when))
    finally:
        os.close(handle)


@contextmanager
def _naming(path: Path) -> Generator[None]:
    """Gives an OSError of a descriptor, which names no file, the name of this one."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def _apart(path: Path, opened: Callable[[], T]) -> T:
    """What `opened` gives; where the file has another hard link, once a copy has taken its place."""
    try:
        return opened()
    except UnsafePath as error:
        if error.reason != "hard_link":
            raise
    write_atomically(path, read_bytes(path, owned=True))
    return opened()


def make_private_file(path: Path) -> None:
    """Gives the user's own file, made where it is missing, the mode 0600 if others have any right to it."""
    with own_handle(path, os.O_RDWR | os.O_CREAT) as handle:
        if not WINDOWS and os.fstat(handle).st_mode & 0o077:
            os.fchmod(handle, PRIVATE)


@contextmanager
def own_handle(path: Path, flags: int, *, writes: bool | None = None) -> Generator[int]:
    """The descriptor of the user's own file, for as long as the block runs. `writes` as `open_file` has it."""
    handle = open_file(path, flags, owned=True, writes=writes)
    try:
        yield handle
    finally:
        os.close(handle)


def encode(text: str) -> bytes:
    """UTF-8; a lone surrogate becomes its escape."""
    return text.encode("utf-8", "backslashreplace")


def sync_file(path: Path) -> None:
    """Syncs a file's bytes to the disk; a file deleted meanwhile needs no sync."""
    with suppress(FileNotFoundError), own_handle(path, os.O_RDWR, writes=False) as handle:
        sync_handle(handle)


def sync_folder(path: Path) -> None:
    """Brings the folder's names to the platter. Windows has no such call and needs none."""
    if WINDOWS:
        return
    handle = open_folder(path, listing=True)
    try:
        sync_handle(handle)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC_FOLDERS:
            raise
    finally:
        os.close(handle)


if sys.platform == "darwin":
    import fcntl

    def sync_handle(handle: int) -> None:
        """F_FULLFSYNC, because on macOS a plain fsync does not reach the platter."""
        try:
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
        except OSError:  # a network or FUSE volume without it
            os.fsync(handle)
else:

    def sync_handle(handle: int) -> None:
        os.fsync(handle)


_CANNOT_SYNC_FOLDERS = {errno.EINVAL, errno.EOPNOTSUPP}  # some network and FUSE filesystems
