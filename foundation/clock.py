"""Clock, passed in: no module below the edges reads the system time itself."""

import time
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST: Final = datetime(1, 1, 2, tzinfo=UTC)
LATEST: Final = datetime(9999, 12, 30, tzinfo=UTC)
"""Times between these two are times in any time zone."""
EARLIEST_MS: Final = -62_135_510_400_000
LATEST_MS: Final = 253_402_128_000_000


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
    """The inverse of `to_ms`, aware, in UTC. Never raises: a number out of range gives the nearest time."""
    return _EPOCH + timedelta(milliseconds=min(max(ms, EARLIEST_MS), LATEST_MS))


def parse_ms(ms: int) -> datetime:
    """As `from_ms`, for what is to be refused or named where it is not a time. Raises ValueError, TypeError."""
    if not EARLIEST_MS <= ms <= LATEST_MS:
        raise ValueError(f"{ms} is not a time")
    return from_ms(ms)


def iso(moment: datetime) -> str:
    """`2026-03-14T09:26:53Z`: UTC, whole seconds. Never raises."""
    within = min(max(moment, EARLIEST), LATEST) if moment.tzinfo else moment
    return within.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
