"""Words in what is kept for other devices: titles and labels that were set once, names of
notes, waiting entries. Lines of notes: memory.cold.note_lines."""

from collections.abc import Callable

import apsw

from memory.cold.sql import fetch, run


def forget_synced(db: apsw.Connection, holds: Callable[[bytes], bool]) -> int:
    """Deletes the rows that hold forgotten words; gives their number.

    The segments that this device wrote of them are written anew at its next sync. A title or label that is in force is
    kept by its own row of `conversations` or `labels`.
    """
    count = 0
    for seq, field, value in fetch(db, "SELECT seq, CAST(field AS BLOB), value FROM sync_values"):
        if holds(field) or holds(value or b""):
            count += run(db, "DELETE FROM sync_values WHERE seq = ?", (seq,))
    paths = fetch(db, "SELECT path FROM sync_notes UNION SELECT path FROM sync_merged")
    for (path,) in paths:
        if holds(path.encode("utf-8", "surrogateescape")):
            for table in ("sync_notes", "sync_merged", "sync_forgotten_lines"):
                column = "note" if table == "sync_forgotten_lines" else "path"
                count += run(db, f"DELETE FROM {table} WHERE {column} = ?", (path,))
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
