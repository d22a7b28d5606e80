"""Frames of a streaming answer: fewer while it comes faster than anyone reads, and while keys are typed."""

import time
from collections.abc import Callable
from typing import Final

INTERVAL_S: Final = 1 / 15  # between two frames
FAST_INTERVAL_S: Final = 1 / 8
TYPING_INTERVAL_S: Final = 1 / 4  # a letter waits for the frame that is drawn when its key comes
TYPING_S: Final = 1.0  # after a key
FAST: Final = 240  # characters a second, about 60 tokens: three times as fast as people read


class FramePace:
    """Says when a frame is due."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last_frame = clock()
        self._chars = 0  # that came since the last frame

    def add(self, chars: int) -> None:
        """So many characters came."""
        self._chars += chars

    def is_due(self, *, is_typing: bool = False) -> bool:
        """Whether to draw now, which the caller then does. Ask every INTERVAL_S. `is_typing`: keys are typed."""
        elapsed = self._clock() - self._last_frame
        interval = TYPING_INTERVAL_S if is_typing else FAST_INTERVAL_S
        if elapsed < interval - INTERVAL_S / 4 and self._chars > FAST * elapsed:
            return False
        self._last_frame, self._chars = self._clock(), 0
        return True
