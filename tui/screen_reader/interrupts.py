"""Ctrl+C and the signals that end the program, none of them lost.

An exception raised by a signal handler is lost where it is raised in a callback of readline, and a signal that comes
just before a blocking call does not end it. So a signal is noted first. While a line is read it is raised too, and
again, soon and then each second, until it has ended the line; at other times it only wakes the main thread, which asks
`take`.
"""

import signal
import sys
from collections.abc import Callable
from typing import Final, TypeVar

TICK_S: Final = 1.0  # seconds between two looks while a line is read
SOON_S: Final = 0.05  # seconds after a signal until it is raised again

Read = TypeVar("Read")


class Leaving(BaseException):
    """A signal ends the program."""


class Interrupts:
    """The signals of the main thread. `noted_line` is what was in the line that Ctrl+C or a signal ended."""

    def __init__(self, wake: int, unfinished: Callable[[], str], on_tick: Callable[[], None]) -> None:
        """`wake`: the writing end of a pipe that does not block. `unfinished`: the line that is being edited.
        `on_tick` is called each second while a line is read."""
        self._unfinished = unfinished
        self._on_tick = on_tick
        self._is_reading = False
        self._noted: list[type[BaseException]] = []
        self.noted_line = ""
        self.status = 0  # the exit status: 128 and the number of the first signal that ended the program
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, lambda _number, _frame: self._note(KeyboardInterrupt))
        for number in _ending():
            signal.signal(number, lambda number, _frame: self._leave(number))
        if sys.platform != "win32":
            signal.signal(signal.SIGALRM, lambda _number, _frame: self._tick())

    def reading(self, read: Callable[[], Read]) -> Read:
        """Calls what reads a line; raises KeyboardInterrupt or Leaving where a signal came before its end."""
        try:
            self._is_reading = True
            self._raise()
            _tick_each(TICK_S)
            return read()
        finally:
            self._is_reading = False
            _tick_each(0)

    def take(self) -> bool:
        """Whether Ctrl+C was typed since the last call. Raises Leaving."""
        self._is_reading = False
        count = len(self._noted)
        if Leaving in self._noted:
            raise Leaving
        del self._noted[:count]  # none that came meanwhile
        return count > 0

    def ignore(self) -> None:
        """The program ends: no signal interrupts it now."""
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, *_ending()):
            signal.signal(number, signal.SIG_IGN)

    def _leave(self, number: int) -> None:
        self.status = self.status or 128 + number
        self._note(Leaving)

    def _note(self, noted: type[BaseException]) -> None:
        self._noted.append(noted)
        if self._is_reading:
            self.noted_line = self._unfinished()
            _tick_each(TICK_S, first=SOON_S)
            self._raise()

    def _raise(self) -> None:
        if self._noted:
            raise self._noted[0]

    def _tick(self) -> None:
        if self._is_reading:
            self._raise()
            self._on_tick()


def _tick_each(seconds: float, first: float | None = None) -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds if first is None else first, seconds)


def _ending() -> list[signal.Signals]:
    return [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
