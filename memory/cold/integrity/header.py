"""Repairs the numbers in the header of the database, where its tables are plainly those of a released schema."""

from pathlib import Path

import apsw

from foundation.files import exists
from memory.cold.connection import open_store
from memory.cold.integrity.salvage import copy_store
from memory.cold.schema import APPLICATION_ID, schema_of
from memory.cold.sql import pragma, run


def put_right(database: Path, kept: Path) -> str:
    """Gives the database the number of its schema and the mark of this program; a sentence, "" where both are right.

    Its files are copied to the folder `kept` first. No other program may have it open. Raises OSError.
    """
    if not exists(database):
        return ""
    try:
        number = _wrong_number(database)
        if number is None:
            return ""
        copy_store(database, kept)
        store = open_store(database)
        try:
            run(store, f"PRAGMA user_version = {number}")
            run(store, f"PRAGMA application_id = {APPLICATION_ID}")
        finally:
            store.close()
    except apsw.Error:  # more than the header is damaged: the rows are salvaged
        return ""
    return f"The database: schema {number} restored in its header, as in its tables."


def _wrong_number(database: Path) -> int | None:
    """The schema of the database where its header does not say so."""
    store = open_store(database)
    try:
        number = schema_of(store)
        says = pragma(store, "user_version"), pragma(store, "application_id")
    finally:
        store.close()
    return None if says == (number, APPLICATION_ID) else number
