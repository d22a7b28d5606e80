"""Titles and labels as devices share them: of each the value that holds, and the forgettings that its writer knew.

A forgetting of a conversation's title, or of labels of it, has a number. A value whose writer had not heard of one
never holds again, on any device, whatever its clock: so the words leave all of them, and no hash of a word is sent.
Who says the same later, knowing of it, keeps it. Clocks do not tell that where two devices change a title at the same
time. Labels that are not among the forgotten ones are set once more by the device that set them.
"""

import hashlib
from collections.abc import Collection, Iterable
from typing import Final

import apsw
import msgspec

from memory.cold.note_lines import pack_heard, stored_heard
from memory.cold.sql import fetch, first, run
from memory.cold.sync_clock import tick
from memory.records import new_id

ValueKeys = tuple[tuple[int, str], ...]
"""Values by their clocks and devices."""

MOST_HEARD: Final = 1_000
"""Forgettings that a value names. Of more the lower numbers are passed over, on all devices alike."""

_TITLE: Final = (
    "INSERT INTO sync_values (conversation, field, value) SELECT seq, '', title FROM conversations WHERE seq = ?"
)
_LABELS: Final = """INSERT INTO sync_values (conversation, field, value)
    SELECT conversation, label, x'' FROM labels WHERE conversation = ?"""
_AGAIN: Final = "INSERT INTO sync_values (conversation, field, value) VALUES (?, ?, x'')"
_SET: Final = "UPDATE sync_values SET clock = ?, device = ?, heard = ? WHERE seq = ?"
_REPLACED: Final = "DELETE FROM sync_values WHERE conversation = ? AND field = ? AND seq < ?"
_STAMPED: Final = "FROM sync_values WHERE conversation = ? AND (field <> '') = ? AND clock IS NOT NULL"


def stamp_changes(db: apsw.Connection, now_ms: int) -> None:
    """Gives the changes of this transaction their clocks, before its commit, and drops what they take the place of."""
    rows = fetch(db, "SELECT seq, conversation, field FROM sync_values WHERE clock IS NULL ORDER BY seq")
    if not rows:
        return
    row = first(db, "SELECT id FROM sync_device")
    device = row[0] if row else ""
    clock = tick(db, now_ms, len(rows)) if row else 0
    for number, (seq, conversation, field) in enumerate(rows):
        heard = pack_heard(heard_names(db, conversation, labels=bool(field)))
        run(db, _SET, (clock + number, device, heard, seq))
        run(db, _REPLACED, (conversation, field, seq))


def heard_names(db: apsw.Connection, conversation: int, *, labels: bool) -> tuple[int, ...]:
    """The forgettings of the conversation's title, or of labels of it, that are known here."""
    sql = "SELECT forgetting FROM sync_forgotten_names WHERE conversation = ? AND labels = ? ORDER BY 1 DESC LIMIT ?"
    return tuple(sorted(forgetting for (forgetting,) in fetch(db, sql, (conversation, int(labels), MOST_HEARD))))


def forgotten_names(db: apsw.Connection) -> int:
    """How many forgettings of titles, labels and names of notes are known here."""
    counts = "SELECT (SELECT count(*) FROM sync_forgotten_names) + (SELECT count(*) FROM sync_renamed_notes)"
    return int(fetch(db, counts)[0][0])


def hear_names(
    db: apsw.Connection,
    conversation: int,
    forgettings: Iterable[int],
    *,
    labels: bool,
    dropped: ValueKeys | None = None,
) -> bool:
    """Notes forgettings that another device made, and drops the values whose writers had not heard of them; whether one
    is new. The caller then sets what holds now. Labels of this device that are not among the `dropped` are set anew."""
    sql = "INSERT OR IGNORE INTO sync_forgotten_names (conversation, labels, forgetting, own) VALUES (?, ?, ?, 0)"
    is_new = sum(run(db, sql, (conversation, int(labels), forgetting)) for forgetting in forgettings) > 0
    if is_new:
        _drop_unheard(db, conversation, None if dropped is None else {*dropped}, labels=labels)
    return is_new


def is_heard(db: apsw.Connection, conversation: int, heard: Collection[int], *, labels: bool) -> bool:
    """Whether a value that names these forgettings may hold: whether it names all that are known here."""
    return {*heard_names(db, conversation, labels=labels)} <= {*heard}


def forget_names_of(db: apsw.Connection, conversation: int, holding: ValueKeys, *, labels: bool) -> int:
    """Has all devices drop the conversation's title, or these labels of it; gives the number of values that were
    dropped here. What is in force here now is without the words, and holds on."""
    sql = "INSERT INTO sync_forgotten_names (conversation, labels, forgetting, dropped) VALUES (?, ?, ?, ?)"
    dropped = msgspec.msgpack.encode(holding[:MOST_HEARD]) if labels else b""
    run(db, sql, (conversation, int(labels), _new_forgetting(), dropped))
    count = run(db, "DELETE FROM sync_values WHERE conversation = ? AND (field <> '') = ?", (conversation, int(labels)))
    run(db, _LABELS if labels else _TITLE, (conversation,))
    return count


def _new_forgetting() -> int:
    """A number that no other device gives, nor another copy of this workspace."""
    return int.from_bytes(hashlib.sha256(new_id("n").encode()).digest()[:8]) >> 2


def stored_keys(column: bytes) -> ValueKeys:
    return msgspec.msgpack.decode(column, type=ValueKeys) if column else ()


def _drop_unheard(
    db: apsw.Connection, conversation: int, dropped: Collection[tuple[int, str]] | None, *, labels: bool
) -> None:
    known = {*heard_names(db, conversation, labels=labels)}
    rows = fetch(db, f"SELECT seq, field, value, clock, device, own, heard {_STAMPED}", (conversation, int(labels)))
    for seq, field, value, clock, device, own, heard in rows:
        if known <= {*stored_heard(heard)}:
            continue
        run(db, "DELETE FROM sync_values WHERE seq = ?", (seq,))
        if labels and own and value is not None and dropped is not None and (clock, device) not in dropped:
            run(db, _AGAIN, (conversation, field))  # not one that was taken away: it may be the forgotten one
