"""Work that Ctrl+C ends at once although a library computes for seconds, and the progress of reading a picture."""

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
_LISTEN_S = 0.1  # short, because waiting cannot be interrupted on Windows


def interruptible(work: Callable[[], T]) -> T:
    """The result of the work, or its exception; it runs on its own thread, which is abandoned on KeyboardInterrupt.

    For work that may be abandoned at any point. The caller must `leave_at_once` after the interrupt.
    """
    results = list[T]()
    raised = list[BaseException]()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised again below, on the calling thread
            raised.append(error)

    thread = Thread(target=run, name="reading", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LISTEN_S)
    if raised:
        raise raised[0]
    return results[0]


def leave_at_once() -> None:
    """Exits as interrupted, without an orderly shutdown, which would crash in a library's running threads."""
    output.narrate("Interrupted.")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)


class ReadingProgress:
    """Progress of reading a picture, on one line of a terminal that is cleared at the end; silent elsewhere.

    `with ReadingProgress("scan.png") as progress:`
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._shown = 0

    def __enter__(self) -> Self:
        self.stage("reading")
        return self

    def stage(self, doing: str) -> None:
        """Shows the current stage."""
        self._stage = doing
        self._show(doing)

    def lines(self, done: int, of: int) -> None:
        """Shows how many lines OCR has read."""
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
