"""Recipe of a page in view: its entries, its mode and cells, and how much of each entry it shows."""

from msgspec import Struct


class Chapter(Struct, frozen=True):
    """The part of the history that one page shows while it is new.

    From character `start` of the first entry, which is in its line `line`, to character `end` of the last.
    """

    entries: tuple[int, ...]  # seqs, oldest first
    start: int
    line: int
    end: int


class PageRecipe(Struct, frozen=True):
    """One page in view. `shown` are the entries of its chapter on it, `most` the characters of each; 0: all.

    `facts` is the number of exact tokens in the text beside it. Figures are tokens: the cost of picture and text, and
    `stands_for`, the cost of the shown words as text.
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
    """Where the first chapter begins: an entry's seq, a character in it, and that character's line."""

    entry: int
    start: int = 0
    line: int = 1
