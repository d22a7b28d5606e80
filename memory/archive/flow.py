"""A stretch of conversation as one flowing text, and where each entry stands in it.

Before each entry a line says who spoke, when, and under which id. It stands on the page, and is no part of the entry:
spans say to the character what is.
"""

from collections.abc import Sequence

from msgspec import Struct

from foundation.clock import iso
from memory.archive.ledger import Span
from memory.cold.entries import Entry


class Place(Struct, frozen=True):
    """Where an entry's own text begins and ends in the flow, in characters."""

    entry: Entry
    begin: int
    end: int


class PagePart(Struct, frozen=True):
    """The part of the flow that stands on one page."""

    page: str
    begin: int
    end: int


def flow(entries: Sequence[Entry]) -> tuple[str, list[Place]]:
    """The entries' texts, each under its line, and their places. Entries without text are not for this."""
    parts, places, at = list[str](), list[Place](), 0
    for entry in entries:
        text, head = entry.text or "", head_line(entry)
        begin = at + len(head)
        places.append(Place(entry=entry, begin=begin, end=begin + len(text)))
        parts += [head, text, "\n"]
        at = begin + len(text) + 1
    return "".join(parts), places


def head_line(entry: Entry) -> str:
    """`── Ann · user · 2026-03-14T09:26:53Z · e_4kx7m2p0q9ab ──` and a newline."""
    who = [entry.speaker, entry.role.value] if entry.speaker else [entry.role.value]
    return f"── {' · '.join([*who, iso(entry.time), entry.id])} ──\n"


def spans(place: Place, parts: Sequence[PagePart]) -> list[Span]:
    """The entry's text as spans of pages, in order. An empty text is one empty span, so that it has a home too."""
    found: list[Span] = []
    for part in parts:
        begin, end = max(place.begin, part.begin), min(place.end, part.end)
        if begin < end or (begin == end == place.begin == place.end and not found):
            found.append(
                Span(start=begin - place.begin, length=end - begin, page=part.page, page_start=begin - part.begin)
            )
    return found
