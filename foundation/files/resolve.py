"""Paths with links resolved, once, before they are opened with no link in them.

A path that a person names (`export FILE`, a workspace's root) may go through any link of theirs. A path inside a
workspace may go through links as far as they stay inside it.
"""

import errno
import os
from pathlib import Path

from foundation.files.directory import make_folder
from foundation.files.refusals import UnsafePath, not_plain


def resolve_path(path: Path) -> Path:
    """The absolute path without links or `..`; it need not exist. Raises UnsafePath for links in a circle."""
    if "\0" in str(path):
        raise not_plain(path, "contains a NUL character")
    try:
        resolved = Path(os.path.realpath(path, strict=True))
    except FileNotFoundError:
        resolved = Path(os.path.realpath(path))
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _circle(path) from error
        resolved = Path(os.path.realpath(path))
    return resolved


def resolve_within(path: Path, root: Path) -> Path:
    """As `resolve_path`, for a path that must lie in `root` when its links are resolved. Raises UnsafePath."""
    resolved = resolve_path(path)
    if not resolved.is_relative_to(resolve_path(root)):
        raise UnsafePath(
            path,
            f"{path} is a link to a place outside {root}, and such links are not followed.",
            "Replace the link with the file itself.",
            reason="outside",
        )
    return resolved


def resolve_new_folder(path: Path) -> Path:
    """The folder that a person named, its links resolved, made where it is missing."""
    folder = resolve_path(path)
    make_folder(folder)
    return folder


def _circle(path: Path) -> UnsafePath:
    return UnsafePath(path, f"{path} is a link to itself.", "Remove the link.", reason="circle")
