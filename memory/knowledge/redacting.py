"""A document with its secrets counted, and taken out where that was asked for."""

from msgspec.structs import replace

from foundation.privacy import Cleared, as_given, clear, examine
from memory.knowledge.readers.document import BETWEEN, Document, Part, joined
from memory.knowledge.readers.markdown import headings_of
from memory.knowledge.readers.plain import lines_of


def given(document: Document, *, redact: bool) -> tuple[Document, Cleared, int]:
    """The document, its text as it may be stored, and how many secrets were found in it.

    The text is the person's own and kept to the byte, unless `redact`: then what is private or a secret is taken out.
    """
    secrets = len(examine(document.text).secrets)
    if redact:
        document = _redacted(document)
    return document, as_given(document.text), secrets


def _redacted(document: Document) -> Document:
    match document.kind:
        case "text" | "code":
            text = clear(document.text)
            return replace(document, text=text, places=lines_of(text))
        case "markdown":
            text = clear(document.text)
            return replace(document, text=text, places=headings_of(text))
        case _:
            return _part_by_part(document)


def _part_by_part(document: Document) -> Document:
    """Each place's text by itself, so that the places stand where they stood; pictures are left as they are."""
    starts = [place.start for place in document.places]
    if not starts or starts[0] > 0:
        text = clear(document.text)
        return replace(document, text=text, places=(), pictures=tuple(replace(p, start=0) for p in document.pictures))
    ends = [*starts[1:], len(document.text) + len(BETWEEN)]
    parts = [
        Part(clear(place.label), clear(document.text[start:end].removesuffix(BETWEEN)), place.read_by)
        for place, start, end in zip(document.places, starts, ends, strict=True)
    ]
    text, places = joined(parts)
    moved = dict(zip(starts, places, strict=True))
    lengths = {start: len(part.text) for start, part in zip(starts, parts, strict=True)}
    pictures = tuple(replace(one, start=moved[one.start].start, length=lengths[one.start]) for one in document.pictures)
    return replace(document, text=text, places=places, pictures=pictures)
