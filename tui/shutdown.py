"""Ends the chat in the normal way on a signal or when the terminal is closed; the exit status names the signal."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable
from threading import Thread
from typing import ClassVar, Final

from textual.driver import Driver

EXIT_COMMANDS: Final = frozenset({"/exit", "/quit", "/q"})  # typed commands that end the chat

SIGNALLED: Final = 128  # added to a signal's number in an exit status
HANGUP: Final = 1  # SIGHUP, which Windows has not

_SIGNALS: Final = ("SIGTERM", "SIGHUP")


class TerminalWatch:
    """Calls `leave` once, on the event loop, when the chat should end."""

    PERIOD: ClassVar[float] = 5.0  # seconds between looks at the terminal

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave = leave
        self.status = 0  # the exit status: 128 and the number of the first signal, as a shell has it

    def start(self) -> None:
        """Installs the signal handlers; on Windows without the event loop, which does not support them."""
        loop = asyncio.get_running_loop()
        for number in _signals():
            try:
                loop.add_signal_handler(number, self._end, number)
            except (NotImplementedError, RuntimeError, ValueError):
                with contextlib.suppress(ValueError):  # not on the main thread: a test, an embedding
                    signal.signal(number, lambda number, _frame: self._end_soon(loop, number))

    def _end_soon(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        loop.call_soon_threadsafe(self._end, number)

    def _end(self, number: int) -> None:
        self.status = self.status or SIGNALLED + number
        self._leave()

    def stop(self) -> None:
        """Removes the signal handlers."""
        loop = asyncio.get_running_loop()
        for number in _signals():
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(number)

    def check(self) -> None:
        """Ends the chat where the terminal was closed without a signal."""
        if not _terminal_is_open():
            self._end(HANGUP)


def ignore_interrupts() -> None:
    """Called once the chat has ended: a Ctrl+C more than was needed ends nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def tolerant_driver(base: type[Driver]) -> type[Driver]:
    """The driver, changed to drop output once its terminal is closed.

    Textual's writer thread dies of the first write that fails. Its queue is bounded, so that later writes would block
    the event loop for ever.
    """

    class TolerantDriver(base):
        def write(self, data: str) -> None:
            if self._can_write:
                super().write(data)

        def close(self) -> None:
            if self._can_write:
                super().close()

        @property
        def _can_write(self) -> bool:
            writer: Thread | None = getattr(self, "_writer_thread", None)
            return writer is None or writer.is_alive()

    return TolerantDriver


def _signals() -> list[signal.Signals]:
    return [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]


def _terminal_is_open() -> bool:
    try:
        import termios
    except ImportError:
        return True
    stdin = sys.__stdin__
    if stdin is None or stdin.closed or not _started_in_terminal():
        return True
    try:
        termios.tcgetattr(stdin.fileno())
    except (termios.error, OSError, ValueError):
        return False
    return True


def _started_in_terminal() -> bool:
    """Whether the program was started in a terminal; a test may run without one."""
    return _STARTED_IN_TERMINAL


def _in_terminal() -> bool:
    try:
        return sys.__stdin__ is not None and sys.__stdin__.isatty()
    except ValueError:
        return False


_STARTED_IN_TERMINAL: Final = _in_terminal()
