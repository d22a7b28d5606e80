"""Where a recalled word comes from, and how far to trust it."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from foundation.clock import iso


class Trust(StrEnum):
    """How far a recalled span can be trusted."""

    EXACT = "exact"  # stored text, or pixels whose hash matches
    VERIFIED = "verified"  # two independent readers agree
    APPROXIMATE = "approximate"  # one reader's word


class Citation(Struct, frozen=True, kw_only=True):
    """The address of a recalled span.

    `ref` is what `palimpsest recall` takes: an entry's id, a page's (`pg_…`), or `path#Lfirst-Llast`.
    """

    kind: str  # entry | memory | page | file
    ref: str
    title: str = ""  # of the conversation, or the file's name
    conversation: str = ""
    speaker: str = ""
    time: datetime | None = None
    page: str = ""  # the page that carries the text, where it was archived
    lines: tuple[int, int] | None = None

    def __str__(self) -> str:
        """`[Trip planning · Ann · 2026-03-14 · e_4kx7…]`."""
        day = iso(self.time)[:10] if self.time else ""
        where = f"{self.ref}#L{self.lines[0]}-L{self.lines[1]}" if self.lines else self.ref
        return "[" + " · ".join(part for part in (self.title, self.speaker, day, where) if part) + "]"
