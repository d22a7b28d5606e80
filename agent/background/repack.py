"""Pages come to rest while nobody waits: some seconds of packing after a turn, ended when the program closes."""

from threading import Event

from foundation.errors import PalimpsestError
from memory.memory import Memory

SECONDS = 10.0
"""A frame of 64 pages takes some five; what is left comes after the next turn."""


class _Ended(Exception):
    """The program closes."""


class Resting:
    """One session's. `work` blocks: it is for a thread of its own."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._ended = Event()

    def due(self) -> bool:
        """Whether enough pages have come to rest to fill a frame."""
        return not self._memory.cold.read_only and self._memory.vault.fills_a_frame()

    def work(self) -> str:
        """Packs for some seconds; a sentence where something is in the way, else ""."""
        try:
            self._memory.vault.repacking.run(seconds=SECONDS, on_page=self._go_on)
        except _Ended:
            return ""
        except (PalimpsestError, OSError) as error:
            return f"pages not packed: {error}"
        return ""

    def end(self) -> None:
        """Ends `work` within a page; nothing of it is kept, and nothing is lost."""
        self._ended.set()

    def _go_on(self, _: int) -> None:
        if self._ended.is_set():
            raise _Ended
