"""Where a workspace's packs stand: in its own folder, or where the setting `archive.storage` says."""

from foundation.paths import Workspace
from memory.archive import ledger
from memory.archive.storage import Folder, Storage
from memory.cold import ColdStore


def packs_at(address: str, workspace: Workspace, cold: ColdStore) -> Storage:
    """The place that `address` names, "" for the workspace's own folder. Nothing is asked of it yet.

    Raises Misuse for an address that is none.
    """
    if not address.strip():
        return Folder(workspace.packs)
    from memory.archive.remote import remote

    def known(name: str) -> bytes | None:
        row = cold.read(lambda db: ledger.pack_row(db, name))
        return row.sha256 if row else None

    return remote(address.strip(), workspace.pack_cache, known)
