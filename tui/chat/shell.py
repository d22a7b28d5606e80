"""One command that the person runs from the prompt: `!ls`. Its output is shown, and no model sees it unasked."""

import asyncio
import time
from collections import deque
from threading import Event
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from foundation.errors import PalimpsestError
from foundation.figures import elapsed
from foundation.terminal_text import visible_code_line, without_colours
from tui.chat.shell_blocks import ShellBlocks, shell_key
from tui.widgets.status import shown_seconds
from tui.widgets.transcript.block import CLOSED_MARK, Block, BlockExcerpt, BlockText
from tui.widgets.transcript.items import MutedLine

if TYPE_CHECKING:
    from agent.session import Session

TICK_S: Final = 0.25  # seconds between two looks at the output of a command that runs
LONGEST_S: Final = 24 * 3600  # seconds until a command is ended
MAX_PIECES: Final = 2_000  # of the output of a command that runs
FEW_LINES: Final = 8  # of output, whose header is surely in view
_DONE: Final = "exit 0"
_KEYS: Final = "Ctrl+↑ i inserts it into the prompt"
_RUNS: Final = "{} · Ctrl+C stops it"
_WAITS: Final = "waiting for the command above"
_NOT_RUN: Final = "cancelled before it started"


class ShellCommand:
    """One command line and its block. It runs outside the sandbox, as the person's own, without keys and tokens."""

    def __init__(self, session: "Session", blocks: ShellBlocks, line: str) -> None:
        self._session = session
        self._blocks = blocks
        self._line = line
        self._key = shell_key()
        self._stopped = Event()
        self._printed: deque[str] = deque(maxlen=MAX_PIECES)

    def stop(self) -> None:
        """Ends the command, and all that it started."""
        self._stopped.set()

    def show(self, *, waits: bool) -> None:
        """Shows its block; `waits`: for an earlier command."""
        block = Block(key=self._key, rows=self._rows(_WAITS if waits else ""), read=self._so_far, title=self._line)
        self._blocks.add(block.opened(BlockExcerpt("")))

    async def run(self) -> None:
        """Runs it to its end; its block shows what it prints."""
        if self._stopped.is_set():
            self._show(_NOT_RUN, BlockExcerpt(""), BlockText(""))
            return
        started = time.monotonic()
        running = asyncio.create_task(asyncio.to_thread(self._run))
        try:
            while not (await asyncio.wait([running], timeout=TICK_S))[0]:
                ran = elapsed(shown_seconds(time.monotonic() - started))
                self._show(_RUNS.format(ran), BlockExcerpt.last_of(self._so_far()))
        finally:
            self.stop()
            output = await running
        ended, _, text = output.partition("\n")
        whole = BlockText(text)
        ended = ended.strip("[]")
        self._show(f"{ended} · {_KEYS}", _end_of(whole, ended.partition(" after ")[0]), whole)

    def _run(self) -> str:
        try:
            return self._session.commands.run(self._line, LONGEST_S, self._stopped, self._printed.append, inside=False)
        except PalimpsestError as error:
            return f"[{error.title}]\n{error.message} {error.hint}".rstrip()

    def _so_far(self) -> BlockText:
        return BlockText(without_colours("".join(self._printed)))

    def _rows(self, state: str) -> tuple[MutedLine, ...]:
        line = MutedLine(f"! {visible_code_line(self._line)}", gap=True, prefix=CLOSED_MARK)
        return (line, MutedLine(state, prefix="  ")) if state else (line,)

    def _show(self, state: str, excerpt: BlockExcerpt, whole: BlockText | None = None) -> None:
        """Shows the state and, where the block is open, its output."""
        present = self._blocks.find(self._key)
        if present is None:
            return
        block = replace(present, rows=self._rows(state))
        if whole is not None:
            block = replace(block, read=lambda: whole) if whole.text else replace(block.closed(), read=None)
        self._blocks.replace(present, block.opened(excerpt) if block.is_open else block)


def _end_of(whole: BlockText, ended: str) -> BlockExcerpt:
    """The end of what was printed; below many lines, whose header may be out of view, with how the command failed."""
    end = BlockExcerpt.end_of(whole)
    if ended == _DONE or end.text.count("\n") < FEW_LINES:
        return end
    return replace(end, note=" · ".join(filter(None, (ended, end.note))))
