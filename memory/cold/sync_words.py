"""Words in what is kept for other devices: titles and labels that were set once, waiting
entries. Lines and names of notes: memory.cold.note_lines, memory.cold.note_names."""

from collections.abc import Callable

import apsw

from memory.cold.sql import fetch, first, run
from memory.cold.sync_values import forget_names_of


def forget_synced(db: apsw.Connection, holds: Callable[[bytes], bool]) -> int:
    """Deletes the rows that hold forgotten words, and has other devices drop such titles and labels.

    Gives the number of rows. Call it in the transaction that takes the words out of `conversations` and `labels`. The
    segments that this device wrote of them are written anew.
    """
    count = 0
    for (conversation, labels), holding in _forgotten(db, holds).items():
        count += forget_names_of(db, conversation, tuple(holding), labels=labels)
    for seq, operation in fetch(db, "SELECT seq, operation FROM sync_waiting"):
        if holds(operation):
            count += run(db, "DELETE FROM sync_waiting WHERE seq = ?", (seq,))
    return count


def _forgotten(db: apsw.Connection, holds: Callable[[bytes], bool]) -> dict[tuple[int, bool], list[tuple[int, str]]]:
    """Conversations whose title, or labels, were changed by this transaction, or hold the words and are in force no
    more, with the values that hold them. What is in force was written after the forgetting began, and stays."""
    found: dict[tuple[int, bool], list[tuple[int, str]]] = {}
    rows = "SELECT conversation, field, CAST(field AS BLOB), value, clock, device FROM sync_values ORDER BY seq"
    for conversation, field, name, value, clock, device in fetch(db, rows):
        holding = (holds(name) or holds(value or b"")) and not _is_in_force(db, conversation, field, value)
        if clock is None or holding:
            values = found.setdefault((conversation, bool(field)), [])
            if clock is not None:
                values.append((clock, device))
    return found


def _is_in_force(db: apsw.Connection, conversation: int, field: str, value: bytes | None) -> bool:
    if field:
        sql = "SELECT 1 FROM labels WHERE conversation = ? AND label = ?"
        return value is not None and first(db, sql, (conversation, field)) is not None
    return first(db, "SELECT 1 FROM conversations WHERE seq = ? AND title = ?", (conversation, value)) is not None


def entry_rewritten(db: apsw.Connection, seq: int) -> None:
    """Has the segment that holds this entry written anew: a trigger sees that its text changed, and not its other
    columns."""
    run(
        db,
        "UPDATE sync_written SET stale = 1 WHERE number = (SELECT segment FROM sync_entries WHERE entry = ?)",
        (seq,),
    )
