"""Folders opened by descriptor, with no link in any component of the path.

Each file operation acts on a name below an open folder. A link that appears in the path, even in the middle of an
operation, is refused instead of followed. Windows has no such descriptors: there each component is checked.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from foundation.files.refusals import first_link, is_link, link_in_path, not_plain

WINDOWS = os.name == "nt"
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_STEP = _FOLDER | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_PATH", getattr(os, "O_SEARCH", 0))
_NOFOLLOW_ANY = 0x20000000  # sys/fcntl.h of macOS 11: no link in any component
_OPENAT2 = 437  # the same number on every architecture of Linux 5.6 or newer that Python runs on, but Alpha
_RESOLVE = 0x02 | 0x04  # linux/openat2.h: RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS

Opener = Callable[[str, int], int]  # a path and flags to a descriptor


class FileLocation(NamedTuple):
    """Where a file is: `name` below the open folder. On Windows `folder` is None and `name` the whole path."""

    folder: int | None
    name: str


@contextmanager
def locate(path: Path) -> Generator[FileLocation]:
    """The open folder and the name of `path`. Raises UnsafePath, FileNotFoundError, other OSErrors."""
    path = absolute_path(path)
    if not path.name:
        raise not_plain(path, "is not a regular file or folder")
    if WINDOWS:
        refuse_links(path.parent)
        yield FileLocation(None, str(path))
        return
    folder = open_folder(path.parent)
    try:
        yield FileLocation(folder, path.name)
    finally:
        os.close(folder)


def open_folder(path: Path, *, listing: bool = False) -> int:
    """A descriptor of the folder, for `dir_fd`; with `listing` also for scandir and fsync. POSIX only.

    Raises UnsafePath where a component is a link, FileNotFoundError, NotADirectoryError.
    """
    path = absolute_path(path)
    text = str(path)
    flags = _FOLDER | (os.O_RDONLY if listing else getattr(os, "O_PATH", getattr(os, "O_SEARCH", 0)))
    if (opener := system_opener()) is not None:
        try:
            return opener(text, flags)
        except OSError:
            pass  # the walk finds which component it was
    try:
        return walk(text, flags)
    except OSError as error:
        if (link := first_link(path)) is not None:
            raise link_in_path(path, link) from error
        raise


def walk(text: str, flags: int) -> int:
    """The folder's descriptor, component by component: for systems without a call that refuses links at once."""
    components = text.split("/")[1:] if text != "/" else []
    handle = os.open("/", _STEP if components else flags)
    try:
        for at, component in enumerate(components, 1):
            last = at == len(components)
            deeper = os.open(component, (flags | os.O_NOFOLLOW) if last else _STEP, dir_fd=handle)
            os.close(handle)
            handle = deeper
    except OSError as error:
        os.close(handle)
        error.filename = text
        raise
    return handle


def absolute_path(path: Path) -> Path:
    """The path, absolute. Raises UnsafePath where it has `..` or a NUL."""
    if ".." in path.parts:
        raise not_plain(path, "leads upwards with `..`")
    if "\0" in str(path):
        raise not_plain(path, "contains a NUL character")
    return path if path.is_absolute() else path.absolute()


def child(folder: Path, name: str) -> Path:
    """The path of `name` in `folder`: the one way from a name that is data to a path.

    Raises UnsafePath unless the name is one plain component.
    """
    if name in {"", ".", ".."} or any(character in name for character in _NOT_IN_A_NAME):
        raise not_plain(name, "is not a plain file name")
    return folder / name


def refuse_links(path: Path) -> None:
    """Raises UnsafePath where `path` or a folder above it is a link: what Windows has for O_NOFOLLOW."""
    if (link := first_link(path)) is not None:
        raise link_in_path(path, link)


def refuse_link(path: Path) -> None:
    """Raises UnsafePath where `path` itself is a link."""
    try:
        file_status = os.lstat(path)
    except FileNotFoundError:
        return
    if is_link(file_status):
        raise link_in_path(path, path)


_NOT_IN_A_NAME = "/\\:\0" if WINDOWS else "/\0"


@cache
def system_opener() -> Opener | None:
    """The system's own call that opens a folder and refuses links in every component, or None."""
    if sys.platform == "darwin":
        return lambda text, flags: os.open(text, flags | _NOFOLLOW_ANY)
    if sys.platform == "linux":
        return _openat2()
    return None


def _openat2() -> Opener | None:
    """openat2, which Python does not offer; None where the kernel or a sandbox has none."""

    class How(ctypes.Structure):
        _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

    try:
        call = ctypes.CDLL(None, use_errno=True).syscall
    except (OSError, AttributeError):
        return None
    call.restype = ctypes.c_long
    call.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
    size = ctypes.sizeof(How)

    def opened(text: str, flags: int) -> int:
        how = How(flags, 0, _RESOLVE)
        handle = call(_OPENAT2, -100, os.fsencode(text), ctypes.byref(how), size)  # -100: AT_FDCWD
        if handle < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), text)
        return handle

    try:
        os.close(opened("/", _FOLDER | os.O_RDONLY))
    except OSError:
        return None
    return opened
