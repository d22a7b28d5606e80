"""What the chat in lines wrote to its terminal."""

import sys
from collections.abc import Callable

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

Start = Callable[..., "Terminal"]


def written(terminal: "Terminal") -> str:
    return terminal.bytes.decode(errors="replace").replace("\r\n", "\n")


def until(terminal: "Terminal", words: str, times: int = 1) -> str:
    """Reads until the words were written so often; gives all that was written."""
    terminal.until(lambda _: written(terminal).count(words) >= times)
    return written(terminal)


def answer(terminal: "Terminal", words: str) -> None:
    """Types the words, and then Enter: what comes with Enter in one instant is a paste, and answers nothing."""
    terminal.type(words)
    terminal.settle(0.1)
    terminal.type("\r")
