"""Markdown: to the byte, with a place at each heading."""

import re

from memory.knowledge.readers.document import Document, Place
from memory.knowledge.readers.plain import decoded

_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
LONGEST = 80


def read_markdown(raw: bytes) -> Document:
    """Raises Unreadable."""
    text, encoding = decoded(raw)
    return Document(kind="markdown", text=text, places=headings_of(text), encoding=encoding)


def headings_of(text: str) -> tuple[Place, ...]:
    """Where each heading begins; a `#` in a fenced block is none."""
    places, at, fence = list[Place](), 0, ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and (heading := _HEADING.match(line.strip("\ufeff\r\n"))):
            places.append(Place(at, shortened(heading[2])))
        at += len(line)
    return tuple(places)


def shortened(heading: str) -> str:
    """The heading on one line, as a citation shows it."""
    line = " ".join(heading.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"
