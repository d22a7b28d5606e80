"""Forgotten ids of entries: each becomes another one, which is the same on every device."""

from typing import Final

import apsw

from memory.cold.epoch_copies import end_epochs_naming
from memory.cold.integrity.row_hashes import seal_rows
from memory.cold.sql import first, run
from memory.forget.work import ForgetWork
from memory.forgotten.tombstones import ForgottenName
from memory.records import new_id

_NAME: Final = """SELECT c.source, c.id, CAST(e.id AS BLOB), e.conversation
    FROM entries e JOIN conversations c ON c.seq = e.conversation WHERE e.seq = ?"""
_TAKEN: Final = "SELECT 1 FROM entries WHERE conversation = ? AND id = ?"

_NAMING: Final = """UPDATE sync_written SET stale = 1 WHERE number IN (
    SELECT s.segment FROM sync_entries s JOIN entries e ON e.seq = s.entry WHERE e.conversation = ?)"""
"""Written anew are the segments of the conversation: what answers the entry names it, and so do summaries."""


def give_other_id(db: apsw.Connection, work: ForgetWork, seq: int) -> bool:
    """Gives the entry its other id where its own holds the words, or was forgotten on any device; whether it did."""
    row = first(db, _NAME, (seq,))
    if row is None:
        return False
    source, conversation, id_, whose = row
    name = ForgottenName(source, conversation, id_.decode("utf-8", "replace"))
    if not work.prints.holds(id_) and name.given_up not in work.memory.conversations.tombstones.tokens():
        return False
    is_taken = first(db, _TAKEN, (whose, name.other_id)) is not None
    run(db, "UPDATE entries SET id = ? WHERE seq = ?", (new_id("e") if is_taken else name.other_id, seq))
    seal_rows(db, [seq])
    end_epochs_naming(db, [name.entry])
    run(db, _NAMING, (whose,))
    return True
