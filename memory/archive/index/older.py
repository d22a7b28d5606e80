"""Packs of a version that wrote no manifests: each gets its own, from its rows, when its store is first opened."""

from contextlib import suppress

import apsw

from memory.archive.packs.storage import Storage
from memory.cold import ColdStore
from memory.cold.sql import fetch, run
from memory.errors import MemoryTrouble


def seal_older(cold: ColdStore, storage: Storage) -> None:
    """Writes the manifests that were never written. Quick, and loads nothing, where there are none to write.

    A manifest that is there stays as it is. Where the rows or the folder refuse, `check` tells of it.
    """
    if cold.read_only or not (packs := cold.read(unsealed)):
        return
    from msgspec import MsgspecError

    from memory.archive.index.facts import seal
    from memory.archive.packs.manifest import manifest_name, parts_of

    def transaction(db: apsw.Connection) -> None:
        names = storage.names()
        seal(db, storage, [pack for pack in packs if not parts_of(manifest_name(pack), names)])
        run(db, "DELETE FROM unsealed")

    with suppress(MemoryTrouble, MsgspecError):
        cold.write(transaction)


def unsealed(db: apsw.Connection) -> list[str]:
    """The packs whose manifest is still to be written."""
    return [pack for (pack,) in fetch(db, "SELECT pack FROM unsealed")]
