"""Long work that Ctrl+C ends at once, although a library computes for seconds without listening.

What is being done to a picture, on one line of a terminal that replaces itself; silent elsewhere.
"""

import os
import sys
from collections.abc import Callable
from threading import Thread
from typing import Self, TypeVar

import click

from agent.cli import output
from foundation.terminal_text import visible

T = TypeVar("T")

INTERRUPTED = 130
_LISTEN_S = 0.1  # where waiting cannot be interrupted (Windows), it is at least short


def interruptible(work: Callable[[], T]) -> T:
    """What the work gives or raises; it runs on a thread of its own, and is left behind on KeyboardInterrupt.

    For work that leaves nothing half done. Whoever catches the interrupt has to `leave_at_once`.
    """
    results = list[T]()
    raised = list[BaseException]()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised again below, on the thread that asked
            raised.append(error)

    thread = Thread(target=run, name="reading", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LISTEN_S)
    if raised:
        raise raised[0]
    return results[0]


def leave_at_once() -> None:
    """Ends the program as interrupted. A library's threads still compute: an orderly end would abort among them."""
    output.narrate("Interrupted.")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)


class ReadingProgress:
    """`with ReadingProgress("scan.png") as progress:` the line is gone when it ends."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._shown = 0

    def __enter__(self) -> Self:
        self.stage("reading")
        return self

    def stage(self, doing: str) -> None:
        """From now on this is done."""
        self._stage = doing
        self._show(doing)

    def lines(self, done: int, of: int) -> None:
        """OCR has read so many lines."""
        self._show(f"{self._stage}: {done:,} of {of:,} lines")

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r" + " " * self._shown + "\r", nl=False, err=True)

    def _show(self, doing: str) -> None:
        if not sys.stderr.isatty():
            return
        text = visible(f"{self._name}: {doing} …")
        click.echo("\r" + text.ljust(self._shown), nl=False, err=True)
        self._shown = max(self._shown, len(text))
