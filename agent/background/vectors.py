"""Vectors are made while nobody waits: from the opening on and after each turn, some seconds at a time.

A turn goes first: what is being made stops at its next batch, and goes on when the turn is over.
"""

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING

from foundation.errors import PalimpsestError
from memory.memory import Memory

if TYPE_CHECKING:
    from memory.search.vectors.vectors import Filled

SECONDS = 2.0
"""A slice; after each the status bar says how far it is."""


class VectorWork:
    """One session's. `due` and `work` block: they are for a thread of their own."""

    def __init__(self, memory: Memory, embedder: str, is_busy: Callable[[], bool]) -> None:
        self._memory = memory
        self._is_wanted = embedder not in {"", "none"} and not memory.cold.read_only
        self._is_busy = is_busy
        self._ended = Event()
        self._done: tuple[int, int] | None = None

    @property
    def goes_on(self) -> bool:
        """Whether there may be something to do, and nothing goes first."""
        return self._is_wanted and not self._ended.is_set() and not self._is_busy()

    @property
    def words(self) -> str:
        """How far it is; "" where nothing was to be made."""
        return f"making vectors: {self._done[0]:,} of {self._done[1]:,}" if self._done else ""

    def work(self) -> tuple[bool, str]:
        """Whether there is more to make, and a sentence where something is in the way."""
        try:
            filled = self._memory.search.vectors.fill(self._tell, lambda: not self.goes_on, SECONDS)
        except (PalimpsestError, OSError) as error:  # the store, mostly: it is being closed
            return False, f"vectors not made: {error}"
        return self._outcome(filled)

    def end(self) -> None:
        """Ends `work` within a batch; what was made stays."""
        self._ended.set()

    def _outcome(self, filled: "Filled") -> tuple[bool, str]:
        if filled.done or filled.trouble:
            self._done = None
        return not (filled.done or filled.trouble), f"vectors not made: {filled.trouble}" if filled.trouble else ""

    def _tell(self, done: int, of: int) -> None:
        self._done = done, of
