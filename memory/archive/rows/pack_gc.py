"""Garbage collection of pack files: unreferenced, or left by an interrupted archiving.

A pack's name is recorded here before its file is written, and removed by the transaction that adds its row. So a file
that is deleted later is one that this program wrote and no row names; a foreign file is never touched.
"""

from collections.abc import Iterable

import apsw

from foundation.names import OWNER, PACK
from memory.archive.packs.manifest import delete_manifest
from memory.archive.packs.parity import parity_name
from memory.archive.packs.storage import Storage
from memory.cold import ColdStore
from memory.cold.sql import fetch, run_many
from memory.errors import Damaged
from memory.names import vetted


def announce(cold: ColdStore, name: str) -> str:
    """Records the name as a file that this process is about to write: if the process ends before, the file is
    garbage."""
    owner = cold.hold()
    cold.write(lambda db: run_many(db, "INSERT INTO leaving (name, owner) VALUES (?, ?)", [(name, owner)]))
    return name


def unlist(db: apsw.Connection, names: Iterable[str]) -> None:
    """Removes the names from the garbage list: the packs have rows from this transaction on."""
    run_many(db, "DELETE FROM leaving WHERE name = ?", [(name,) for name in names])


def mark_as_garbage(db: apsw.Connection, names: Iterable[str]) -> None:
    """Marks packs as garbage: nothing refers to them from this transaction on."""
    run_many(db, "INSERT OR REPLACE INTO leaving (name, owner) VALUES (?, '')", [(name,) for name in names])


def owners_by_name(db: apsw.Connection) -> dict[str, str]:
    """Owner by name: "" for garbage, else the process that is writing the file. Raises ForgedName."""
    rows = fetch(db, "SELECT name, owner FROM leaving")
    return {
        vetted(PACK, name, "table leaving"): owner and vetted(OWNER, owner, "table leaving") for name, owner in rows
    }


def sweep(cold: ColdStore, storage: Storage, given_up: Iterable[str] = ()) -> list[str]:
    """Deletes garbage files; gives their names. `given_up` are names that this process announced and did not use.

    A file that another program holds open (Windows), or that is unreachable, is tried again another time.
    """
    given_up = set(given_up)
    owners = cold.read(owners_by_name)
    due = [name for name, owner in owners.items() if not owner or name in given_up or cold.is_gone(owner)]
    deleted: list[str] = []
    for name in due:
        try:
            delete_manifest(storage, name)
            storage.delete(parity_name(name))
            storage.delete(name)
        except (OSError, Damaged):
            continue
        deleted.append(name)
    if deleted:
        cold.write(lambda db: _forget(db, deleted))
    return deleted


def _forget(db: apsw.Connection, names: Iterable[str]) -> None:
    sql = "DELETE FROM leaving WHERE name = ? AND name NOT IN (SELECT name FROM packs)"
    run_many(db, sql, [(name,) for name in names])
