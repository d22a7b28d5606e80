"""What a turn waits for, and for how long, in the status bar."""

import math
from collections.abc import Callable
from typing import Final

from foundation.figures import elapsed
from tui.widgets.status import StatusBar, shown_seconds

STOP: Final = "Esc stops"
ON_SCREEN_ONLY: Final = " · not saved to disk"
STALL_S: Final = 30.0  # seconds without an event after the first words, after which the status says so
SILENT_S: Final = 300.0  # the same before the first words: a batch of a long prompt takes minutes on a slow machine


class Activity:
    """The present state of a turn. The seconds are those of the state, not of the turn."""

    def __init__(self, status: StatusBar, clock: Callable[[], float]) -> None:
        self._status = status
        self._clock = clock
        self._state = ""
        self._since = clock()  # since when it is this state
        self._heard = clock()  # when the last event came
        self._silence = "", math.inf  # what a silence of so many seconds is called
        self._left: Callable[[], str] = str
        self._line = ""
        self.is_stored = True  # whether the disk takes what the answer says

    def show(
        self,
        state: str,
        figures: str = "",
        *,
        may_stall: bool = False,
        gap: str = " · ",
        left: Callable[[], str] | None = None,
    ) -> None:
        """Shows `thinking · 1.2k characters`. `may_stall`: it goes on with events, so that silence means something.

        `left` gives the time that is left, in place of the seconds so far: then a server computes without a word.
        """
        now = self._clock()
        if state != self._state:
            self._state, self._since = state, now
        self._heard, self._left = now, left or str
        self._silence = ("stalled", STALL_S) if may_stall else ("no response for", SILENT_S if left else math.inf)
        self._line = f"{state}{gap}{figures}" if figures else state
        self._draw()

    def tick(self) -> None:
        """Counts the seconds."""
        if self._state:
            self._draw()

    def end(self) -> None:
        self._state = ""
        self._status.update_info(doing="", seconds=0)

    def _draw(self) -> None:
        now = self._clock()
        silent = now - self._heard
        line = self._line if self.is_stored else f"{self._line}{ON_SCREEN_ONLY}"
        name, limit = self._silence
        if silent >= limit:
            doing = f"{line} · {name} {elapsed(int(silent))} · {STOP}"
            self._status.update_info(doing=doing, seconds=0)
        elif left := self._left():
            self._status.update_info(doing=f"{line} · {left} · {STOP}", seconds=0)
        else:
            self._status.update_info(doing=f"{line} · {STOP}", seconds=shown_seconds(now - self._since))
