"""Titles and labels that several devices set: the one with the highest clock holds, and the others are dropped.

One whose writer had not heard of a forgetting of it does not hold, whatever its clock (memory.cold.sync_values).
"""

from collections.abc import Iterable
from typing import Final

import apsw

from foundation.privacy import TextSource, as_stored, clear
from memory.cold.conversations import label, rename, unlabel
from memory.cold.encoding import to_bytes, to_text
from memory.cold.note_lines import pack_heard
from memory.cold.recalled_copies import untitle_recalled
from memory.cold.sql import fetch, first, run
from memory.cold.sync_clock import see
from memory.cold.sync_values import ValueKeys, hear_names, is_heard
from memory.forgotten.fingerprints import FORGOTTEN
from memory.sync.operation import ForgottenNamesOperation, ValueOperation

_NEWEST: Final = """SELECT seq FROM sync_values WHERE conversation = ? AND field = ? AND clock IS NOT NULL
    ORDER BY clock DESC, device DESC, value DESC LIMIT 1"""
# The value, too: who forges may give one clock twice, and all devices must choose the same.
_INSERT: Final = """INSERT INTO sync_values (conversation, field, clock, device, value, own, heard)
    VALUES (?, ?, ?, ?, ?, 0, ?)"""
_SET_ANEW: Final = "SELECT 1 FROM sync_values WHERE conversation = ? AND field = ? AND clock IS NULL"
_HELD: Final = """SELECT 1 FROM sync_values
    WHERE conversation = ? AND field = ? AND clock = ? AND device = ? AND value IS ?"""


def take_value(db: apsw.Connection, conversation: int, operation: ValueOperation) -> bool:
    """Takes what another device set where nothing newer is known; whether that, or a forgetting it names, was new."""
    value = _cleared(operation.value)
    field = str(clear(operation.field, TextSource.OTHER))
    is_news = _take_forgettings(db, conversation, operation.heard, labels=bool(field))
    if not is_heard(db, conversation, operation.heard, labels=bool(field)):
        return is_news
    if first(db, _SET_ANEW, (conversation, field)) is not None:
        see(db, operation.clock)  # it gets a higher one
        return is_news
    held = (conversation, field, operation.clock, operation.device, value)
    if first(db, _HELD, held) is not None:
        return is_news
    before = _last(db)
    run(db, _INSERT, (*held, pack_heard(operation.heard)))
    ((newest,),) = fetch(db, _NEWEST, (conversation, field))
    run(db, "DELETE FROM sync_values WHERE conversation = ? AND field = ? AND seq <> ?", (conversation, field, newest))
    if newest <= before:
        return is_news
    see(db, operation.clock)
    _set(db, conversation, field, value)
    return True


def take_forgotten_names(db: apsw.Connection, conversation: int, operation: ForgottenNamesOperation) -> bool:
    """Drops the title, or the labels, that were set without knowing of the forgetting; whether it was new."""
    forgettings, labels = [operation.forgetting], operation.labels
    return _take_forgettings(db, conversation, forgettings, labels=labels, dropped=operation.dropped)


def _take_forgettings(
    db: apsw.Connection,
    conversation: int,
    forgettings: Iterable[int],
    *,
    labels: bool,
    dropped: ValueKeys | None = None,
) -> bool:
    if not hear_names(db, conversation, forgettings, labels=labels, dropped=dropped):
        return False
    sql = "SELECT field, value FROM sync_values WHERE conversation = ? AND (field <> '') = ?"
    kept: dict[str, bytes | None] = dict(fetch(db, sql, (conversation, int(labels))))
    if labels:
        for (name,) in fetch(db, "SELECT label FROM labels WHERE conversation = ?", (conversation,)):
            if kept.get(name) is None:
                _set(db, conversation, name, None)
        return True
    untitle_recalled(db, conversation)
    if not kept:
        _set(db, conversation, "", FORGOTTEN.encode())  # until a title comes whose writer knew of them
    return True


def _set(db: apsw.Connection, conversation: int, field: str, value: bytes | None) -> None:
    """Gives the conversation the value that holds. What the triggers note of that is no change of this device."""
    before = _last(db)
    if field:
        change = unlabel if value is None else label
        change(db, conversation, as_stored(field))
    else:
        rename(db, conversation, as_stored(to_text(value or b"")))
        run(db, "UPDATE mirrors SET head = x'' WHERE conversation = ?", (conversation,))  # it names the title
    run(db, "DELETE FROM sync_values WHERE seq > ?", (before,))


def _last(db: apsw.Connection) -> int:
    return int(fetch(db, "SELECT coalesce(max(seq), 0) FROM sync_values")[0][0])


def _cleared(value: bytes | None) -> bytes | None:
    return None if value is None else to_bytes(clear(to_text(value), TextSource.OTHER))
