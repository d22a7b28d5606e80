"""Directory operations (list, create, rename, link, remove) that follow no link."""

import os
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from foundation.files.folders import WINDOWS, absolute_path, locate, open_folder, refuse_links
from foundation.files.refusals import folder_for_file, hard_linked, is_link, link_in_path, not_regular, other_owner
from foundation.files.regular_files import is_own

PRIVATE_FOLDER = 0o700
_STORE_SUFFIXES = ("", "-wal", "-shm", "-journal")
_REPLACE_ATTEMPTS = 20  # Windows: a scanner or an indexer may hold a file open for some milliseconds


def status(path: Path) -> os.stat_result | None:
    """The lstat of `path`, or None where nothing is there. Raises UnsafePath where a folder above it is a link."""
    path = absolute_path(path)
    if not path.name:  # the top of a disk has no folder above it
        return path.stat()
    try:
        with locate(path) as (folder, name):
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None


def exists(path: Path) -> bool:
    """Whether anything is at `path`, a link that leads nowhere included."""
    return status(path) is not None


def is_file(path: Path) -> bool:
    """Whether a regular file is at `path`. False for a link to one."""
    return (file_status := status(path)) is not None and _is_regular(file_status)


def is_folder(path: Path) -> bool:
    """Whether a folder is at `path`. False for a link to one."""
    return (file_status := status(path)) is not None and _is_folder(file_status)


def scan(path: Path, pattern: str = "*") -> list[tuple[Path, os.stat_result]]:
    """The entries of the folder whose names match, sorted, each with its lstat; none where there is no folder.

    Raises UnsafePath where the folder, or one above it, is a link.
    """
    entries: list[tuple[Path, os.stat_result]] = []
    with suppress(FileNotFoundError), _listing(path) as handle:
        for name in _names(path, handle):
            if fnmatchcase(name, pattern):
                at = name if handle is not None else str(path / name)
                with suppress(FileNotFoundError):  # removed meanwhile
                    entries.append((path / name, os.stat(at, dir_fd=handle, follow_symlinks=False)))
    return entries


def list_names(path: Path) -> list[str]:
    """Every name in the folder, sorted, as of one moment: for whoever must see a file that is removed meanwhile."""
    with suppress(FileNotFoundError), _listing(path) as handle:
        return _names(path, handle)
    return []


def list_files(path: Path, pattern: str = "*") -> list[Path]:
    """The regular files of the folder whose names match, sorted; none where there is no folder."""
    return [entry for entry, file_status in scan(path, pattern) if _is_regular(file_status)]


def list_folders(path: Path) -> list[Path]:
    """The folders in the folder, sorted; none where there is no folder."""
    return [entry for entry, file_status in scan(path) if _is_folder(file_status)]


def make_folder(path: Path, *, mode: int = PRIVATE_FOLDER) -> None:
    """The folder, with those above it that are missing, each open to its owner alone. One that exists stays as it is.

    `mode` is for folders of a project: 0o777 leaves it to what the process masks.

    Raises UnsafePath where a component is a link, FileExistsError where a file is there.
    """
    path = absolute_path(path)
    if path.name and not is_folder(path):
        make_folder(path.parent, mode=mode)
        _make_single_folder(path, mode)


def make_private_folder(path: Path) -> None:
    """As `make_folder`; a folder that exists is closed to others (0700). UnsafePath too where it is another's."""
    make_folder(path)
    if WINDOWS:
        return
    handle = open_folder(path, listing=True)
    try:
        folder_status = os.fstat(handle)
        if stat.S_IMODE(folder_status.st_mode) & 0o077:
            if not is_own(folder_status):
                raise other_owner(path, folder_status.st_uid)
            os.fchmod(handle, PRIVATE_FOLDER)
    finally:
        os.close(handle)


def remove(path: Path, *, missing_ok: bool = False) -> None:
    """Deletes the file; of a link the link itself. Raises OSErrors as unlink does, UnsafePath."""
    try:
        with locate(path) as (folder, name):
            os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        if not missing_ok:
            raise


def remove_folder(path: Path) -> None:
    """Deletes the empty folder."""
    with locate(path) as (folder, name):
        os.rmdir(name, dir_fd=folder)


