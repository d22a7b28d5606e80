"""The warning of a database that was lost, or is another: packs and mirrors tell of more than it knows."""

import apsw

from foundation.files import UnsafePath, list_files
from foundation.names import MIRROR
from foundation.paths import Workspace
from foundation.program import PROGRAM
from memory.archive.packs.unknown_packs import index_lost, unknown_packs
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.cold.mirrors.parse import read_mirrors
from memory.cold.sql import fetch


def database_lost(workspace: Workspace, cold: ColdStore, vault: Vault) -> str:
    """A warning where there are packs or mirrors, and the database has rows of none of them; "" otherwise."""
    return vault.index_lost() or ("" if cold.read(_knows_conversations) else _mirrors_unknown(workspace))


def lost_before_opening(workspace: Workspace) -> str:
    """The same warning for a workspace without a database."""
    if packs := unknown_packs(workspace.packs, ()):
        return index_lost(workspace.database, len(packs))
    return _mirrors_unknown(workspace)


def _knows_conversations(db: apsw.Connection) -> bool:
    """Whether the store holds a conversation, or one was deleted from it."""
    sql = "SELECT 1 FROM conversations WHERE kind = 'chat' UNION ALL SELECT 1 FROM deletions LIMIT 1"
    return bool(fetch(db, sql))


def _mirrors_unknown(workspace: Workspace) -> str:
    """The warning where there are mirrors, and the database has no conversation; "" without mirrors."""
    folder = workspace.conversations
    try:
        count = sum(MIRROR.fits(path.name) for path in list_files(folder, "*.md"))
        if not count or next(read_mirrors(folder), None) is None:  # files of a person that only look like mirrors
            return ""
    except UnsafePath:  # a link: nothing is restored from there
        return ""
    copies = "1 readable copy of a conversation is" if count == 1 else f"{count:,} readable copies of conversations are"
    return (
        f"{copies} in {folder}, but the database {workspace.database} has no conversations: it is new or "
        f"was replaced. `{PROGRAM} check --repair` restores conversations from there; a backup of the "
        "database is more complete, if there is one. The copies are not deleted."
    )
