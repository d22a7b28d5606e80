"""Exchanges two files in one step, so that the content of a path is never overwritten unseen.

Check-then-replace loses an edit that lands between the check and the replacement. An exchange cannot: the previous
content, however new, comes out on the other side and can be read.
"""

import errno
import os
import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from foundation.files.atomic import read_bytes, sync_handle
from foundation.files.directory import exists, hard_link, remove, replace
from foundation.files.folders import FileLocation, locate, refuse_links
from foundation.files.regular_files import open_new

_RENAME_EXCHANGE = 2  # linux/fs.h
_RENAME_SWAP = 2  # sys/stdio.h on macOS
_REFUSED = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}
ASIDE = ".aside"  # the ending of a file that a fallback has moved away, should it be cut off there

Rename = Callable[[FileLocation, FileLocation], int]  # 0 when done, else errno


def exchange(a: Path, b: Path) -> None:
    """`a` and `b`, in one folder, change places. Both must exist (FileNotFoundError). Raises UnsafePath.

    One system call on Linux and macOS, ReplaceFileW on Windows; where the filesystem refuses (some network and FUSE
    volumes, FAT), a dance of renames that loses nothing either.
    """
    if sys.platform == "win32":
        refuse_links(a)
        refuse_links(b)
        _exchange_on_windows(a, b)
        return
    if (swap := system_swap()) is None:
        exchange_by_renames(a, b)
        return
    with locate(a) as first, locate(b) as second:
        code = swap(first, second)
    if code in _REFUSED:
        exchange_by_renames(a, b)
    elif code:
        raise OSError(code, os.strerror(code), str(a), None, str(b))


@cache
def system_swap() -> Rename | None:
    """The platform's own exchanging rename, or None where its C library has none."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    name, flag = ("renameatx_np", _RENAME_SWAP) if sys.platform == "darwin" else ("renameat2", _RENAME_EXCHANGE)
    if not hasattr(library, name):
        return None
    call = library[name]
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]

    def swap(a: FileLocation, b: FileLocation) -> int:
        failed = call(a.folder, os.fsencode(a.name), b.folder, os.fsencode(b.name), flag)
        return ctypes.get_errno() if failed else 0

    return swap


def exchange_by_renames(a: Path, b: Path) -> None:
    """The exchange without the system call: nothing is lost, but for an instant `a` does not exist.

    `a` is moved aside, whatever it is by now; `b` takes its place only if the place is still free; what was moved
    aside becomes `b`. Where somebody wrote a new `a` in that instant, theirs is taken as what stood there, and the
    one before it is kept beside, named `.<name>.<hex>.aside`.
    """
    if not exists(b):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(b))
    aside = _name_aside(a)
    replace(a, aside)
    try:
        while not link_if_free(b, a):
            aside = _name_aside(a)
            replace(a, aside)
    except BaseException:
        link_if_free(aside, a)
        raise
    replace(aside, b)


def _name_aside(a: Path) -> Path:
    return a.with_name(f".{a.name}.{secrets.token_hex(6)}{ASIDE}")


def link_if_free(source: Path, target: Path) -> bool:
    """Links or copies `source` to `target`; False where `target` exists."""
    try:
        hard_link(source, target)
    except FileExistsError:
        return False
    except OSError:  # no hard links here (FAT): a file of its own, made only where none is
        return _copy_if_free(source, target)
    return True


def _copy_if_free(source: Path, target: Path) -> bool:
    body = read_bytes(source)
    try:
        file = open_new(target)
    except FileExistsError:
        return False
    try:
        with file:
            file.write(body)
            file.flush()
            sync_handle(file.fileno())
    except BaseException:
        with suppress(OSError):
            remove(target)
        raise
    return True


def _exchange_on_windows(a: Path, b: Path) -> None:
    if sys.platform != "win32":
        raise OSError(errno.ENOSYS, "ReplaceFileW is Windows' own")
    import ctypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    call = kernel.ReplaceFileW
    call.argtypes = [ctypes.c_wchar_p] * 3 + [ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p]
    call.restype = ctypes.c_int
    aside = _name_aside(a)
    if not call(str(a), str(b), str(aside), 0, None, None):
        raise ctypes.WinError(ctypes.get_last_error())
    replace(aside, b)
