"""Refusals of file access.

    PalimpsestError, OSError
    └── UnsafePath          a link in the path, no regular file, another owner, hard links, `..`

An UnsafePath is an OSError too: code that copes with a file that cannot be opened copes with a refused one.
"""

import errno
import os
from pathlib import Path

from foundation.errors import PalimpsestError
from foundation.shell_words import command_line


class UnsafePath(PalimpsestError, OSError):
    """A path that is not opened. Nothing was read, written or deleted.

    `reason`: link, circle, outside, special, owner, hard_link, held_open or malformed.
    """

    code = "unsafe_path"

    def __init__(self, path: Path | str, message: str, hint: str, *, reason: str = "link") -> None:
        super().__init__("A path is not safe to use", message, hint)
        self.reason = reason
        self.errno = _NUMBERS[reason]
        self.strerror = message.rstrip(".")
        self.filename = str(path)

    def __str__(self) -> str:
        return self.message


def link_in_path(path: Path, component: Path) -> UnsafePath:
    """`component` is a link: it is `path` or a folder above it."""
    where = f"{path} is" if component == path else f"{path} cannot be opened: {component} is"
    return UnsafePath(
        path,
        f"{where} a link, and links are not followed here.",
        "Replace the link with the file or folder itself, or remove it.",
    )


def not_regular(path: Path) -> UnsafePath:
    """A pipe, a device or a socket instead of a regular file."""
    return UnsafePath(
        path,
        f"{path} is a pipe, a device or a socket, not a file.",
        "Use a regular file, or remove this one.",
        reason="special",
    )


def folder_for_file(path: Path) -> UnsafePath:
    """A folder instead of a regular file."""
    return UnsafePath(
        path, f"{path} is a folder, not a file.", "Move the folder away, or use another file name.", reason="special"
    )


def other_owner(path: Path, owner: int) -> UnsafePath:
    """The file belongs to another user. Its errno is EPERM: where reading suffices, callers fall back to that."""
    return UnsafePath(
        path,
        f"{path} belongs to another user (number {owner}) and is not written to.",
        "Run the program as that user, or change the owner with `chown`.",
        reason="owner",
    )


def hard_linked(path: Path) -> UnsafePath:
    """The file has another name, perhaps in another folder: writing into it changes it there too."""
    copy = f"{path}.copy"
    return UnsafePath(
        path,
        f"{path} has another hard link and is not written to, because the other file would change, too.",
        f"Make a separate copy: `{command_line('cp', '-p', str(path), copy)} && "
        f"{command_line('mv', copy, str(path))}`.",
        reason="hard_link",
    )


def held_open(path: Path) -> UnsafePath:
    """A database that SQLite has open in this process: to close it here would free SQLite's locks on it."""
    return UnsafePath(
        path,
        f"{path} belongs to an open database and is not read as a file.",
        "Read a copy made by another program, or one from a backup.",
        reason="held_open",
    )


def not_plain(path: Path | str, why: str) -> UnsafePath:
    """The path or name is malformed."""
    return UnsafePath(
        path, f"{str(path)!r} {why}.", "The path was not used. Check where it comes from.", reason="malformed"
    )


def first_link(path: Path) -> Path | None:
    """The first component of `path`, `path` itself included, that is a link; None where there is none."""
    for component in (*reversed(path.parents), path):
        try:
            file_status = os.lstat(component)
        except OSError:
            return None
        if is_link(file_status):
            return component
    return None


def is_link(file_status: os.stat_result) -> bool:
    """Whether an lstat result is of a symbolic link or, on Windows, of a junction.

    Other reparse points (files kept in a cloud, deduplicated ones) are ordinary files to a program.
    """
    tag = getattr(file_status, "st_reparse_tag", 0)
    return file_status.st_mode & 0o170000 == 0o120000 or tag in _LINK_TAGS


_NUMBERS = {
    "link": errno.ELOOP,
    "circle": errno.ELOOP,
    "outside": errno.ELOOP,
    "special": errno.EINVAL,
    "owner": errno.EPERM,
    "hard_link": errno.EMLINK,
    "held_open": errno.EBUSY,
    "malformed": errno.EINVAL,
}
_LINK_TAGS = {0xA000000C, 0xA0000003}  # IO_REPARSE_TAG_SYMLINK, IO_REPARSE_TAG_MOUNT_POINT
