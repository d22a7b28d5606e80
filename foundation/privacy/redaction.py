"""Spans that are removed from a text, and the text without them."""

from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct, structs


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


class OffsetsBefore:
    """Maps offsets in a redacted text (never within a mark) to those in the text before its redaction."""

    def __init__(self, redactions: Sequence[Redaction]) -> None:
        self._mark_ends: list[int] = []  # in the redacted text
        self._removed = [0]  # characters that the redactions up to each mark took out
        for span in redactions:
            self._mark_ends.append(span.start - self._removed[-1] + len(span.mark))
            self._removed.append(self._removed[-1] + span.end - span.start - len(span.mark))

    def offset(self, redacted_offset: int) -> int:
        return redacted_offset + self._removed[bisect_right(self._mark_ends, redacted_offset)]

    def span(self, redaction: Redaction) -> Redaction:
        """The redaction with its offsets in the text before."""
        return structs.replace(redaction, start=self.offset(redaction.start), end=self.offset(redaction.end))
