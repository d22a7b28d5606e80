"""Progress of a server that reads its prompt, as every face reports it."""

import math
import time
from collections.abc import Callable
from typing import Final

from foundation.figures import short_count

FEW_SECONDS: Final = 5
STEP_S: Final = 10  # to which the rest is rounded up from there on
MAX_IN_SECONDS: Final = 90


class PromptProgress:
    """One request. Call `begin` when the server has accepted it, and `take` with each report of the server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.begin(0, 0.0)

    def begin(self, tokens: int, tokens_per_second: float) -> None:
        """`tokens`: an estimate of what is to be read, 0 if unknown; the rate of the prompt before, 0 if unknown."""
        self._done, self._total, self._rate = 0, tokens, tokens_per_second
        self._is_estimate = True
        self._first: tuple[int, float] | None = None  # tokens done and time of the first report
        self._last = self._clock()

    def take(self, done: int, total: int) -> None:
        """The server has `done` of `total` tokens, those of its cache included."""
        now = self._clock()
        if self._first is None or done < self._first[0]:
            self._first = done, now
        before, since = self._first
        if done > before and now > since:
            self._rate = (done - before) / (now - since)
        self._done, self._total, self._last, self._is_estimate = done, total, now, False

    @property
    def is_reported(self) -> bool:
        """True once the server has reported how far it is."""
        return not self._is_estimate

    @property
    def is_read(self) -> bool:
        """True once the server has reported the end of the prompt."""
        return not self._is_estimate and self._done >= self._total

    @property
    def has_read(self) -> bool:
        """True once the server has reported a part of the prompt as read."""
        return self._done > 0

    @property
    def figures(self) -> str:
        """`0.5k of 1.9k`, `about 1.9k tokens` before the first report, "" if nothing is known."""
        if not self._total:
            return ""
        total = short_count(self._total)
        if not self._done:  # a server may report once a batch, and has read more than it says
            return f"{'about ' if self._is_estimate else ''}{total} tokens"
        return f"{short_count(self._done)} of {total}"

    def left(self) -> str:
        """`about 40 s left`, which counts down between two reports; "" before the first report or after the end."""
        if not self._rate or not self._total or self._is_estimate:
            return ""
        seconds = (self._total - self._done) / self._rate - (self._clock() - self._last)
        if seconds <= 0:
            return ""
        if seconds <= FEW_SECONDS:
            return "a few seconds left"
        if seconds > MAX_IN_SECONDS:
            return f"about {math.ceil(seconds / 60)} min left"
        return f"about {math.ceil(seconds / STEP_S) * STEP_S} s left"
