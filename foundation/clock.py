"""Clock, passed in: no module below the edges reads the system time itself."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """A source of time."""

    def now(self) -> datetime:
        """The moment, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def to_ms(moment: datetime) -> int:
    """Milliseconds since 1970 in UTC; a naive datetime is taken as local time."""
    return round(moment.timestamp() * 1000)


def from_ms(ms: int) -> datetime:
    """The inverse of `to_ms`, aware, in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC)


def iso(moment: datetime) -> str:
    """`2026-03-14T09:26:53Z`: UTC, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
