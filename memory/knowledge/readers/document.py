"""The result of a reader: a file's text, its places, and its pictures, which are kept unchanged."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import Struct

ReadWords = Callable[[bytes], str]
"""Gives the words in an encoded picture; "" where it finds none."""


class DocumentLocation(Struct, frozen=True):
    """From character `start` of the text on, this is where it stands: `page 3`, `slide 2`, a heading, `line 41`.

    `read_by` is the OCR engine whose word the text is; "" for the file's own.
    """

    start: int
    label: str
    read_by: str = ""


class DocumentImage(Struct, frozen=True):
    """A picture to be kept, encoded, and the stretch of the text that says what is on it."""

    data: bytes
    suffix: str  # of a file's name: `.png`
    width: int
    height: int
    start: int
    length: int


class Document(Struct, frozen=True, kw_only=True):
    """A file, read. `said` are sentences for the person who added it; `encoding` is what its text was found to be in,
    "" where it said so itself."""

    kind: str  # pdf | docx | pptx | markdown | html | text | code | picture
    text: str
    places: tuple[DocumentLocation, ...] = ()
    pictures: tuple[DocumentImage, ...] = ()
    said: tuple[str, ...] = ()
    encoding: str = ""


class OcrReader(NamedTuple):
    """What reads the words in pictures here: the engine's name, and the engine."""

    name: str
    words: ReadWords


class DocumentSection(NamedTuple):
    """A stretch of a file that has a place of its own."""

    label: str
    text: str
    read_by: str = ""


BETWEEN = "\n\n"


def join_parts(parts: Sequence[DocumentSection]) -> tuple[str, tuple[DocumentLocation, ...]]:
    """The parts' texts below one another, and where each begins."""
    places, at = list[DocumentLocation](), 0
    for part in parts:
        places.append(DocumentLocation(at, part.label, part.read_by))
        at += len(part.text) + len(BETWEEN)
    return BETWEEN.join(part.text for part in parts), tuple(places)
