"""Terms of an older analyser are found anew: some seconds after a turn, ended when the program closes."""

from threading import Event
from typing import TYPE_CHECKING

from foundation.errors import PalimpsestError
from memory.memory import Memory

if TYPE_CHECKING:
    from memory.search.reindex import Renewed

SECONDS = 5.0
"""Some ten thousand turns of talk; what is left comes after the next turn."""


class Renewal:
    """One session's. `work` blocks: it is for a thread of its own."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._ended = Event()
        self._nothing_left = False

    def due(self) -> bool:
        """Whether an older analyser found any entry's terms. What could not be read waits for the next start."""
        if self._nothing_left or self._memory.cold.read_only:
            return False
        self._nothing_left = self._memory.renewing.left() == 0
        return not self._nothing_left

    def work(self) -> str:
        """Renews for some seconds; a sentence where something is in the way, else ""."""
        try:
            told = self._memory.renewing.run(seconds=SECONDS, on_batch=self._go_on)
            self._nothing_left = told.left <= told.unread
            self._memory.search.update()
        except (PalimpsestError, OSError) as error:
            return f"older entries not analysed anew: {error}"
        return ""

    def end(self) -> None:
        """Ends `work` within a batch; what was renewed stays."""
        self._ended.set()

    def _go_on(self, _: "Renewed") -> bool:
        return not self._ended.is_set()
