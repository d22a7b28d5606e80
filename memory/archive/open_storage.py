"""Opens the storage of a workspace's packs: its own folder, or the remote place of the setting `archive.storage`."""

from foundation.errors import Misuse
from foundation.paths import Workspace
from foundation.sizes import MEGABYTE
from memory.archive.packs.pack_cache import CachedStorage, PackDigest
from memory.archive.packs.storage import LocalStorage, Storage
from memory.archive.rows import pages
from memory.cold import ColdStore
from memory.settings import ArchiveSettings


def open_storage(settings: ArchiveSettings, workspace: Workspace, cold: ColdStore) -> Storage:
    """The configured storage; makes no request yet.

    Raises Misuse for an invalid address, MissingLibrary where its client library is not installed.
    """
    home, address = LocalStorage(workspace.packs), settings.storage.strip()
    if not address:
        return home

    def known(name: str) -> PackDigest | None:
        row = cold.read(lambda db: pages.pack_row(db, name))
        return PackDigest(row.sha256, row.size) if row else None

    return CachedStorage(_remote(address), home, LocalStorage(workspace.pack_cache), known, settings.cache * MEGABYTE)


def _remote(address: str) -> Storage:
    match address.partition("://"):
        case ("s3", _, rest) if rest.partition("/")[0]:
            from memory.archive.packs.s3 import S3Storage

            return S3Storage(address)
        case ("ssh" | "sftp", _, rest) if rest.partition("/")[0]:
            from memory.archive.packs.ssh import SshStorage

            return SshStorage(address)
        case _:
            raise Misuse(
                "Where packs stand",
                f"archive.storage is “{address}”.",
                "Name s3://bucket/prefix or ssh://host/folder, or nothing for the workspace's own folder.",
            )
