"""Keeps pasted text from being read as keys.

Textual looks for escape sequences within a bracketed paste too, and reports what is none as keys: a pasted escape, some
words and a line end sent a message, and Ctrl+G opened the editor. So escapes in a paste are made visible before that.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import Final

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.message import Message

BEGIN: Final = "\x1b[200~"
END: Final = "\x1b[201~"
ESCAPE_SHOWN: Final = "␛"  # as foundation.terminal_text shows it


class PasteGuard:
    """Makes the escapes within pastes visible in an input that arrives in pieces."""

    def __init__(self) -> None:
        self._in_paste = False
        self._held = ""  # in a paste: what may be the beginning of its end; else what was passed on of a BEGIN

    def feed(self, data: str) -> str:
        """The input for the parser. Of a paste's end it is held until it is whole."""
        passed = list[str]()
        while data:
            data = self._held + data
            marker = END if self._in_paste else BEGIN
            text, found, rest = data.partition(marker)
            kept = "" if found else _beginning_of(marker, text)
            if self._in_paste:
                text = text[: len(text) - len(kept)].replace("\x1b", ESCAPE_SHOWN)
                passed.append(text + found)
            else:
                passed.append((text + found)[len(self._held) :])
            self._held, data = kept, rest
            self._in_paste ^= bool(found)
        return "".join(passed)


class PasteSafeParser(XTermParser):
    """A parser to which pastes are text and nothing else."""

    def __init__(self, debug: bool = False) -> None:
        self._guard = PasteGuard()
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        safe = self._guard.feed(data) if data else ""
        return super().feed(safe) if safe or not data else ()  # an empty text is the end of the input


def guard_pastes(driver: type[Driver]) -> type[Driver]:
    """Has the driver parse its input so; a driver without a parser is left as it is."""
    module = import_module(driver.__module__)
    if hasattr(module, "XTermParser"):
        module.__dict__["XTermParser"] = PasteSafeParser
    return driver


def _beginning_of(marker: str, text: str) -> str:
    """The longest end of the text with which the marker begins."""
    return next((text[-size:] for size in range(len(marker) - 1, 0, -1) if text.endswith(marker[:size])), "")
