"""How far the terminal is behind what was written: over a slow line frames wait in buffers that nobody here sees.

Each frame is followed by a question that every terminal with synchronized output answers in its place. As long as the
answer is out for much longer than it once took, or more was written meanwhile than the line carries in a moment, the
terminal still draws earlier frames, and a new one would only be drawn after them.
"""

import time
from collections.abc import Callable
from typing import Final

QUESTION: Final = "\x1b[?2026$p"
SLACK_S: Final = 0.15  # a busy machine is no slow line
GIVEN_UP_S: Final = 15.0  # the answer was lost, as where another terminal was attached
MOMENT_S: Final = 0.5  # what the line carries in it may be on its way
LEAST_ON_ITS_WAY: Final = 4_000  # bytes, however little it carried so far: few bytes do not show what a line can carry


class LinePace:
    """Times the questions. `clock` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asked: float | None = None
        self._quickest = 0.0  # answer; 0 as long as there was none
        self._asked_after = 0  # bytes on their way when it was asked
        self._on_its_way = 0  # bytes that no answer stands behind
        self._most_a_second = 0.0  # bytes that the line is known to carry

    def wrote(self, count: int) -> None:
        """So many bytes were written."""
        self._on_its_way += count

    def ask(self) -> str:
        """What is written after a frame: the question, or nothing while one is out."""
        if self._asked is not None and not self._is_lost():
            return ""
        if self._asked is not None:  # what was on its way then has arrived, or never will
            self._on_its_way -= self._asked_after
        self._asked, self._asked_after = self._clock(), self._on_its_way
        return QUESTION

    def answered(self) -> None:
        """The terminal answered. What answers nothing that was asked here is left alone."""
        if self._asked is not None:
            took = self._clock() - self._asked
            self._quickest = min(took, self._quickest or took)
            self._most_a_second = max(self._most_a_second, self._asked_after / max(took, 0.001))
            self._on_its_way -= self._asked_after
            self._asked = None

    @property
    def is_behind(self) -> bool:
        """Whether the terminal has not drawn what was written. False as long as nothing was asked."""
        if self._asked is None or self._is_lost():
            return False
        if self._on_its_way > max(LEAST_ON_ITS_WAY, self._most_a_second * MOMENT_S):
            return True
        return bool(self._quickest) and self._clock() - self._asked > 2 * self._quickest + SLACK_S

    def _is_lost(self) -> bool:
        return self._asked is not None and self._clock() - self._asked > GIVEN_UP_S
