"""The reasoning of an answer in the transcript: a block that opens, from its first piece on."""

from itertools import count

from msgspec.structs import replace

from tui.chat.blocks import reasoning_block
from tui.widgets.transcript.block import CLOSED_MARK, Block, BlockExcerpt, BlockText, find_block
from tui.widgets.transcript.items import MutedLine
from tui.widgets.transcript.view import Transcript

_numbers = count(1)  # of the blocks of this process


class ReasoningView:
    """One answer's reasoning at a time; after `end` the next one begins."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._parts: list[str] = []
        self.chars = 0
        self._seconds = 0.0
        self._key = ""

    def take(self, text: str, seconds: float) -> None:
        """Adds a piece; `seconds`: since the reasoning began."""
        if not self._parts:
            self._key = f"reasoning:live:{next(_numbers)}"
            row = MutedLine("thinking", gap=True, prefix=CLOSED_MARK)
            self._transcript.add(Block(key=self._key, rows=(row,), read=self._read))
        self._parts.append(text)
        self.chars += len(text)
        self._seconds = seconds

    def tick(self) -> None:
        """Shows what came since, where the block is open."""
        block = self._present()
        if block is not None and block.is_open:
            self._show(block, block.opened(BlockExcerpt.last_of(self._read())))

    def end(self) -> None:
        """Shows how long it took, and how much it is."""
        block = self._present()
        if block is not None:
            whole = BlockText("".join(self._parts))
            ended = reasoning_block(self._key, self.chars, self._seconds, lambda: whole)
            shown = BlockExcerpt.of(whole) if block.is_open else None
            self._show(block, replace(ended, key=self._key, shown=shown))
        self._parts, self.chars, self._seconds = [], 0, 0.0

    def _read(self) -> BlockText:
        return BlockText("".join(self._parts))

    def _present(self) -> Block | None:
        return find_block(self._transcript.line_cache.items, self._key) if self._parts else None

    def _show(self, old: Block, new: Block) -> None:
        if new != old:
            self._transcript.replace_item(old, [new])
