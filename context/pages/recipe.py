"""What a page in view is drawn from: entries of the past, the mode and cells, and how much of each entry it shows."""

from msgspec import Struct


class Chapter(Struct, frozen=True):
    """As much of the past as one page shows while it is new.

    It goes from character `start` of the first entry, which is in its line `line`, to character `end` of the last.
    """

    entries: tuple[int, ...]  # seqs, oldest first
    start: int
    line: int
    end: int


class PageRecipe(Struct, frozen=True):
    """One page in view. `shown` are the chapter's entries that stand on it, `most` how many characters of each; 0: all.

    `facts` is how many exact tokens its factsheet has. The figures are tokens: what picture and words cost, and what
    the words shown on it would cost as text.
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
        """Whether all of the chapter stands on it."""
        return self.most == 0


class ChapterStart(Struct, frozen=True):
    """Where the first chapter begins: an entry's seq, the character in it, and that character's line."""

    entry: int
    start: int = 0
    line: int = 1
