"""What is forgotten while a turn runs: its requests were made before, so its answers and results may say the words.

They are stored with `[forgotten]` in their place. What the person says later counts again.
"""

from typing import Final

from msgspec.structs import replace

from agent.tools.registry import ToolOutput
from memory.forget.replacement import replaced_in_escapes
from memory.memory import Memory

NOTICE: Final = "This answer contains text that was forgotten meanwhile; it is stored as [forgotten]."


class LateWords:
    """What was forgotten since the newest message of a turn."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.begin()

    def begin(self) -> None:
        """A message is stored now."""
        self._forgotten = self._memory.forgotten_from_now()

    def without(self, text: str) -> str:
        """The text with `[forgotten]` for the words. Blocks."""
        prints = self._forgotten.prints()
        return replaced_in_escapes(prints, text) if prints else text

    def output_without(self, output: ToolOutput) -> ToolOutput:
        """What a tool gave, without them. Blocks."""
        whole, shown, diff = map(self.without, (output.whole, output.shown, output.diff))
        return replace(output, whole=whole, shown=shown, diff=diff)

    def purge(self) -> None:
        """Takes the pieces of an answer that were stored while it streamed from the database's journal, and what
        models computed of them."""
        self._memory.cold.empty_journal()
