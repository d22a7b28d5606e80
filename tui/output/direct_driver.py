"""Reads keys on the event loop, and writes short output from it.

Textual has a thread for each. A key and its letter then wait for three threads, one after another; on a machine where
others compute, each waits for its turn of the processor, and the two for the interpreter's lock besides. Textual's
input thread also wakes ten times a second for nothing.
"""

import asyncio
import os
import select
import sys
from codecs import getincrementaldecoder
from io import TextIOWrapper
from typing import Any, Final, cast

from textual import constants
from textual.driver import Driver
from textual.message import Message

from tui.output.line_burst import JOINED_S
from tui.output.paste_guard import PasteSafeParser

SHORT: Final = 240  # characters written at once; a terminal that takes output has room for as many
READ: Final = 4096  # bytes
TICK_S: Final = constants.ESCAPE_DELAY + 0.005  # after which an escape alone is the key
LINES_TICK_S: Final = JOINED_S + 0.005  # between two looks whether lines that came at once have an end


class WrittenFile:
    """Counts the writes of Textual's thread that have reached the terminal."""

    def __init__(self, file: TextIOWrapper) -> None:
        self._file = file
        self._written = 0
        self.flushed = 0

    def write(self, text: str) -> None:
        self._file.write(text)
        self._written += 1

    def flush(self) -> None:
        self._file.flush()
        self.flushed = self._written

    def fileno(self) -> int:
        return self._file.fileno()

    def encoded(self, text: str) -> bytes:
        return text.encode(self._file.encoding, self._file.errors or "strict")


def direct_driver(base: type[Driver]) -> type[Driver]:
    """The driver, changed to do so; on Linux, where the terminal can be asked whether it takes output."""
    if sys.platform != "linux":
        return base
    from textual.drivers.linux_driver import LinuxDriver

    if not issubclass(base, LinuxDriver):
        return base

    class DirectDriver(base):
        def __init__(self, app: Any, **options: Any) -> None:
            super().__init__(app, **options)  # pyright: ignore[reportUnknownMemberType] - Textual leaves the parameter of App open
            self._output = WrittenFile(cast("TextIOWrapper", self._file))
            self._file = cast("Any", self._output)
            self._queued = 0  # writes given to Textual's thread
            self._listening: asyncio.Handle | None = None
            self._lines_end: asyncio.TimerHandle | None = None
            self._parser = PasteSafeParser()
            self._decode = getincrementaldecoder("utf-8")().decode

        # Input

        def _run_input_thread(self) -> None:
            if self.input_tty:
                self._listening = self._loop.call_soon_threadsafe(self._listen)
            else:
                super()._run_input_thread()

        def _listen(self) -> None:
            self._parser = PasteSafeParser()
            self._decode = getincrementaldecoder("utf-8")().decode
            self._loop.add_reader(self.fileno, self._read)

        def disable_input(self) -> None:
            super().disable_input()  # waits for the thread above, so no new handle comes
            if self._listening is not None:
                self._listening.cancel()
                self._loop.remove_reader(self.fileno)
                self._listening = None

        def _read(self) -> None:
            try:
                data = os.read(self.fileno, READ)
            except OSError:
                data = b""
            if not data:  # the terminal is gone: TerminalWatch ends the chat
                self._loop.remove_reader(self.fileno)
                return
            for message in self._parser.feed(self._decode(data)):
                self.process_message(message)
            self._loop.call_later(TICK_S, self._tick)
            self._look_for_end_of_lines()

        def _tick(self) -> None:
            for message in self._parser.tick():
                self.process_message(message)

        def _look_for_end_of_lines(self) -> None:
            if self._lines_end is None and self._parser.waits_for_lines:
                self._lines_end = self._loop.call_later(LINES_TICK_S, self._tick_lines)

        def _tick_lines(self) -> None:
            self._lines_end = None
            for message in self._parser.tick_lines():
                self.process_message(message)
            self._loop.call_later(TICK_S, self._tick)  # the lines may end with an escape
            self._look_for_end_of_lines()

        def send_message(self, message: Message) -> None:
            self._app.post_message(message)

        # Output

        def write(self, data: str) -> None:
            if len(data) > SHORT or self._queued != self._output.flushed or not self._written_now(data):
                self._queued += 1
                super().write(data)

        def _written_now(self, data: str) -> bool:
            """Writes it where the terminal takes output; False where it does not, or is gone."""
            terminal, encoded = self._output.fileno(), self._output.encoded(data)
            try:
                if not select.select([], [terminal], [], 0)[1]:
                    return False
                while encoded:
                    encoded = encoded[os.write(terminal, encoded) :]
            except OSError:
                return False
            return True

    return DirectDriver
