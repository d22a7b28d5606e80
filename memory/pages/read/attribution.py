"""Whose words stand on a page of a conversation, by its head lines: each stretch with the entry it belongs to."""

from datetime import datetime
from itertools import pairwise

from msgspec import Struct

from memory.pages.types import PageText


class AttributedText(Struct, frozen=True, kw_only=True):
    """One entry's words on one page. `line` is the entry's own line, from 1, with which they begin."""

    entry: str
    speaker: str
    role: str
    time: datetime | None
    line: int
    text: str

    @property
    def lines(self) -> tuple[int, int]:
        """The entry's first and last line here."""
        return self.line, self.line + self.text.count("\n")


def attributed_texts(page: PageText) -> tuple[AttributedText, ...]:
    """What each speaker says on the page, in order; nothing on a file's page.

    The newline that ends an entry on the page is no part of it; a head line that cannot be understood names nobody.
    """
    ends = [*(head.begin for head in page.heads), len(page.text)]
    return tuple(
        AttributedText(
            entry=one.head.id,
            speaker=one.head.speaker,
            role=one.head.role,
            time=one.head.time,
            line=one.head.line,
            text=page.text[one.end : end].removesuffix("\n"),
        )
        for one, (_, end) in zip(page.heads, pairwise(ends), strict=True)
        if one.head is not None
    )
