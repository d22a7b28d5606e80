"""Whether the terminal is light or dark, asked of the terminal itself. Loads no Textual: it is asked before that loads.

The question is OSC 11, the colour of the ground, and behind it DA1, which each terminal answers: once that answer is
there, no other is on its way. https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
"""

import contextlib
import os
import re
import select
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

AUTO: Final = "auto"  # the setting that asks
WAITED_S: Final = 1.0  # seconds for the answers after the question; what is silent longer gives none
LEAST_WAITED_S: Final = 0.1  # seconds, where the program took longer to load
_QUESTION: Final = b"\x1b]11;?\x1b\\\x1b[c"
GROUND: Final = r"\x1b\]11;rgba?:([0-9a-fA-F]+)/([0-9a-fA-F]+)/([0-9a-fA-F]+)[^\x07\x1b]*(?:\x07|\x1b\\)"
"""The pattern of the answer; its groups are the parts of the colour."""
_GROUND: Final = re.compile(GROUND.encode())
_ATTRIBUTES: Final = re.compile(rb"\x1b\[\?[0-9;]*c")
_WITHOUT_ANSWER: Final = frozenset({"", "dumb", "linux", "unknown"})
_MOST_BYTES: Final = 4_096


class TerminalGround(Struct, frozen=True):
    """`is_dark` is None where the terminal does not say; `typed` is what was typed before the answer."""

    is_dark: bool | None = None
    typed: str = ""


class GroundQuestion:
    """Asks on `start`, and gives the answer on `finish`, for which the program can load meanwhile."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._terminal = _terminal() if environment.get("TERM", "") not in _WITHOUT_ANSWER else None
        self._modes: list[Any] = []
        self._since = 0.0

    def start(self) -> None:
        """Writes the question; until `finish` the terminal does not echo."""
        if self._terminal is None:
            return
        import termios
        import tty

        try:
            self._modes = termios.tcgetattr(self._terminal[0])
            tty.setcbreak(self._terminal[0], termios.TCSANOW)
            os.write(self._terminal[1], _QUESTION)
        except (termios.error, OSError):
            self._restore()
            self._terminal = None
        self._since = time.monotonic()

    def finish(self) -> TerminalGround:
        """The answer; waits for it."""
        told = b""
        if self._terminal is not None:
            try:
                told = b"".join(self._answers(self._terminal[0]))
            finally:
                self._restore()
        found = _GROUND.search(told)
        is_dark = is_dark_colour(*found.groups()) if found else _named_dark(self._environment)
        typed = _ATTRIBUTES.sub(b"", _GROUND.sub(b"", told)).decode("utf-8", "ignore")
        return TerminalGround(is_dark, "" if "\x1b" in typed else typed)

    def _answers(self, descriptor: int) -> Iterator[bytes]:
        told = b""
        while not _ATTRIBUTES.search(told) and len(told) < _MOST_BYTES:
            left = self._since + WAITED_S - time.monotonic()  # the answer may have come while the program loaded
            if not select.select([descriptor], [], [], max(left, LEAST_WAITED_S))[0]:
                return
            if not (piece := os.read(descriptor, 1_024)):
                return
            told += piece
            yield piece

    def _restore(self) -> None:
        if self._terminal is None or not self._modes:
            return
        import termios

        with contextlib.suppress(termios.error, OSError):
            termios.tcsetattr(self._terminal[0], termios.TCSANOW, self._modes)


def _terminal() -> tuple[int, int] | None:
    """The descriptors of standard input and output; None where they are no terminal, or on Windows."""
    if os.name != "posix":
        return None
    try:
        streams = sys.__stdin__, sys.__stdout__
        if all(stream is not None and stream.isatty() for stream in streams):
            return tuple(stream.fileno() for stream in streams if stream is not None)  # type: ignore[return-value]  # two
    except (ValueError, OSError):  # closed
        pass
    return None


def is_dark_colour(*parts: bytes | str) -> bool:
    """By the luma of the colour, ITU-R BT.601; a part has one to four hexadecimal digits."""
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in parts)
    return 0.299 * red + 0.587 * green + 0.114 * blue < 0.5


def _named_dark(environment: Mapping[str, str]) -> bool | None:
    """By COLORFGBG, `15;0`: the number of the ground's colour is last; 7 and above 8 are light."""
    ground = environment.get("COLORFGBG", "").rpartition(";")[2]
    return int(ground) in {*range(7), 8} if ground.isascii() and ground.isdigit() else None
