"""Reads workspace files that a stranger may have made; the only source of files for a model.

A link that leads out of the workspace is not followed, a special file (a pipe, a device) is opened only to see its
kind, and the size is bounded.
"""

from pathlib import Path

from foundation.files.atomic import FileTooLarge, read_bytes
from foundation.files.refusals import UnsafePath
from foundation.files.resolve import resolve_path, resolve_within

MOST_BYTES = 2_000_000


class UnreadableFile(ValueError):
    """The file is not read. The message says why, about `it`, and without a full stop."""


class NoText(UnreadableFile):
    """The file's bytes are not UTF-8."""


def read_own_bytes(path: Path, *, within: Path | None = None, most: int = MOST_BYTES) -> bytes:
    """The file's bytes. `within` is the folder that the file, its links resolved, must lie in; None for anywhere.

    Raises UnreadableFile, and FileNotFoundError where there is no such file.
    """
    try:
        # The resolved path is opened, and no link in it: what was looked at is what is read.
        return read_bytes(resolve_path(path) if within is None else resolve_within(path, within), most=most)
    except FileNotFoundError:
        raise
    except FileTooLarge as error:
        raise UnreadableFile(f"it is larger than {most:,} bytes") from error
    except IsADirectoryError as error:
        raise UnreadableFile("it is a folder") from error
    except UnsafePath as error:
        raise UnreadableFile(_WHY.get(error.reason, "it cannot be read: " + error.message.rstrip("."))) from error
    except OSError as error:
        raise UnreadableFile(f"it cannot be read: {error.strerror or error}") from error


def read_own_text(path: Path, *, within: Path | None = None, most: int = MOST_BYTES) -> str:
    """As `read_own_bytes`, as UTF-8 without a byte order mark; raises NoText, an UnreadableFile, for other bytes."""
    data = read_own_bytes(path, within=within, most=most)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NoText(f"it is not UTF-8 text (byte {error.start})") from error


_WHY = {
    "circle": "it is a link to itself",
    "special": "it is a pipe or a device, not a file",
    "outside": "it is a link to a place outside the workspace and is not followed",
}
