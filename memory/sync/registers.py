"""Titles and labels that several devices set: the one with the highest clock holds, and all stay in the log."""

from typing import Final

import apsw

from foundation.privacy import TextSource, clear
from memory.cold.conversations import label, rename, unlabel
from memory.cold.encoding import to_bytes, to_text
from memory.cold.sql import fetch, first, run
from memory.cold.sync_clock import see
from memory.sync.operation import ValueOperation

_NEWEST: Final = """SELECT value FROM sync_values WHERE conversation = ? AND field = ? AND clock IS NOT NULL
    ORDER BY clock DESC, device DESC, value DESC LIMIT 1"""
# The value, too: who forges may give one clock twice, and all devices must choose the same.


def take_value(db: apsw.Connection, conversation: int, operation: ValueOperation) -> bool:
    """Records what another device set, and sets it where nothing newer is known; whether it was new."""
    value = _cleared(operation.value)
    field = str(clear(operation.field, TextSource.OTHER))
    held = (conversation, field, operation.clock, operation.device, value)
    sql = "SELECT 1 FROM sync_values WHERE conversation = ? AND field = ? AND clock = ? AND device = ? AND value IS ?"
    if first(db, sql, held) is not None:
        return False
    run(
        db,
        "INSERT INTO sync_values (conversation, field, clock, device, value, own) VALUES (?, ?, ?, ?, ?, 0)",
        held,
    )
    see(db, operation.clock)
    _set(db, conversation, field)
    return True


def _set(db: apsw.Connection, conversation: int, field: str) -> None:
    """Gives the conversation the value that holds. What the triggers note of that is no change of this device."""
    before = _last(db)
    ((value,),) = fetch(db, _NEWEST, (conversation, field))
    if not field:
        rename(db, conversation, clear(to_text(value or b""), TextSource.OTHER))
    elif value is None:
        unlabel(db, conversation, field)
    else:
        label(db, conversation, clear(field, TextSource.OTHER))
    run(db, "DELETE FROM sync_values WHERE seq > ?", (before,))


def _last(db: apsw.Connection) -> int:
    return int(fetch(db, "SELECT coalesce(max(seq), 0) FROM sync_values")[0][0])


def _cleared(value: bytes | None) -> bytes | None:
    return None if value is None else to_bytes(clear(to_text(value), TextSource.OTHER))
