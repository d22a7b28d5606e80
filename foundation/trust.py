"""Where a recalled word comes from, and how far to trust it."""

import unicodedata
from datetime import datetime
from enum import StrEnum
from itertools import accumulate

from msgspec import Struct

from foundation.clock import iso

TITLE_CELLS = 32
"""A title within a citation's string is no wider, on a terminal."""


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
    place: str = ""  # in a file that was added: `page 3`, `slide 2`, a heading
    page: str = ""  # the page that carries the text, where it was archived
    device: str = ""  # the other device that wrote it: `laptop (d_…)`
    lines: tuple[int, int] | None = None

    @property
    def author(self) -> str:
        """The speaker, with the name of another device that wrote it: `user on laptop`. "" for a file of this one."""
        name = _shortened(self.device.rpartition(" (")[0] or self.device)
        return " ".join([*self.speaker.split(), *(["on", name] if name else [])])

    def __str__(self) -> str:
        """`[Trip planning · Ann · 2026-03-14 · e_4kx7…]`, a long title shortened at a word: a line of 80 columns holds
        it. The whole title is in `title`."""
        day = iso(self.time)[:10] if self.time else ""
        where = f"{self.ref}#L{self.lines[0]}-L{self.lines[1]}" if self.lines else self.ref
        parts = (
            _shortened(self.title),
            _shortened(self.place),
            self.author,
            day,
            " ".join(where.split()),
        )
        return "[" + " · ".join(part for part in parts if part) + "]"


def _shortened(title: str) -> str:
    """The title on one line, as far as the last whole word that fits: `Note 1: the vault code for room…`."""
    line = " ".join(title.split())
    ends = list(accumulate(map(_cells, line)))
    if not ends or ends[-1] <= TITLE_CELLS:
        return line
    fitting = sum(end < TITLE_CELLS for end in ends)  # one cell is left for the ellipsis
    at_a_word = line.rfind(" ", 0, fitting + 1)
    shortened = line[: at_a_word if at_a_word > fitting // 2 else fitting]
    return shortened.rstrip(" …,;:·-–—") + "…"


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
