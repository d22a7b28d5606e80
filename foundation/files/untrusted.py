"""Reading the files of a workspace that somebody else may have made: the one way in for what reaches a model.

A link that leads out of the workspace is not followed, what is no regular file (a pipe, a device) is not opened for
longer than it takes to see that, and no more is read than a person would write by hand.
"""

import os
import stat
from pathlib import Path

MOST_BYTES = 2_000_000


class Unreadable(ValueError):
    """The file is left alone. The message says why, about `it`, and without a full stop."""


def read_own_bytes(path: Path, *, within: Path | None = None, most: int = MOST_BYTES) -> bytes:
    """The file's bytes. `within` is the folder that the file, its links resolved, must lie in; None for anywhere.

    Raises Unreadable, and FileNotFoundError where there is no such file.
    """
    try:
        target = path.resolve()
        if within is not None and not target.is_relative_to(within.resolve()):
            raise Unreadable("it is a link that leads out of the workspace and is not followed")
        # The resolved path is opened, and no link at its end: what was looked at is what is read.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        if target.is_dir():
            raise Unreadable("it is a folder")
        handle = os.open(target, flags)
    except FileNotFoundError:
        raise
    except RuntimeError as error:  # Python 3.11 and 3.12 say so of links in a circle
        raise Unreadable("it is a link that leads back to itself") from error
    except OSError as error:
        raise _cannot(error) from error
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unreadable("it is a pipe or a device, not a file")
        try:
            data = file.read(most + 1)
        except OSError as error:
            raise _cannot(error) from error
    if len(data) > most:
        raise Unreadable(f"it is larger than {most:,} bytes")
    return data


def read_own_text(path: Path, *, within: Path | None = None, most: int = MOST_BYTES) -> str:
    """As `read_own_bytes`, as UTF-8 without a byte order mark; bytes that are not UTF-8 are Unreadable too."""
    data = read_own_bytes(path, within=within, most=most)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8 text (byte {error.start})") from error


def _cannot(error: OSError) -> Unreadable:
    return Unreadable(f"it cannot be read: {error.strerror or error}")
