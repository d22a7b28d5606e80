"""Cards of the tool calls of a running turn: running with its seconds, done, failed or denied; each opens."""

from collections import deque
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from models.messages import ToolCall
from tui.chat.blocks import call_block, with_short_diff
from tui.chat.tool_result import call_line, denied_line, stored_lines
from tui.widgets.status import shown_seconds
from tui.widgets.transcript.block import Block, BlockExcerpt, BlockText, ReadBlock, find_block
from tui.widgets.transcript.items import MutedLine
from tui.widgets.transcript.view import Transcript

MAX_OUTPUT: Final = 200  # pieces of a running tool's output that are kept


class RunningCard:
    """The card of a call that runs, since `started`, and the end of what it has printed."""

    def __init__(self, call: ToolCall, summary: str, started: float) -> None:
        self.call = call
        self.summary = summary
        self.started = started
        self.denied: list[MutedLine] = []
        self._output = deque[str](maxlen=MAX_OUTPUT)
        self.block = call_block(call.id, [call_line(summary or call.name)], self._read)

    def take(self, text: str) -> None:
        """Adds a piece of the tool's output."""
        self._output.append(text)

    def rows(self, seconds: int) -> list[MutedLine]:
        return [call_line(self.summary or self.call.name, seconds), *self.denied]

    def _read(self) -> BlockText:
        return BlockText("".join(self._output))


class ToolCards:
    """The cards of one turn, in its transcript."""

    def __init__(self, transcript: Transcript, clock: Callable[[], float]) -> None:
        self._transcript = transcript
        self._clock = clock
        self._running: dict[str, RunningCard] = {}  # by the call's id

    def start(self, call: ToolCall, summary: str) -> None:
        self._running[call.id] = card = RunningCard(call, summary, self._clock())
        self._transcript.add(card.block)

    def progress(self, call: ToolCall, text: str) -> None:
        if card := self._running.get(call.id):
            card.take(text)

    def deny(self, call: ToolCall, reason: str) -> None:
        if card := self._running.get(call.id):
            card.denied.append(denied_line(reason))
            self._show(card, 0)

    def finish(
        self, call: ToolCall, text: str, chars: int, read: ReadBlock | None, *, failed: bool, diff: str = ""
    ) -> None:
        """Shows how the call ended. `text` is what the model reads of its result, `read` gives all of it."""
        card = self._running.pop(call.id, None) or RunningCard(call, call.name, self._clock())
        rows = tuple(stored_lines(call.name, card.summary, text, chars, failed=failed))
        block = with_short_diff(replace(self._present(card), rows=rows, read=read), diff)
        if not self._replace(card, block):
            self._transcript.add(block)

    def tick(self) -> None:
        """Shows the seconds of each call that runs, and the newest output of those that are open."""
        now = self._clock()
        for card in self._running.values():
            self._show(card, shown_seconds(now - card.started))

    def end(self) -> None:
        """Counts no more."""
        for card in self._running.values():
            self._show(card, 0)

    def _show(self, card: RunningCard, seconds: int) -> None:
        present = self._present(card)
        block = replace(present, rows=tuple(card.rows(seconds)))
        if present.is_open and present.read:
            block = block.opened(BlockExcerpt.last_of(present.read()))
        if block != present:
            self._replace(card, block)

    def _present(self, card: RunningCard) -> Block:
        """The card as it is in the transcript, where the person may have opened it."""
        return find_block(self._transcript.line_cache.items, card.block.key) or card.block

    def _replace(self, card: RunningCard, block: Block) -> bool:
        replaced = self._transcript.replace_item(self._present(card), [block])
        card.block = block
        return replaced
