"""When a workspace was last synced with each location, and what went wrong."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

import msgspec
from msgspec import Struct

from foundation.clock import from_ms
from foundation.files import read_bytes, write_atomically
from foundation.paths import Workspace
from foundation.typed_json import decode_json

_FILE: Final = "sync.json"
_MOST: Final = 65_536  # bytes


class LastRun(Struct, frozen=True, kw_only=True):
    """The last run with one location. `error`: why it did not happen, or what could not be read; "" where all went
    well. `done_ms` is when one last went through, though files may have been unreadable; 0 for never."""

    location: str
    time_ms: int
    done_ms: int
    error: str = ""

    @property
    def done(self) -> datetime | None:
        return from_ms(self.done_ms) if self.done_ms else None


def last_runs(workspace: Workspace) -> dict[str, LastRun]:
    """The last run with each location; none where the note of them cannot be read."""
    with suppress(OSError, msgspec.DecodeError):
        found = read_bytes(workspace.own / _FILE, most=_MOST, owned=True)
        return {run.location: run for run in decode_json(found, list[LastRun])}
    return {}


def record_run(workspace: Workspace, location: str, now_ms: int, error: str, *, done: bool) -> None:
    """Notes that a run ended. `done`: it went through, whatever could not be read. Raises OSError."""
    known = last_runs(workspace)
    before = known.get(location)
    done_ms = now_ms if done else before.done_ms if before else 0
    known[location] = LastRun(location=location, time_ms=now_ms, done_ms=done_ms, error=error[:500])
    write_atomically(workspace.own / _FILE, msgspec.json.encode(sorted(known.values(), key=lambda run: run.location)))


def sync_sentence(workspace: Workspace, locations: Sequence[str], now: datetime) -> str:
    """A line about the last runs, for /status and `doctor`; "" where no location was added."""
    known = last_runs(workspace)
    return "; ".join(_line(known.get(location), location, now) for location in locations)


def has_trouble(workspace: Workspace, locations: Sequence[str]) -> bool:
    """Whether the last run with one of the locations did not go well."""
    known = last_runs(workspace)
    return any(location in known and bool(known[location].error) for location in locations)


def _line(last: LastRun | None, location: str, now: datetime) -> str:
    if last is None:
        return f"never yet with {location}"
    days = (now - last.done).days if last.done else 0
    done = last.done.astimezone().strftime("%Y-%m-%d %H:%M") if last.done else "never yet"
    ago = f", {days:,} days ago" if days > 1 else ""
    return f"{done}{ago} with {location}" + (f": {last.error}" if last.error else "")
