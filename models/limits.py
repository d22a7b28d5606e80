"""Limits on what a server may send: the settings, and bounded counts and JSON."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from foundation.sizes import MEGABYTE

AROUND_WORDS = 1024  # bytes of JSON around the words of one event: llama.cpp sends about 250
LARGEST_COUNT = 2**53  # of tokens: every reader of JSON keeps a number up to it


def _setting(sentence: str) -> Meta:
    """A guarded setting: a stranger's folder must not raise the limits for a stranger's server."""
    return Meta(gt=0, description=sentence, extra={"guarded": True})


class StreamLimitExceeded(Exception):
    """A server exceeded a limit: what exceeded it (`subject`), the name of the setting, and its value."""

    def __init__(self, subject: str, setting: str, most: float) -> None:
        super().__init__(f"{subject} passes {setting} ({most:g})")
        self.subject = subject
        self.setting = setting
        self.most = most

    @property
    def limit(self) -> str:
        """The limit with the unit that its setting's name ends with: `4 MB`, `100 times its size`."""
        _, _, unit = self.setting.rpartition("_")
        units = {"mb": "MB", "events": "events", "times": "times its size"}
        return f"{self.most:,.15g} {units[unit]}"


class StreamLimits(Struct, frozen=True, kw_only=True):
    """The most that a server may send. Sizes are in megabytes (2^20 bytes)."""

    body_mb: Annotated[float, _setting("The largest JSON body of a server, in megabytes, decompressed.")] = 16.0
    event_mb: Annotated[float, _setting("The largest event of a stream, in megabytes.")] = 4.0
    line_mb: Annotated[float, _setting("The longest line of a stream, in megabytes.")] = 4.0
    answer_mb: Annotated[float, _setting("The most text and reasoning in one answer, in megabytes of UTF-8.")] = 4.0
    arguments_mb: Annotated[
        float, _setting("The most tool arguments in one turn, all calls together, in megabytes.")
    ] = 1.0
    quiet_mb: Annotated[
        float,
        _setting("The most that one answer may send besides text (keep-alives, empty events), in megabytes."),
    ] = 64.0
    quiet_events: Annotated[int, _setting("The most keep-alives, empty events and empty lines in one answer.")] = (
        200_000
    )
    unpacked_times: Annotated[
        float, _setting("The highest compression ratio of a body that is larger than a megabyte when decompressed.")
    ] = 100.0


class AnswerMeter:
    """Counts the text and the tool arguments of one answer. Raises StreamLimitExceeded past the limits."""

    def __init__(self, limits: StreamLimits) -> None:
        self._limits = limits
        self._text = self._arguments = 0

    @property
    def taken(self) -> int:
        """Bytes of text and of tool calls, so far."""
        return self._text + self._arguments

    def take_text(self, text: str) -> None:
        self._text += _size(text)
        if self._text > in_bytes(self._limits.answer_mb):
            raise StreamLimitExceeded("the answer's text", "answer_mb", self._limits.answer_mb)

    def take_call(self, *pieces: str) -> None:
        """A part of a tool call: its id, name or arguments."""
        self._arguments += sum(map(_size, pieces))
        if self._arguments > in_bytes(self._limits.arguments_mb):
            raise StreamLimitExceeded("the text of its tool arguments", "arguments_mb", self._limits.arguments_mb)


class OverheadMeter:
    """Counts what a stream sends besides text and calls. Raises StreamLimitExceeded past the limits.

    llama.cpp sends a comment each second of silence (each 30 seconds before July 2026) and an event for each batch of a
    prompt; others send an empty event for each token of hidden reasoning. 200,000 are 55 hours, or as many tokens.
    """

    def __init__(self, limits: StreamLimits) -> None:
        self._limits = limits
        self._most_bytes = in_bytes(limits.quiet_mb)
        self._events = self._bytes = 0

    def take_line(self, line: bytes) -> None:
        """A line outside of events: a comment, an empty line, an unknown field."""
        self._take(1, len(line) + 1)

    def take_event(self, size: int, words: int) -> None:
        """An event of `size` characters that held so many bytes of `words`: text, or a tool call."""
        self._take(0 if words else 1, max(0, size - (words and words + AROUND_WORDS)))

    def _take(self, events: int, size: int) -> None:
        self._events += events
        self._bytes += size
        if self._events > self._limits.quiet_events:
            raise StreamLimitExceeded("the number of its empty events", "quiet_events", self._limits.quiet_events)
        if self._bytes > self._most_bytes:
            raise StreamLimitExceeded("the data that it sends besides text", "quiet_mb", self._limits.quiet_mb)


def _size(text: str) -> int:
    """In UTF-8: 4 million emoji take 4 times the memory of 4 million letters."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def in_bytes(megabytes: float) -> int:
    return max(1, int(megabytes * MEGABYTE))


def count_of(value: Any) -> int:
    """The value as a count of tokens; 0 for anything but a whole number from 0 to 2^53."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_COUNT:
        return 0
    return int(value) if value == int(value) else 0
