"""Recipe of a page in view: its entries, its mode and cells, and the shown part of each entry."""

from msgspec import Struct


class Chapter(Struct, frozen=True):
    """The part of the history on one page of the largest size.

    From offset `start` of the first entry, which is in its line `line`, to offset `end` of the last entry.
    """

    entries: tuple[int, ...]  # seqs, oldest first
    start: int
    line: int
    end: int


class PageRecipe(Struct, frozen=True):
    """One page in view. `shown` are the seqs of its entries, `most` the maximum characters of each (0: all).

    `facts` is the number of exact names and figures in its caption. `tokens` is the cost of image and caption,
    `stands_for` the cost of the shown text as text, both in tokens.
    """

    chapter: Chapter
    mode: str
    cell: str
    shown: tuple[int, ...]
    most: int
    facts: int
    tokens: int
    stands_for: int

    @property
    def whole(self) -> bool:
        """Whether the page shows all of its chapter."""
        return self.most == 0


class ChapterStart(Struct, frozen=True):
    """Start of the first chapter: an entry's seq, an offset in its text, and the line of that offset."""

    entry: int
    start: int = 0
    line: int = 1
