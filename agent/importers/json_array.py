"""The objects of a large JSON array, one at a time, without the whole file in memory."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from foundation.errors import PalimpsestError

CHUNK = 1 << 20
LARGEST = 64 * 2**20
"""Characters that one object may take; beyond it the file is refused rather than the machine filled."""
MOST_CONTAINERS = 2_000_000


_SIGN = re.compile(r"\S")


class NotAnArray(PalimpsestError):
    """The file is not the array of objects that its format asks for."""

    code = "import"


def objects(stream: BinaryIO, name: str, largest: int = LARGEST) -> Iterator[Any]:
    """Each element of the array (or the one object that stands there alone). Raises NotAnArray, told with its place."""
    buffer = _Buffer(stream, name, largest)
    first = buffer.next_sign()
    if first != "[":
        yield buffer.value()
        return
    buffer.take()
    if buffer.next_sign() == "]":
        return
    while True:
        yield buffer.value()
        match buffer.next_sign():
            case ",":
                buffer.take()
            case "]":
                return
            case _:
                raise buffer.broken("a comma or the end of the list is missing")


class _Buffer:
    """The text read so far and not yet taken."""

    def __init__(self, stream: BinaryIO, name: str, largest: int) -> None:
        self._stream, self._name, self._largest = stream, name, largest
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._parser = json.JSONDecoder(parse_constant=str)  # NaN is no JSON: kept as the word
        self._text, self._at, self._before, self._ended = "", 0, 0, False

    def next_sign(self) -> str:
        """The next character that is no space; "" at the end."""
        while True:
            sign = _SIGN.search(self._text, self._at)
            if sign is not None:
                self._at = sign.start()
                return sign[0]
            self._at = len(self._text)
            if not self._more(CHUNK):
                return ""

    def take(self) -> None:
        self._at += 1

    def value(self) -> Any:
        """The JSON value that begins at the next sign; more is read, twice as much each time, until it is whole."""
        size = CHUNK
        if not self.next_sign():
            raise self.broken("it ends too early")
        while True:
            try:
                found, end = self._parser.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._more(size):
                    raise self.broken(error.msg, error.pos) from error
                size *= 2
            except RecursionError as error:
                raise self.broken("it is nested too deep") from error
            except ValueError as error:  # an integer of more digits than Python converts
                raise self.broken("it holds a number of too many digits") from error
            else:
                if end == len(self._text) and self._more(CHUNK):
                    continue  # a number might go on
                self._at = end
                return found

    def broken(self, what: str, at: int | None = None) -> NotAnArray:
        place = self._before + (self._at if at is None else at)
        return NotAnArray("Broken JSON", f"{self._name}: {what} (character {place:,}).", "Is the export complete?")

    def _more(self, size: int) -> bool:
        if self._ended:
            return False
        raw = self._stream.read(size)
        self._ended = not raw
        try:
            text = self._decoder.decode(raw, final=self._ended)
        except UnicodeDecodeError as error:
            raise NotAnArray(
                "Not text", f"{self._name} is not UTF-8 ({error.reason}).", "Convert it to UTF-8."
            ) from error
        self._before += self._at
        self._text, self._at = self._text[self._at :] + text, 0
        if len(self._text) > self._largest + CHUNK:
            raise self.broken(f"one conversation is larger than {self._largest:,} characters (imports.conversation_mb)")
        if self._text.count("{") + self._text.count("[") > MOST_CONTAINERS:
            raise self.broken(f"one conversation holds more than {MOST_CONTAINERS:,} objects and lists")
        return bool(text) or not self._ended
