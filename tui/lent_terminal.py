"""Lends the terminal to another program: an editor, or a command of the person's."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from textual.dom import DOMNode

from tui.typed_app import app_of


@contextmanager
def lent_terminal(node: DOMNode) -> Generator[None]:
    """The screen is away within it, and Ctrl+C is the program's. Raises SuspendNotSupported.

    An error that left the block would leave the terminal to nobody.
    """
    app = app_of(node)
    with _interrupts_left_to_program(), app.suspend():
        yield
    app.refresh(repaint=True, layout=True)


@contextmanager
def _interrupts_left_to_program() -> Generator[None]:
    """Ctrl+C ends the program, and not the chat."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _ignore)  # a handler, which no program inherits
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _ignore(number: int, frame: FrameType | None) -> None:
    del number, frame
