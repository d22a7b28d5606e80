"""Server-sent events from bytes, however they are cut (WHATWG HTML, 9.2.6).

Comments, `: keepalive 23/24` among them, make no event; whoever waits for life looks at the bytes.
"""

import codecs

from msgspec import Struct


class ServerEvent(Struct, frozen=True):
    """One event: its name ("message" where none was given) and its data, lines joined by a newline."""

    event: str
    data: str


class EventParser:
    """Feed it bytes; it gives the events that are complete. Any cut gives the same events."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._pieces: list[str] = []  # of the line in progress
        self._after_cr = False
        self._at_start = True
        self._event = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        text = self._decode(chunk)
        if text and self._at_start:
            self._at_start = False
            text = text.removeprefix("\ufeff")
        if self._after_cr and text:
            self._after_cr = False
            text = text.removeprefix("\n")
        if text.endswith("\r"):
            self._after_cr = True
        *lines, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        events: list[ServerEvent] = []
        for line in lines:
            self._pieces.append(line)
            whole = "".join(self._pieces)
            self._pieces.clear()
            if event := self._take(whole):
                events.append(event)
        if rest:
            self._pieces.append(rest)
        return events

    def close(self) -> list[ServerEvent]:
        """An event that the end of the stream completes: some servers leave the last empty line out."""
        events = self.feed(b"\n\n") if self._pieces or self._data else []
        self._data.clear()
        return events

    def _take(self, line: str) -> ServerEvent | None:
        if not line:
            event = ServerEvent(self._event or "message", "\n".join(self._data)) if self._data else None
            self._event = ""
            self._data.clear()
            return event
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        return None
