"""The text of a file, with what is needed to write it back: its encoding, its byte order mark, its line ends."""

import codecs
import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, NamedTuple, Self

from msgspec import Struct

from agent.tools.port import ToolFailure
from memory.knowledge.readers.encodings import found_out, utf16

MAX_FILE_BYTES: Final = 20_000_000  # of a file that is read or changed
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CODECS: Final = {
    "GB18030": ("gb18030",),
    "Big5": ("big5hkscs",),
    "Shift-JIS": ("cp932",),
    "EUC-JP": ("euc_jp",),
    "EUC-KR": ("cp949",),
    "Windows-1252": ("cp1252",),
    "UTF-16": ("utf-16-le", "utf-16-be"),
}
LOOKED_AT: Final = 8192


class TextEdit(NamedTuple):
    """Replaces the characters from `start` to before `end` by `text`."""

    start: int
    end: int
    text: str


class TextFile(Struct, frozen=True):
    """`raw` is the text with its own line ends; `text` has `\\n` alone."""

    raw: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @classmethod
    def decode(cls, data: bytes) -> Self | None:
        """The text of a file; None where it is not text, or would not be written back as it is."""
        for mark, encoding in _MARKS:
            if data.startswith(mark):
                return cls._as(data, encoding, mark)
        if b"\0" not in data[:LOOKED_AT] and (plain := cls._as(data, "utf-8", b"")) is not None:
            return plain
        if b"\0" in data[:LOOKED_AT] and utf16(data) is None:
            return None
        detected = found_out(data)
        names = _CODECS.get(detected.name, ()) if detected else ()
        return next((text for name in names if (text := cls._as(data, name, b"")) is not None), None)

    @classmethod
    def _as(cls, data: bytes, encoding: str, mark: bytes) -> Self | None:
        try:
            raw = data[len(mark) :].decode(encoding)
            same = encoding == "utf-8" or raw.encode(encoding) == data[len(mark) :]
        except UnicodeError:
            return None
        return cls(raw, encoding, mark) if same else None

    def encode(self, raw: str, shown: str) -> bytes:
        """The bytes of the file with another text. Raises ToolFailure for a character that its encoding lacks."""
        try:
            return self.mark + raw.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise ToolFailure(
                "Not in the file's encoding",
                f"{shown} is {self.encoding}, which has no {raw[error.start]!r} (U+{ord(raw[error.start]):04X}).",
            ) from error

    @property
    def text(self) -> str:
        return self.raw.replace("\r\n", "\n")

    @property
    def line_end(self) -> str:
        """The line end that most lines have."""
        crlf = self.raw.count("\r\n")
        return "\r\n" if crlf * 2 > self.raw.count("\n") else "\n"

    def replace_spans(self, edits: Sequence[TextEdit]) -> str:
        """`raw` after the edits of `text`, which are in order. Each gets the line ends of what it replaces, else the
        file's."""
        ends = [match.end() - 1 - number for number, match in enumerate(re.finditer("\r\n", self.raw), 1)]
        most, pieces, done = self.line_end, list[str](), 0
        for start, end, text in edits:
            raw_start, raw_end = start + bisect_left(ends, start), end + bisect_left(ends, end)
            old, new = self.raw[raw_start:raw_end], text.replace("\r\n", "\n")
            crlf = "\r\n" in old if "\n" in old else most == "\r\n"
            pieces += [self.raw[done:raw_start], new.replace("\n", "\r\n") if crlf else new]
            done = raw_end
        return "".join([*pieces, self.raw[done:]])
