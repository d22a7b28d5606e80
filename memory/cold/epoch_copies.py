"""Copies of observations in the heads of requests, which each conversation's epoch keeps."""

from collections.abc import Collection

import apsw

from memory.cold.sql import fetch, run

HAS_INDEX = """(instr(state, CAST('"source":"observations' AS BLOB)) > 0
    OR instr(state, CAST('"source":"last conversation' AS BLOB)) > 0)"""
"""SQL: whether an epoch's head may have an index of observations (context.layers.observations), or the summary of
another conversation (context.assembly.last_conversation)."""


def end_epochs_naming(db: apsw.Connection, ids: Collection[str]) -> None:
    """Ends the epochs whose head names one of these observations: the next request begins another, without it."""
    names = [id_.encode() for id_ in ids]
    for conversation, state in fetch(db, f"SELECT conversation, state FROM epochs WHERE {HAS_INDEX}") if names else ():
        if any(name in state for name in names):
            for table in ("requests", "epochs"):
                run(db, f"DELETE FROM {table} WHERE conversation = ?", (conversation,))


def end_epochs_showing(db: apsw.Connection, conversation: int) -> None:
    """The same for all observations and summaries of a conversation, before it is deleted."""
    sql = "SELECT id FROM entries WHERE kind IN ('observation', 'summary') AND conversation = ?"
    end_epochs_naming(db, [id_ for (id_,) in fetch(db, sql, (conversation,))])
