"""The result of a reader: a file's text, its places, and its pictures, which are kept unchanged."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import Struct

ReadWords = Callable[[bytes], str]
"""Gives the words in an encoded picture; "" where it finds none."""


class DocumentLocation(Struct, frozen=True):
    """The location of the text from character `start` on: `page 3`, `slide 2`, a heading, `line 41`.

    `read_by` is the OCR engine that read the text; "" for the file's own.
    """

    start: int
    label: str
    read_by: str = ""


class DocumentImage(Struct, frozen=True):
    """A picture to be stored, encoded, and the span of the text that was read from it."""

    data: bytes
    suffix: str  # of a file's name: `.png`
    width: int
    height: int
    start: int
    length: int


class Document(Struct, frozen=True, kw_only=True):
    """The parsed file. `said` are sentences for the user who added it; `encoding` is the encoding that was detected, ""
    where the file declares one."""

    kind: str  # pdf | docx | pptx | markdown | html | text | code | picture
    text: str
    places: tuple[DocumentLocation, ...] = ()
    pictures: tuple[DocumentImage, ...] = ()
    said: tuple[str, ...] = ()
    encoding: str = ""


class OcrReader(NamedTuple):
    """The reader of text in pictures: the engine's name, and the engine."""

    name: str
    words: ReadWords


class DocumentSection(NamedTuple):
    """A part of a file with a location of its own."""

    label: str
    text: str
    read_by: str = ""


BETWEEN = "\n\n"


def join_parts(parts: Sequence[DocumentSection]) -> tuple[str, tuple[DocumentLocation, ...]]:
    """The joined texts of the parts, and the location of each."""
    places, at = list[DocumentLocation](), 0
    for part in parts:
        places.append(DocumentLocation(at, part.label, part.read_by))
        at += len(part.text) + len(BETWEEN)
    return BETWEEN.join(part.text for part in parts), tuple(places)