def remove_tree(path: Path) -> None:
    """Deletes a folder with its content; a link in it is deleted itself. What cannot be deleted is left."""
    for entry, file_status in scan(path):
        if _is_folder(file_status):
            remove_tree(entry)
        else:
            with suppress(OSError):
                remove(entry)
    with suppress(OSError):
        remove_folder(path)


def replace(source: Path, target: Path) -> None:
    """`source` takes the place of `target`, which may be missing. A link at `target` is replaced, not followed."""
    for attempt in range(_REPLACE_ATTEMPTS):
        try:
            with locate(source) as (above, name), locate(target) as (folder, new_name):
                os.replace(name, new_name, src_dir_fd=above, dst_dir_fd=folder)
        except PermissionError:
            if not WINDOWS or attempt == _REPLACE_ATTEMPTS - 1:
                raise
            time.sleep(0.01 * (attempt + 1))
        else:
            return


def hard_link(source: Path, target: Path) -> None:
    """`source` is at `target` too. Raises FileExistsError where anything is there, OSError where there are no links."""
    with locate(source) as (above, name), locate(target) as (folder, new_name):
        os.link(name, new_name, src_dir_fd=above, dst_dir_fd=folder, follow_symlinks=WINDOWS)


def _make_single_folder(path: Path, mode: int) -> None:
    try:
        with locate(path) as (above, name):
            os.mkdir(name, mode, dir_fd=above)
    except FileExistsError:  # another process made it, or it is no folder
        if is_folder(path):
            return
        if (file_status := status(path)) is not None and is_link(file_status):
            raise link_in_path(path, path) from None
        raise


@contextmanager
def _listing(path: Path) -> Generator[int | None]:
    if WINDOWS:
        refuse_links(absolute_path(path))
        yield None
        return
    handle = open_folder(path, listing=True)
    try:
        yield handle
    finally:
        os.close(handle)


def _names(path: Path, handle: int | None) -> list[str]:
    return sorted(os.listdir(path if handle is None else handle))  # noqa: PTH208 - of a descriptor


def _is_regular(file_status: os.stat_result) -> bool:
    return stat.S_ISREG(file_status.st_mode) and not is_link(file_status)


def _is_folder(file_status: os.stat_result) -> bool:
    return stat.S_ISDIR(file_status.st_mode) and not is_link(file_status)


def check_store(database: Path, *, owned: bool = True) -> None:
    """Checks the files of an SQLite store before SQLite opens them by name.

    SQLite gets SQLITE_OPEN_NOFOLLOW, which refuses links in the whole path of the store. It opens and writes the files
    beside the store (the journal and its index) unchecked, so each must be a regular file of the user's.

    Raises UnsafePath unless each file of the store that exists is a regular one.

    With `owned`, for a store that is written to, each must be the user's and have no other hard link.
    """
    for suffix in _STORE_SUFFIXES:
        path = database.with_name(database.name + suffix)
        if (file_status := status(path)) is None:
            continue
        if is_link(file_status):
            raise link_in_path(path, path)
        if not stat.S_ISREG(file_status.st_mode):
            raise folder_for_file(path) if stat.S_ISDIR(file_status.st_mode) else not_regular(path)
        if owned and not is_own(file_status):
            raise other_owner(path, file_status.st_uid)
        if owned and file_status.st_nlink > 1:
            raise hard_linked(path)


class ListedName(NamedTuple):
    """A name in a folder. `kind` is "file", "folder", "link" or "special" (a pipe, a device, a socket)."""

    name: str
    kind: str


def list_kinds(path: Path) -> list[ListedName]:
    """Every name in the folder with its kind, sorted. Raises UnsafePath, FileNotFoundError, NotADirectoryError."""
    with _listing(path) as handle, os.scandir(path if handle is None else handle) as entries:
        return sorted(ListedName(entry.name, entry_kind(entry)) for entry in entries)


def entry_kind(entry: os.DirEntry[str]) -> str:
    """The kind of ListedName."""
    try:
        if entry.is_symlink() or is_link(entry.stat(follow_symlinks=False) if WINDOWS else _NO_LINK):
            return "link"
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if entry.is_file(follow_symlinks=False) else "special"
    except OSError:  # removed meanwhile
        return "special"


_NO_LINK = os.stat_result((0,) * 10)  # where is_symlink says it all


def read_link(path: Path) -> str:
    """The target that the link at `path` names."""
    with locate(path) as (folder, name):
        return os.readlink(name, dir_fd=folder)
