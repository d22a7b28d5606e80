"""When the last backup of a workspace was made, and whether that is too long ago."""

from contextlib import suppress
from datetime import datetime

import msgspec
from msgspec import Struct

from foundation.clock import from_ms
from foundation.files import read_bytes, write_atomically
from foundation.paths import Workspace
from foundation.program import own_command
from foundation.typed_json import decode_json

_FILE = "backup.json"
_MOST = 16_384  # bytes


class LastBackup(Struct, frozen=True, kw_only=True):
    """The newest snapshot of this workspace, and its place."""

    place: str
    time_ms: int
    snapshot: str

    @property
    def time(self) -> datetime:
        return from_ms(self.time_ms)


def record_backup(workspace: Workspace, last: LastBackup) -> None:
    """Notes that a backup was made. Raises OSError."""
    write_atomically(workspace.own / _FILE, msgspec.json.encode(last))


def last_backup(workspace: Workspace) -> LastBackup | None:
    """The last backup; None where none was made from here, or the note of it cannot be read."""
    with suppress(OSError, msgspec.DecodeError):
        return decode_json(read_bytes(workspace.own / _FILE, most=_MOST, owned=True), LastBackup)
    return None


def overdue(workspace: Workspace, now: datetime, remind_days: int) -> str:
    """A sentence where the last backup is older than `remind_days`; "" where it is not, none was ever made, or 0."""
    last = last_backup(workspace)
    if last is None or not remind_days:
        return ""
    days = (now - last.time).days
    if days < remind_days:
        return ""
    return f"{days:,} days old ({last.time.astimezone():%Y-%m-%d}): {renewal(last)}"


def renewal(last: LastBackup) -> str:
    """What makes a new one, for a person."""
    return f"`{own_command('backup', last.place)}` makes a new one."
