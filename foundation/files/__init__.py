"""File access: the one way in which this program opens, writes, renames, locks and deletes files.

files            whole-file reads and writes
atomic_exchange  two files change places in one step
untrusted        bounded reads of files that somebody else may have made
"""

from foundation.files.atomic_exchange import exchange
from foundation.files.files import (
    NotUtf8,
    encode,
    make_private_folder,
    read_text,
    sync_file,
    sync_folder,
    write_atomically,
    write_beside,
)

__all__ = [
    "NotUtf8",
    "encode",
    "exchange",
    "make_private_folder",
    "read_text",
    "sync_file",
    "sync_folder",
    "write_atomically",
    "write_beside",
]
