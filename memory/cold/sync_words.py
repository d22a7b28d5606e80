"""Words in what is kept for other devices: titles and labels that were set once, versions of notes, waiting entries."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

import apsw

from memory.cold.sql import fetch, run
from memory.errors import Damaged
from memory.zstd import unpack

_MOST: Final = 2**26  # bytes of a note


def forget_synced(db: apsw.Connection, holds: Callable[[bytes], bool]) -> int:
    """Deletes the rows that hold forgotten words; gives their number.

    The segments that this device wrote of them are written anew at its next sync. A title or label that is in force is
    kept by its own row of `conversations` or `labels`.
    """
    count = 0
    for seq, field, value in fetch(db, "SELECT seq, CAST(field AS BLOB), value FROM sync_values"):
        if holds(field) or holds(value or b""):
            count += run(db, "DELETE FROM sync_values WHERE seq = ?", (seq,))
    for id_, path, body in fetch(db, "SELECT id, CAST(path AS BLOB), body FROM sync_notes"):
        text = b""
        with suppress(Damaged):  # one that cannot be read is not known to hold them
            text = unpack(body, limit=_MOST)
        if holds(path) or holds(text):
            count += run(db, "DELETE FROM sync_notes WHERE id = ?", (id_,))
    for (path,) in fetch(db, "SELECT path FROM sync_merged"):
        if holds(path.encode("utf-8", "surrogateescape")):
            count += run(db, "DELETE FROM sync_merged WHERE path = ?", (path,))
    for seq, operation in fetch(db, "SELECT seq, operation FROM sync_waiting"):
        if holds(operation):
            count += run(db, "DELETE FROM sync_waiting WHERE seq = ?", (seq,))
    return count


def entry_rewritten(db: apsw.Connection, seq: int) -> None:
    """Has the segment that holds this entry written anew: a trigger sees that its text changed, and not its other
    columns."""
    run(
        db,
        "UPDATE sync_written SET stale = 1 WHERE number = (SELECT segment FROM sync_entries WHERE entry = ?)",
        (seq,),
    )
