"""Spans that are removed from a text, and the text without them."""

from collections.abc import Sequence

from msgspec import Struct


class Redaction(Struct, frozen=True):
    """A redacted span, in characters from the beginning of the text; `mark` replaces it.

    `rule` names the kind of secret; "" for what is private. `unclosed`: a private span that nothing closed.
    """

    start: int
    end: int
    mark: str
    rule: str = ""
    unclosed: bool = False


def redact(text: str, redactions: Sequence[Redaction], start: int = 0, end: int | None = None) -> str:
    """`text[start:end]` with each span's mark in its place. The spans lie within, in order."""
    if not redactions:
        return text[start:end]
    parts: list[str] = []
    for span in redactions:
        parts += (text[start : span.start], span.mark)
        start = span.end
    parts.append(text[start:end])
    return "".join(parts)


def offset_after(redactions: Sequence[Redaction], offset: int) -> int:
    """The offset after the spans are removed; behind its mark for an offset within a span."""
    moved = 0
    for span in redactions:
        if span.start >= offset:
            break
        moved += len(span.mark) - (min(offset, span.end) - span.start)
    return offset + moved


def offset_before(redactions: Sequence[Redaction], offset: int) -> int:
    """The offset in the original text of an offset in the redacted one (never within a span)."""
    for span in redactions:
        if span.start + len(span.mark) > offset:
            break
        offset += span.end - span.start - len(span.mark)
    return offset
