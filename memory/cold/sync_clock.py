"""The hybrid clock of this device: the wall clock, but never behind a clock that was seen.

A change that was made knowing of another one gets the higher clock, however wrong the wall clocks of their devices are.
A clock is milliseconds since 1970 times 65,536, plus a counter.
"""

from typing import Final

import apsw

from memory.cold.sql import first, run

TICKS: Final = 1 << 16
HIGHEST: Final = (1 << 47) * TICKS - 1  # some 4,000 years: a higher one is no clock
AHEAD_YEARS: Final = 10
_AHEAD_MS: Final = AHEAD_YEARS * 366 * 86_400_000


def next_clock(last: int, now_ms: int) -> int:
    """The clock of a change that is made now, after `last` was given or seen."""
    return min(max(last + 1, now_ms * TICKS), HIGHEST)


def is_believable(clock: int, now_ms: int) -> bool:
    """Whether another device may give this clock: who took one that is years ahead could not count on from there."""
    return 0 <= clock <= min((now_ms + _AHEAD_MS) * TICKS, HIGHEST)


def tick(db: apsw.Connection, now_ms: int, count: int = 1) -> int:
    """The first of so many clocks in a row. The store has a row of this device."""
    row = first(db, "SELECT clock FROM sync_device")
    assert row is not None
    clock = min(next_clock(row[0], now_ms), HIGHEST - count + 1)
    run(db, "UPDATE sync_device SET clock = ?", (clock + count - 1,))
    return clock


def see(db: apsw.Connection, clock: int) -> None:
    """Takes notice of another device's believable clock: what is changed here from now on gets a higher one."""
    run(db, "UPDATE sync_device SET clock = max(clock, ?)", (clock,))
