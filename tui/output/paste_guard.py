"""Keeps pasted text from being read as keys, and keys from being read as text.

Textual looks for escape sequences within a bracketed paste too, and reports what is none as keys: a pasted escape, some
words and a line end sent a message, and Ctrl+G opened the editor. So escapes in a paste are made visible before that.

Of a sequence that it does not know, Textual makes a key of each character, and "^" of the escape where another escape
comes next: Esc, Ctrl+P and an arrow key at once wrote "^" in the prompt. Here that escape is the key Esc.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import Final

from textual import events
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.message import Message

from tui.output.ground_reports import GroundReported, GroundReports
from tui.output.line_burst import LineBurst

BEGIN: Final = "\x1b[200~"
END: Final = "\x1b[201~"
CONTROL_SEQUENCE: Final = "\x1b["
ESCAPE: Final = "\x1b"
ESCAPE_SHOWN: Final = "␛"  # as foundation.terminal_text shows it


class PasteGuard:
    """Makes the escapes within pastes visible in an input that arrives in pieces."""

    def __init__(self) -> None:
        self._in_paste = False
        self._held = ""  # in a paste: what may be the beginning of its end; else what was passed on of a BEGIN

    @property
    def is_outside(self) -> bool:
        """Whether neither a paste nor its beginning has come."""
        return not (self._in_paste or self._held)

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
    """A parser to which pastes are text and nothing else, and an escape is never text."""

    def __init__(self, debug: bool = False) -> None:
        self._guard = PasteGuard()
        self._reports = GroundReports()
        self._lines = LineBurst()
        self._unknown = ""  # what was given back so far of a sequence that Textual does not know
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        if not data:  # the end of the input
            yield from super().feed("")
            return
        if self._guard.is_outside and self._lines.takes(data):
            return
        yield from _paste(self._lines.release())
        for part in self._reports.feed(self._guard.feed(data)):
            if isinstance(part, GroundReported):
                yield part
            elif part:
                yield from super().feed(part)

    def tick(self) -> Iterable[Message]:
        yield from _paste(self._lines.release_whole())
        if held := self._reports.release():
            yield from super().feed(held)
        yield from super().tick()

    def _sequence_to_key_events(self, sequence: str, alt: bool | None = None) -> Iterable[events.Key]:
        """Textual passes `alt` for each character of a sequence that it does not know; True right after its escape."""
        if alt is None:
            return super()._sequence_to_key_events(sequence)
        if sequence == ESCAPE:
            self._unknown = ESCAPE
            return ()
        self._unknown = (ESCAPE if alt else self._unknown) + sequence
        if self._unknown == f"{ESCAPE}{sequence}":
            return self._after_escape(sequence)
        if self._unknown.startswith(CONTROL_SEQUENCE):
            has_ended = "@" <= sequence <= "~"
            self._unknown = "" if has_ended else self._unknown
            return ()
        return super()._sequence_to_key_events(sequence)

    def _after_escape(self, character: str) -> list[events.Key]:
        """Alt and a letter, or Esc and then a control key; none for the beginning of a control sequence."""
        if f"{ESCAPE}{character}" == CONTROL_SEQUENCE:
            return []
        if not character.isprintable():
            self._tokens.append(events.Key("escape", ESCAPE))  # of one that is returned Textual makes "^"
        return list(super()._sequence_to_key_events(character, alt=True))


def _paste(text: str) -> Iterable[events.Paste]:
    return [events.Paste(text)] if text else []


def guard_pastes(driver: type[Driver]) -> type[Driver]:
    """Has the driver parse its input so; a driver without a parser is left as it is."""
    module = import_module(driver.__module__)
    if hasattr(module, "XTermParser"):
        module.__dict__["XTermParser"] = PasteSafeParser
    return driver


def _beginning_of(marker: str, text: str) -> str:
    """The longest end of the text with which the marker begins."""
    return next((text[-size:] for size in range(len(marker) - 1, 0, -1) if text.endswith(marker[:size])), "")
