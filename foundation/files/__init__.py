"""File access: the one way in which this program opens, writes, renames, locks and deletes files.

No link is followed, in any component of a path, and what is opened is a regular file. Inside a workspace paths are
used as they are; a path that a person named goes through `resolve_path` first.

refusals         UnsafePath
folders          folders by descriptor, `child`
held_open        databases that are open here, which a second descriptor would unlock
regular_files    regular files by descriptor
directory        names in a folder: status, list, make, rename, link, remove; the files of an SQLite store
atomic           whole-file reads and writes
atomic_exchange  two files change places in one step
conditional      changes a file only where it holds what was expected
locks            locks between processes
resolve          paths with links resolved
tree             folders of a tree, to read the status of many files
beneath          paths resolved by descriptors, within root folders
untrusted        bounded reads of files that somebody else may have made
"""

from foundation.files.atomic import (
    STAGED,
    FileTooLarge,
    NotUtf8,
    append,
    atomic_writer,
    encode,
    is_cut_off,
    make_private_file,
    read_bytes,
    read_text,
    sync_file,
    sync_folder,
    touch,
    write_atomically,
    write_temporary,
)
from foundation.files.atomic_exchange import exchange
from foundation.files.beneath import BeneathPath, resolve_beneath
from foundation.files.directory import (
    check_store,
    exists,
    hard_link,
    is_file,
    is_folder,
    list_files,
    list_folders,
    list_kinds,
    list_names,
    make_folder,
    make_private_folder,
    read_link,
    remove,
    remove_folder,
    remove_tree,
    replace,
    scan,
    status,
)
from foundation.files.folders import child
from foundation.files.held_open import hold, is_held, is_held_index
from foundation.files.locks import FileLock, LockTimeout, is_lock_held
from foundation.files.refusals import UnsafePath
from foundation.files.regular_files import is_own, open_for_appending, open_for_reading, open_new
from foundation.files.resolve import resolve_new_folder, resolve_path, resolve_within
from foundation.files.tree import OpenFolder, open_tree

__all__ = [
    "STAGED",
    "BeneathPath",
    "FileLock",
    "FileTooLarge",
    "LockTimeout",
    "NotUtf8",
    "OpenFolder",
    "UnsafePath",
    "append",
    "atomic_writer",
    "check_store",
    "child",
    "encode",
    "exchange",
    "exists",
    "hard_link",
    "hold",
    "is_cut_off",
    "is_file",
    "is_folder",
    "is_held",
    "is_held_index",
    "is_lock_held",
    "is_own",
    "list_files",
    "list_folders",
    "list_kinds",
    "list_names",
    "make_folder",
    "make_private_file",
    "make_private_folder",
    "open_for_appending",
    "open_for_reading",
    "open_new",
    "open_tree",
    "read_bytes",
    "read_link",
    "read_text",
    "remove",
    "remove_folder",
    "remove_tree",
    "replace",
    "resolve_beneath",
    "resolve_new_folder",
    "resolve_path",
    "resolve_within",
    "scan",
    "status",
    "sync_file",
    "sync_folder",
    "touch",
    "write_atomically",
    "write_temporary",
]
