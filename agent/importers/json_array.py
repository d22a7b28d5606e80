"""The objects of a large JSON array, one at a time, without the whole file in memory."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from foundation.errors import PalimpsestError

CHUNK = 1 << 20
MAX_OBJECT_CHARS = 64 * 2**20
"""The size limit of one object in characters. A file with a larger one is refused, to bound memory."""
MAX_CONTAINERS = 2_000_000


_NON_SPACE = re.compile(r"\S")


class NotAnArray(PalimpsestError):
    """The file is not the array of objects that its format requires."""

    code = "import"


class UnknownFormat(NotAnArray):
    """The file is of none of the formats that are imported."""


def objects(stream: BinaryIO, name: str, largest: int = MAX_OBJECT_CHARS) -> Iterator[Any]:
    """Each element of the array, or a single object. Raises NotAnArray with the offset."""
    buffer = _Buffer(stream, name, largest)
    opening = buffer.next_token()
    if opening != "[":
        yield buffer.value()
        return
    buffer.take()
    if buffer.next_token() == "]":
        return
    while True:
        yield buffer.value()
        match buffer.next_token():
            case ",":
                buffer.take()
            case "]":
                return
            case _:
                raise buffer.broken("a comma or the end of the list is missing")


class _Buffer:
    """The text that is read but not yet parsed."""

    def __init__(self, stream: BinaryIO, name: str, largest: int) -> None:
        self._stream, self._name, self._largest = stream, name, largest
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._parser = json.JSONDecoder(parse_constant=str)  # NaN is not JSON: kept as a string
        self._text, self._position, self._consumed, self._at_end = "", 0, 0, False

    def next_token(self) -> str:
        """The next character that is not white space; "" at the end."""
        while True:
            match = _NON_SPACE.search(self._text, self._position)
            if match is not None:
                self._position = match.start()
                return match[0]
            self._position = len(self._text)
            if not self._read_more(CHUNK):
                return ""

    def take(self) -> None:
        self._position += 1

    def value(self) -> Any:
        """The JSON value at the next token; reads more, twice as much each time, until it is complete."""
        size = CHUNK
        if not self.next_token():
            raise self.broken("it ends too early")
        while True:
            try:
                parsed, end = self._parser.raw_decode(self._text, self._position)
            except json.JSONDecodeError as error:
                if not self._read_more(size):
                    raise self.broken(error.msg, error.pos) from error
                size *= 2
            except RecursionError as error:
                raise self.broken("it is nested too deeply") from error
            except ValueError as error:  # an integer of more digits than Python converts
                raise self.broken("it contains a number with too many digits") from error
            else:
                if end == len(self._text) and self._read_more(CHUNK):
                    continue  # a number might continue
                self._position = end
                return parsed

    def broken(self, problem: str, position: int | None = None) -> NotAnArray:
        offset = self._consumed + (self._position if position is None else position)
        return NotAnArray(
            "Broken JSON", f"{self._name}: {problem} (character {offset:,}).", "Check that the export is complete."
        )

    def _read_more(self, size: int) -> bool:
        if self._at_end:
            return False
        raw = self._stream.read(size)
        self._at_end = not raw
        try:
            text = self._decoder.decode(raw, final=self._at_end)
        except UnicodeDecodeError as error:
            raise NotAnArray(
                "Not text", f"{self._name} is not UTF-8 ({error.reason}).", "Convert it to UTF-8."
            ) from error
        self._consumed += self._position
        self._text, self._position = self._text[self._position :] + text, 0
        if len(self._text) > self._largest + CHUNK:
            raise self.broken(f"one conversation is larger than {self._largest:,} characters (imports.conversation_mb)")
        if self._text.count("{") + self._text.count("[") > MAX_CONTAINERS:
            raise self.broken(f"one conversation contains more than {MAX_CONTAINERS:,} objects and lists")
        return bool(text) or not self._at_end
