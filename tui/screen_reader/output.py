"""Lines for a screen reader: each is written once, whole, and nothing that was written changes."""

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Final

from msgspec import Struct

from foundation.terminal_text import visible

PAGE_LINES: Final = 40  # lines of a folded text that are printed at once
BELL: Final = "\a"


class Folded(Struct, frozen=True):
    """A text that is printed on `/show`. `read` may block, and raise PalimpsestError."""

    title: str
    read: Callable[[], str]


class LineOutput:
    """Writes lines from any thread. While a line is edited (`hold`), they wait."""

    def __init__(self, write: Callable[[str], object] | None = None, *, rings: bool = False) -> None:
        self._write = write or _to_terminal
        self._rings = rings
        self._lock = Lock()
        self._held: list[str] | None = None
        self._folded: list[Folded] = []
        self.last_line = time.monotonic()  # when one was written

    def say(self, *texts: str) -> None:
        """Writes lines, control characters made visible."""
        lines = [line.rstrip() + "\n" for text in texts for line in visible(text).expandtabs(4).split("\n")]
        with self._lock:
            self.last_line = time.monotonic()
            if self._held is not None:
                self._held += lines
            else:
                self._write("".join(lines))

    def ring(self) -> None:
        """Rings the bell, where the setting asks for it."""
        if self._rings:
            with self._lock:
                self._write(BELL)

    def hold(self) -> None:
        """Keeps lines back from now on."""
        with self._lock:
            self._held = self._held or []

    def release(self) -> None:
        """Writes what was kept back."""
        with self._lock:
            lines, self._held = self._held or [], None
            if lines:
                self._write("".join(lines))

    def fold(self, title: str, read: Callable[[], str]) -> str:
        """Keeps a text for `/show`; gives the command that prints it."""
        self._folded.append(Folded(title, read))
        return f"/show {len(self._folded)}"

    def folded(self, number: int) -> Folded | None:
        """What `/show` with this number prints."""
        return self._folded[number - 1] if 0 < number <= len(self._folded) else None

    @property
    def titles(self) -> list[str]:
        """What is folded, oldest first."""
        return [folded.title for folded in self._folded]


def text_lines(text: str) -> list[str]:
    """The lines of a text as they are printed."""
    return visible(text).rstrip("\n").split("\n")


def _to_terminal(text: str) -> None:
    """Writes at once: what a buffer held of a closed terminal would fail again at the end."""
    rest = text.encode(sys.stdout.encoding or "ascii", "replace")
    with suppress(OSError, ValueError):  # the terminal is closed: the program is about to end
        while rest:
            rest = rest[os.write(sys.stdout.fileno(), rest) :]
