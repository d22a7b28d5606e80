"""Limits on what a server may send: settings, and the counts and JSON that are taken from it."""

from typing import Annotated, Any

from msgspec import Meta, Struct

MEGABYTE = 2**20
LARGEST_COUNT = 2**53  # of tokens: every reader of JSON keeps a number up to it


def _setting(sentence: str) -> Meta:
    """Guarded: a folder from a stranger does not open the door to a server from one."""
    return Meta(gt=0, description=sentence, extra={"guarded": True})


class TooMuch(Exception):
    """A server sent more than a limit allows: `what` it was, the name of the setting, and its value in megabytes."""

    def __init__(self, what: str, setting: str, most: float) -> None:
        super().__init__(f"{what} passes {setting} ({most:g})")
        self.what = what
        self.setting = setting
        self.most = most


class StreamLimits(Struct, frozen=True, kw_only=True):
    """The most that a server may send. Sizes are in megabytes (2^20 bytes)."""

    body_mb: Annotated[float, _setting("The largest JSON body of a server, in megabytes, unpacked.")] = 16.0
    event_mb: Annotated[float, _setting("The largest event of a stream, in megabytes.")] = 4.0
    line_mb: Annotated[float, _setting("The longest line of a stream, in megabytes.")] = 4.0
    answer_mb: Annotated[
        float, _setting("The most text and reasoning that one answer may hold, in millions of characters (2^20).")
    ] = 4.0
    arguments_mb: Annotated[
        float, _setting("The most tool arguments that one turn may send, all calls together, in megabytes.")
    ] = 1.0
    unpacked_times: Annotated[
        float, _setting("How many times its size a compressed body of more than a megabyte may unpack to.")
    ] = 100.0


class AnswerMeter:
    """Adds up the text and the tool arguments of one answer. Raises TooMuch where they pass the limits."""

    def __init__(self, limits: StreamLimits) -> None:
        self._limits = limits
        self._characters = self._arguments = 0

    def take_text(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > in_bytes(self._limits.answer_mb):
            raise TooMuch("the answer's text", "answer_mb", self._limits.answer_mb)

    def take_call(self, *pieces: str) -> None:
        """A part of a tool call: its id, name or arguments."""
        self._arguments += sum(map(len, pieces))
        if self._arguments > in_bytes(self._limits.arguments_mb):
            raise TooMuch("the text of its tool arguments", "arguments_mb", self._limits.arguments_mb)


def in_bytes(megabytes: float) -> int:
    return max(1, int(megabytes * MEGABYTE))


def count_of(value: Any) -> int:
    """The value as a count of tokens; 0 for whatever is no whole number from 0 to 2^53."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_COUNT:
        return 0
    return int(value) if value == int(value) else 0
