"""Keeps pasted text from being read as keys, and keys from being read as text.

Textual looks for escape sequences within a bracketed paste too, and reports what is none as keys: a pasted escape, some
words and a line end sent a message, and Ctrl+G opened the editor. So escapes in a paste are made visible before that.

Of a sequence that it does not know, Textual makes a key of each character, and "^" of the escape where another escape
comes next: Esc, Ctrl+P and an arrow key at once wrote "^" in the prompt. Here that escape is the key Esc.

Control sequences and replies of the terminal that are unknown are dropped when they are complete. Keys are rewritten
first (tui.output.kitty_keys): an error in Textual's parser ends the reading of keys.
"""

import re
from collections.abc import Iterable
from importlib import import_module
from typing import Final

from textual import _xterm_parser, events
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.keys import Keys
from textual.message import Message

from tui.output.ground_reports import GroundReported, GroundReports
from tui.output.kitty_keys import simple_key
from tui.output.line_burst import REPORT, SEQUENCE, LineBurst

BEGIN: Final = "\x1b[200~"
END: Final = "\x1b[201~"
CONTROL_SEQUENCE: Final = "\x1b["
ESCAPE: Final = "\x1b"
ESCAPE_SHOWN: Final = "␛"  # as foundation.terminal_text shows it
_COMPLETE: Final = re.compile(r"\x1b\[(?!M\Z)\[?[0-?]*[ -/]*[@-Z\\-~]")  # `M` of old mouse reports and `[` go on
_NO_KEY: Final = re.compile(r"\x1b\[(?:<\d+;-?\d+;-?\d+[mM]|\?\d+;\d\$y)")  # the mouse and modes, which Textual reads
_STRING: Final = re.compile(r"\x1b(?:\][0-9;]|_G|P[0-9>!+$])[^\x07\x1b]*(?:\x07|\x1b\\)")  # replies in words
MAX_SEQUENCE: Final = 128  # characters; Textual stops at 32, and an input method sends several characters in one
DISAMBIGUATE_WITH_ALTERNATES: Final = 0b101  # flags of the kitty protocol; the alternates tell the base layout's key
_BRACKETED: Final = re.compile(f"{re.escape(BEGIN)}.*?(?:{re.escape(END)}|\\Z)", re.DOTALL)


_xterm_parser.__dict__["_MAX_SEQUENCE_SEARCH_THRESHOLD"] = MAX_SEQUENCE


class PasteGuard:
    """Makes the escapes within pastes visible in an input that arrives in pieces."""

    def __init__(self) -> None:
        self._in_paste = False
        self._held = ""  # in a paste: what may be the beginning of its end; else what was passed on of a BEGIN

    @property
    def begun(self) -> str:
        """Outside of a paste: what came of the beginning of one."""
        return "" if self._in_paste else self._held

    def split(self, data: str) -> tuple[str, str]:
        """The part of an input that belongs to the paste which is under way, and the rest."""
        if not self._in_paste:
            return "", data
        at = (self._held + data).find(END)
        end = len(data) if at < 0 else at + len(END) - len(self._held)
        return data[:end], data[end:]

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
        pasted, data = self._guard.split(data)
        if pasted:
            self._lines.passes()
            yield from self._pass_on(pasted)
        if data:
            yield from self._feed_outside(self._lines.undecided() + data)

    def _feed_outside(self, data: str) -> Iterable[Message]:
        """An input that begins outside of a bracketed paste."""
        begun = self._guard.begun
        if begun and not BEGIN.startswith(begun + data[: len(BEGIN) - len(begun)]):  # another sequence: it ends here
            rest = SEQUENCE.sub("", begun + data, count=1)
            yield from self._pass_on(data[: len(data) - len(rest)])
            begun, data = self._guard.begun, rest
        if BEGIN not in begun + data:
            yield from self._feed_keys(data)
        elif self._lines.makes_paste(REPORT.sub("", _BRACKETED.sub("", begun + data))):
            self._lines.takes(data)  # the brackets are part of what was pasted without
        else:
            end = data.rfind(END) + len(END) if END in data else len(data)
            self._lines.passes()
            yield from self._pass_on(data[:end])
            if rest := data[end:]:
                yield from self._feed_outside(rest)

    def _feed_keys(self, data: str) -> Iterable[Message]:
        """Keys, reports, or lines that were pasted without brackets."""
        typed = REPORT.sub("", data)
        if typed and self._lines.takes(typed):
            data = "".join(report.group() for report in REPORT.finditer(data))
        if data:
            yield from self._pass_on(data)

    def _pass_on(self, data: str) -> Iterable[Message]:
        for part in self._reports.feed(self._guard.feed(data)):
            if isinstance(part, GroundReported):
                yield part
            elif part := _STRING.sub("", part):
                yield from super().feed(part)

    def tick(self) -> Iterable[Message]:
        yield from self.tick_lines()
        if held := self._reports.release():
            yield from super().feed(held)
        yield from super().tick()

    @property
    def waits_for_lines(self) -> bool:
        """Whether `tick_lines` is to be called soon."""
        return self._lines.waits

    def tick_lines(self) -> Iterable[Message]:
        """What of the lines that came at once is whole, a paste or keys."""
        kept = self._lines.release_whole()
        if kept.is_paste:
            yield events.Paste(kept.text.replace(ESCAPE, ESCAPE_SHOWN).replace("\x00", ""))
        elif kept.text:
            yield from self._pass_on(kept.text)

    def _sequence_to_key_events(self, sequence: str, alt: bool | None = None) -> Iterable[events.Key]:
        """Textual passes `alt` for each character of a sequence that it does not know; True right after its escape."""
        if alt is None:
            return self._keys_of(sequence)
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

    def _keys_of(self, sequence: str) -> list[events.Key]:
        """The keys of a sequence so far. Of a complete one without any it is one to ignore, which ends the sequence."""
        if sequence.startswith(CONTROL_SEQUENCE) and not _COMPLETE.fullmatch(sequence):
            return []  # of a long one Textual's expression would take seconds
        keys = list(super()._sequence_to_key_events(key)) if (key := simple_key(sequence)) else []
        is_unknown = not keys and sequence.startswith(CONTROL_SEQUENCE) and not _NO_KEY.fullmatch(sequence)
        return [events.Key(Keys.Ignore, sequence)] if is_unknown else keys

    def _after_escape(self, character: str) -> list[events.Key]:
        """Alt and a letter, or Esc and then a control key; none for the beginning of a control sequence."""
        if f"{ESCAPE}{character}" == CONTROL_SEQUENCE:
            return []
        if not character.isprintable():
            self._tokens.append(events.Key("escape", ESCAPE))  # of one that is returned Textual makes "^"
        return list(super()._sequence_to_key_events(character, alt=True))


def guard_pastes(driver: type[Driver]) -> type[Driver]:
    """Has the driver parse its input so; a driver without a parser is left as it is."""
    module = import_module(driver.__module__)
    if hasattr(module, "XTermParser"):
        module.__dict__["XTermParser"] = PasteSafeParser
        module.__dict__["KITTY_DISAMBIGUATE_ESCAPE_CODES"] = DISAMBIGUATE_WITH_ALTERNATES
    return driver


def _beginning_of(marker: str, text: str) -> str:
    """The longest end of the text with which the marker begins."""
    return next((text[-size:] for size in range(len(marker) - 1, 0, -1) if text.endswith(marker[:size])), "")
