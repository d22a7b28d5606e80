"""Server-sent events from bytes, however they are split (WHATWG HTML, 9.2.6).

Comments, `: keepalive 23/24` among them, make no event, but they are counted; a check for life looks at the bytes.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from models.limits import OverheadMeter, StreamLimitExceeded, StreamLimits, in_bytes

_PROGRESS = re.compile(rb":\D*(\d+)\s*/\s*\d+")
_BOM = b"\xef\xbb\xbf"
LONGEST_NAME = 64  # bytes of an event's name that cost nothing
MOST_LINES = 100_000  # `data:` lines of one event: each costs an object, however short it is


class ServerEvent(Struct, frozen=True):
    """One event: its name ("message" where none was given) and its data, lines joined by a newline."""

    event: str
    data: str


class EventParser:
    """Parses bytes into complete events. Any split gives the same events."""

    def __init__(self, limits: StreamLimits | None = None) -> None:
        self._limits = limits or StreamLimits()
        self._most_line, self._most_event = in_bytes(self._limits.line_mb), in_bytes(self._limits.event_mb)
        self.quiet = OverheadMeter(self._limits)
        self.progress = b""  # the newest comment of the form `keepalive 23/24`, which counts the prompt's parts
        self._pending = bytearray()  # the line in progress
        self._after_cr = False
        self._at_start = True
        self._event = ""
        self._data: list[bytes] = []
        self._size = 0  # bytes of data in the event in progress

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """The events that `chunk` completes. Raises StreamLimitExceeded after those that came before it."""
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if chunk.endswith(b"\r"):
            self._after_cr = True
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            self._check(len(line))
            complete = bytes(self._pending + line) if self._pending else line
            self._pending.clear()
            if event := self._take(complete):
                yield event
        self._check(len(rest))
        self._pending += rest

    def close(self) -> list[ServerEvent]:
        """An event that the end of the stream completes: some servers leave the last empty line out."""
        events = list(self.feed(b"\n\n")) if self._pending or self._data else []
        self._data.clear()
        return events

    def _check(self, more: int) -> None:
        if len(self._pending) + more > self._most_line:
            raise StreamLimitExceeded("a line of its stream", "line_mb", self._limits.line_mb)

    def _take(self, line: bytes) -> ServerEvent | None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._end_event()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value) + 1
            if self._size > self._most_event or len(self._data) >= MOST_LINES:
                raise StreamLimitExceeded("an event of its stream", "event_mb", self._limits.event_mb)
            self._data.append(value)
        elif name == b"error":  # no field of the standard: llama.cpp's errors until 2025
            return ServerEvent("error", _text(value))
        elif name == b"event" and not self._event and 0 < len(value) <= LONGEST_NAME:
            self._event = _text(value)
        else:
            self.quiet.take_line(line)
            self.progress = match[1] if (match := _PROGRESS.match(line)) else self.progress
            self._event = _text(value) if name == b"event" else self._event
        return None

    def _end_event(self) -> ServerEvent | None:
        if not self._data:
            self.quiet.take_line(b"")
        event = ServerEvent(self._event or "message", _text(b"\n".join(self._data))) if self._data else None
        self._event = ""
        self._data.clear()
        self._size = 0
        return event


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
