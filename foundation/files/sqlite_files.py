"""Checks the files of an SQLite store before SQLite opens them by name.

SQLite gets SQLITE_OPEN_NOFOLLOW, which refuses links in the whole path of the store. It opens and writes the files
beside the store (the journal and its index) unchecked, so each must be a regular file of the user's.
"""

import stat
from pathlib import Path

from foundation.files.directory import status
from foundation.files.refusals import hard_linked, is_link, link_in_path, not_regular, other_owner
from foundation.files.regular_files import is_own

SIBLINGS = ("", "-wal", "-shm", "-journal")


def check_store(database: Path, *, owned: bool = True) -> None:
    """Raises UnsafePath unless each file of the store that exists is a regular one.

    With `owned`, for a store that is written to, each must be the user's and have no other hard link.
    """
    for ending in SIBLINGS:
        path = database.with_name(database.name + ending)
        if (found := status(path)) is None:
            continue
        if is_link(found):
            raise link_in_path(path, path)
        if not stat.S_ISREG(found.st_mode):
            raise not_regular(path)
        if owned and not is_own(found):
            raise other_owner(path, found.st_uid)
        if owned and found.st_nlink > 1:
            raise hard_linked(path)
