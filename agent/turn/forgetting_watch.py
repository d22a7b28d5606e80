"""What is forgotten beside a turn: no request is made while a forgetting runs, and one from before is made anew."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

_PERIOD: Final = 0.1  # seconds between two looks

Forgettings = Callable[[], frozenset[str] | None]
"""The forgettings so far, by their ids; None while one runs. Blocks."""


class ForgettingWatch:
    """Knows the forgettings of which the turn has taken notice."""

    def __init__(self, forgettings: Forgettings, is_stopped: Callable[[], bool]) -> None:
        self._forgettings = forgettings
        self._is_stopped = is_stopped
        self._known: frozenset[str] | None = None  # one ran at the last look

    async def look(self) -> None:
        """Takes notice of those so far, without waiting for one that runs: what is read now may hold its words."""
        self._known = await asyncio.to_thread(self._forgettings)

    async def settle(self) -> bool:
        """Waits until none runs; whether there was one since the last time."""
        before, self._known = self._known, await asyncio.to_thread(self._over)
        return before != self._known

    def _over(self) -> frozenset[str] | None:
        while (now := self._forgettings()) is None and not self._is_stopped():
            time.sleep(_PERIOD)
        return now

    async def is_outdated(self) -> bool:
        """Whether one began since `settle`: what was read since may hold its words."""
        return await asyncio.to_thread(self._forgettings) != self._known
