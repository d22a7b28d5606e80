"""Counts the secrets of a document, and removes them on request.

A document is cleared as a whole, since a private passage or a key may span a heading, a page or a slide.
"""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from foundation.privacy import Cleared, TextSource, as_given, clear, examine
from foundation.privacy.redaction import Redaction, offset_after
from memory.knowledge.readers.document import Document, DocumentLocation
from memory.knowledge.readers.text import headings_of, lines_of

_SHEET = re.compile(r"(?:page|slide) \d+")


def clear_document(document: Document, *, redact: bool) -> tuple[Document, Cleared, int]:
    """The document, its storable text, and the count of its secrets.

    The text is the user's own and kept byte for byte; with `redact` private passages and secrets are removed.
    """
    secrets = len(examine(document.text, TextSource.OTHER).secrets)
    if redact:
        document = _redacted(document)
    return document, as_given(document.text), secrets


def _redacted(document: Document) -> Document:
    found = examine(document.text, TextSource.OTHER)
    match document.kind:
        case "text" | "code":
            places = lines_of(found.cleared)
        case "markdown":
            places = headings_of(found.cleared)
        case _:
            places = _shift_places(document, found.spans)
    pictures = tuple(
        replace(
            picture,
            start=(start := offset_after(found.spans, picture.start)),
            length=offset_after(found.spans, picture.start + picture.length) - start,
        )
        for picture in document.pictures
    )
    return replace(document, text=found.cleared, places=places, pictures=pictures)


def _shift_places(document: Document, spans: Sequence[Redaction]) -> tuple[DocumentLocation, ...]:
    """The locations in the redacted text; of several within one removed span, the last."""
    moved: dict[int, DocumentLocation] = {}
    for place in document.places:
        start = offset_after(spans, place.start)
        moved[start] = DocumentLocation(start, _label(document.text, place, spans), place.read_by)
    return tuple(moved[start] for start in sorted(moved))


def _label(text: str, place: DocumentLocation, spans: Sequence[Redaction]) -> str:
    """The label, replaced where it quotes a first line of which a part was removed."""
    end = text.find("\n", place.start)
    end = len(text) if end < 0 else end
    span = next((candidate for candidate in spans if candidate.start < end and candidate.end > place.start), None)
    if span is None:
        return clear(place.label)
    sheet = _SHEET.match(place.label)
    return sheet.group() if sheet else span.mark
