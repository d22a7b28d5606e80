"""What a turn waits for, and for how long, in the status bar."""

from collections.abc import Callable
from typing import Final

from foundation.figures import elapsed
from tui.widgets.status import StatusBar, shown_seconds

STOP: Final = "Esc stops"
ON_SCREEN_ONLY: Final = " · on the screen only"
STALL_S: Final = 10.0  # seconds without an event of the model after which the status says so


class Activity:
    """The present state of a turn. The seconds are those of the state, not of the turn."""

    def __init__(self, status: StatusBar, clock: Callable[[], float]) -> None:
        self._status = status
        self._clock = clock
        self._state = ""
        self._since = clock()  # since when it is this state
        self._heard = clock()  # when the last event came
        self._may_stall = False
        self._line = ""
        self.is_stored = True  # whether the disk takes what the answer says

    def show(self, state: str, figures: str = "", *, may_stall: bool = False, gap: str = " · ") -> None:
        """Shows `thinking · 1.2k characters`. `may_stall`: it goes on with events, so that silence means something."""
        now = self._clock()
        if state != self._state:
            self._state, self._since = state, now
        self._heard, self._may_stall = now, may_stall
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
        if self._may_stall and silent >= STALL_S:
            doing = f"{line} · stalled {elapsed(int(silent))} · {STOP}"
            self._status.update_info(doing=doing, seconds=0)
        else:
            self._status.update_info(doing=f"{line} · {STOP}", seconds=shown_seconds(now - self._since))
