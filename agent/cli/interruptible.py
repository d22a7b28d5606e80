"""Long work that Ctrl+C ends at once, although a library computes for seconds without listening."""

import os
import sys
from collections.abc import Callable
from threading import Thread
from typing import TypeVar

from agent.cli import output

T = TypeVar("T")

INTERRUPTED = 130
_LISTEN_S = 0.1  # where waiting cannot be interrupted (Windows), it is at least short


def interruptible(work: Callable[[], T]) -> T:
    """What the work gives or raises; it runs on a thread of its own, and is left behind on KeyboardInterrupt.

    For work that leaves nothing half done. Whoever catches the interrupt has to `leave_at_once`.
    """
    given = list[T]()
    raised = list[BaseException]()

    def run() -> None:
        try:
            given.append(work())
        except BaseException as error:  # raised again below, on the thread that asked
            raised.append(error)

    thread = Thread(target=run, name="reading", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LISTEN_S)
    if raised:
        raise raised[0]
    return given[0]


def leave_at_once() -> None:
    """Ends the program as interrupted. A library's threads still compute: an orderly end would abort among them."""
    output.say("Interrupted.")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
