"""Announces what is waited for: after 3 seconds, then at growing intervals, never more often than each 15."""

import time
from collections.abc import Callable
from typing import Final

from foundation.figures import elapsed

FIRST_S: Final = 3.0  # seconds without a line after which the state is announced
LEAST_S: Final = 15.0  # seconds between two announcements
MOST_S: Final = 120.0  # seconds to which the interval grows


class Waiting:
    """The present state of a turn. `last_line` gives the time of the newest line that was written."""

    def __init__(
        self, say: Callable[[str], None], last_line: Callable[[], float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say = say
        self._last_line = last_line
        self._clock = clock
        self._state = ""
        self._left: Callable[[], str] = str
        self._since = self._begun = clock()
        self._announced = float("-inf")
        self._interval = LEAST_S

    def show(self, state: str, left: Callable[[], str] = str) -> None:
        """Sets the state: `reading, 2.3k of 5.0k tokens`; "" for none. `left` gives the time that is left."""
        if not self._state and state:
            self._begun, self._interval = self._clock(), LEAST_S
        if state.partition(",")[0] != self._state.partition(",")[0]:
            self._since = self._clock()
        self._state, self._left = state, left

    def tick(self) -> None:
        """Announces the state where it is time."""
        now = self._clock()
        silent = now - max(self._last_line(), self._begun)
        if not self._state or silent < FIRST_S or now - self._announced < self._interval:
            return
        if self._announced > self._begun:
            self._interval = min(self._interval * 2, MOST_S)
        self._announced = now
        left = f", {left}" if (left := self._left()) else ""
        self._say(f"Still {self._state}{left}, since {elapsed(int(now - self._since))}.")
