"""Addresses of remote storage: `s3://bucket/prefix`, `ssh://host/folder`."""

from foundation.names import ARCHIVE_FILE, Grammar
from memory.archive.packs.remote import RemoteStorage


def remote_storage(address: str, grammar: Grammar = ARCHIVE_FILE) -> RemoteStorage | None:
    """The storage at that address; None where it is no such address. Raises MissingLibrary, Misuse."""
    match address.partition("://"):
        case ("s3", _, rest) if rest.partition("/")[0]:
            from memory.archive.packs.s3 import S3Storage

            return S3Storage(address, grammar)
        case ("ssh" | "sftp", _, rest) if rest.partition("/")[0]:
            from memory.archive.packs.ssh import SshStorage

            return SshStorage(address, grammar)
        case _:
            return None
