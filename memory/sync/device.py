"""This device: a random id, a name for a person, and the number of its last segment."""

from typing import Final

import apsw
from msgspec import Struct

from memory.cold.sql import first, run
from memory.cold.sync_clock import TICKS, next_clock
from memory.records import new_id

_TITLES: Final = """INSERT INTO sync_values (conversation, field, value, clock, device)
    SELECT seq, '', title, created_ms * ?, ? FROM conversations WHERE title <> x''"""
_LABELS: Final = """INSERT INTO sync_values (conversation, field, value, clock, device)
    SELECT conversation, label, x'', created_ms * ?, ? FROM labels JOIN conversations ON seq = conversation"""
# when they were set, nobody knows: when the conversation began, so that whatever was set since is newer


class Device(Struct, frozen=True):
    """`segment` is the number of its last segment, 0 before the first."""

    id: str
    name: str
    segment: int


def this_device(db: apsw.Connection) -> Device | None:
    """None where no location was ever added."""
    row = first(db, "SELECT id, name, segment FROM sync_device")
    return Device(*row) if row else None


def begin(db: apsw.Connection, name: str, now_ms: int) -> Device:
    """Makes this device known, and everything that is here one of its changes; from now on each change is recorded."""
    if (device := this_device(db)) is not None:
        if name and name != device.name:
            run(db, "UPDATE sync_device SET name = ?", (name,))
        return Device(device.id, name or device.name, device.segment)
    id_ = str(new_id("d"))
    run(db, "INSERT INTO sync_device (one, id, name, clock) VALUES (1, ?, ?, ?)", (id_, name, next_clock(0, now_ms)))
    run(db, "INSERT OR IGNORE INTO sync_entries (entry) SELECT seq FROM entries WHERE kind <> 'observation'")
    run(db, _TITLES, (TICKS, id_))
    run(db, _LABELS, (TICKS, id_))
    run(db, "INSERT OR IGNORE INTO sync_deletions (token) SELECT token FROM deletions WHERE finished = 1")
    return Device(id_, name, 0)


def become_another(db: apsw.Connection) -> Device:
    """A new id, under which everything is written once more: another copy of this workspace has the old one."""
    run(db, "UPDATE sync_device SET id = ?, segment = 0", (str(new_id("d")),))
    run(db, "UPDATE sync_entries SET segment = NULL")
    run(db, "UPDATE sync_values SET segment = NULL WHERE own = 1")
    run(db, "UPDATE sync_deletions SET segment = NULL")
    run(db, "UPDATE sync_notes SET segment = NULL WHERE own = 1")
    run(db, "UPDATE sync_forgotten SET segment = NULL WHERE own = 1")
    run(db, "UPDATE sync_forgotten_names SET segment = NULL WHERE own = 1")
    run(db, "DELETE FROM sync_written")
    device = this_device(db)
    assert device is not None
    return device
