"""Runs the person's own commands one after the other, beside an answer too, and keeps their blocks on screen."""

import asyncio
from typing import TYPE_CHECKING

from foundation.terminal_text import visible_code_line
from tui.chat.shell import ShellCommand
from tui.chat.shell_blocks import ShellBlocks, shell_key
from tui.chat.terminal_command import run_in_terminal
from tui.widgets.prompt.prefixes import Prefixed
from tui.widgets.transcript.block import Block
from tui.widgets.transcript.items import MutedLine
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:
    from agent.session import Session


class ShellRunner:
    """The commands of one chat, in the order in which they were entered."""

    def __init__(self, session: "Session", transcript: Transcript) -> None:
        self.blocks = ShellBlocks(transcript)
        self._session = session
        self._transcript = transcript
        self._commands: list[ShellCommand] = []  # the first one runs, the others wait for it
        self._turn = asyncio.Lock()

    @property
    def is_running(self) -> bool:
        return bool(self._commands)

    def stop(self) -> bool:
        """Ends the command that runs, with all that it started, and those that wait. False where none runs."""
        for command in self._commands:
            command.stop()
        return self.is_running

    async def run(self, line: str) -> None:
        """Runs a line to its end, after those before it."""
        command = ShellCommand(self._session, self.blocks, line)
        command.show(waits=self.is_running)
        self._commands.append(command)
        try:
            async with self._turn:
                await command.run()
        finally:
            self._commands.remove(command)

    async def run_in_terminal(self, own: Prefixed) -> None:
        """Gives the terminal to a command."""
        await asyncio.sleep(0)  # what is on screen is drawn first
        folder = self._session.project.root
        ended = run_in_terminal(self._transcript, own.text, folder, waits=not own.fills_screen)
        head = MutedLine(f"! {visible_code_line(own.text)}", gap=True)
        rows = (head, MutedLine(f"in the terminal · {ended}", prefix="  "))
        self.blocks.add(Block(key=shell_key(), rows=rows, title=own.text))
