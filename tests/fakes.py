"""Stand-ins for what lies outside a test's reach: time. Everything else in the tests is real."""

from datetime import UTC, datetime, timedelta


class FakeClock:
    """A clock that moves only when told."""

    def __init__(self, start: datetime = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)) -> None:
        self.moment = start

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.moment.timestamp()

    def advance(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)
