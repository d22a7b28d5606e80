"""Text readers, which keep every byte: plain text and code with a place every twenty lines, Markdown at headings."""

import codecs
import re

from memory.knowledge.errors import UnreadableDocument
from memory.knowledge.readers.document import Document, DocumentLocation
from memory.knowledge.readers.encodings import DecodedText, found_out, utf16

EVERY = 20  # lines
_BEGINNING = 8192  # bytes
_MARKS = (  # the longer before the shorter that it begins with
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decoded(raw: bytes) -> DecodedText:
    """The text: UTF-8, or UTF-16 and UTF-32 by their byte order mark; else by detection, and then the encoding is
    named. Of UTF-8 every byte is kept.

    Raises UnreadableDocument, which names the offending place.
    """
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _decode_strict(raw[len(mark) :], encoding, f"{encoding[:6].upper()}, as its first bytes say")
    wide = utf16(raw) if b"\x00" in raw[:_BEGINNING] else None
    return wide or _decode_strict(raw, "utf-8", "UTF-8")


def _decode_strict(raw: bytes, encoding: str, name: str) -> DecodedText:
    try:
        return DecodedText(raw.decode(encoding), "")
    except UnicodeDecodeError as error:
        if encoding == "utf-8" and (found := found_out(raw)):
            return found
        line = raw.count(b"\n", 0, error.start) + 1
        raise UnreadableDocument(
            f"its text is not valid {name} (line {line}, byte {error.start}), and its encoding is unknown; "
            "save it as UTF-8 in an editor, then add it"
        ) from error


def lines_of(text: str) -> tuple[DocumentLocation, ...]:
    """The locations `line 1`, `line 21`, …."""
    places, at = [DocumentLocation(0, "line 1")], 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        at += len(line)
        if number % EVERY == 0 and at < len(text):
            places.append(DocumentLocation(at, f"line {number + 1}"))
    return tuple(places)


def read_text(raw: bytes) -> Document:
    """Reads plain text. Raises UnreadableDocument."""
    text, encoding = decoded(raw)
    return Document(kind="text", text=text, places=lines_of(text), encoding=encoding)


def read_code(raw: bytes) -> Document:
    """Reads source code. Raises UnreadableDocument."""
    text, encoding = decoded(raw)
    return Document(kind="code", text=text, places=lines_of(text), encoding=encoding)


_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
LONGEST = 80


def read_markdown(raw: bytes) -> Document:
    """Reads Markdown. Raises UnreadableDocument."""
    text, encoding = decoded(raw)
    return Document(kind="markdown", text=text, places=headings_of(text), encoding=encoding)


def headings_of(text: str) -> tuple[DocumentLocation, ...]:
    """The locations of headings; a `#` in a fenced block is none."""
    places, at, fence = list[DocumentLocation](), 0, ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and (heading := _HEADING.match(line.strip("\ufeff\r\n"))):
            places.append(DocumentLocation(at, shortened(heading[2])))
        at += len(line)
    return tuple(places)


def shortened(heading: str) -> str:
    """The heading on one line, as a citation shows it."""
    line = " ".join(heading.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"
