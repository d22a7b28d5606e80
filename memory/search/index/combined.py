"""All postings as one: those of the segments, and in memory what came since."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from foundation.text.term_codec import split_terms
from memory.cold import ColdStore
from memory.cold.changes import TermsRow
from memory.search.index import journal
from memory.search.index.builder import Rest, build
from memory.search.index.documents import Documents
from memory.search.index.merge import starts_of, table
from memory.search.index.postings import Posting, RecentPostings, SegmentPostings, find
from memory.search.index.segment import PostingsSegment, open_chain

_AT_ONCE = 5000  # changes in one reading
_MANY = 100  # of them: fewer are put one by one
_FEW = 20_000


class CombinedIndex:
    """`change` is the last of the store's changes that it knows of. `skips`: it does not know all before."""

    def __init__(self, segments: Sequence[PostingsSegment] = ()) -> None:
        self.documents: Documents = table(segments)
        self.change = segments[-1].change if segments else 0
        self.skips = False
        self._segments = segments
        self._on_disk = self.documents.count
        self._recent = RecentPostings()
        self._parts: list[SegmentPostings | RecentPostings] = [
            *(SegmentPostings(one.lists, first) for one, first in zip(segments, starts_of(segments), strict=True)),
            self._recent,
        ]

    def find(self, term: str) -> Posting:
        """All documents with the term, removed ones among them."""
        return find(term, self._parts)

    def read(self, cold: ColdStore, last: int, rest: Rest) -> None:
        """Takes in what came since. `last` is the store's last change."""
        if not self.change and last <= _FEW:  # the rows themselves: a store that was salvaged may miss some changes
            self._take_in(cold.terms(0, _FEW), [], rest)
            self.change = last
        for new in journal.news(cold, self.change, _AT_ONCE, last):
            if len(new.rows) + len(new.gone) > _MANY:
                self._take_in(new.rows, new.gone, rest)
            else:
                for row in new.rows:
                    self.put(row)
                for entry in new.gone:
                    self.documents.remove(entry)
            self.change = new.change

    def skip_to(self, change: int) -> None:
        """Leaves what came before the change to be read by whoever builds the segments."""
        self.skips, self.change = True, change

    def put(self, row: TermsRow) -> None:
        self._recent.put(self.documents.put(row), *split_terms(row.packed))

    def _take_in(self, rows: list[TermsRow], gone: list[int], rest: Rest) -> None:
        """Many at once, as a segment that is in memory alone: several times faster than one by one."""
        if not rows and not gone:
            return
        built, first = build(rows, rest), self.documents.count
        self.documents.relink(self.documents.take_in(built.columns, built.names, np.array(gone, "i8")))
        self._recent = RecentPostings()
        self._parts += [SegmentPostings(built.lists, first), self._recent]

    @property
    def many_came(self) -> int:
        """How many documents stand in memory alone."""
        return self.documents.count - self._on_disk

    @property
    def has_unchecked(self) -> bool:
        """Whether there are segments too large to be looked through as they are opened."""
        return any(not one.file.is_checked for one in self._segments)

    def damaged(self) -> list[Path]:
        """Large segments whose bytes are not as they were written. Reads them through."""
        return [one.path for one in self._segments if not (one.file.is_checked or one.file.is_whole())]


def opened(cold: ColdStore, folder: Path) -> CombinedIndex:
    """As the segments on disk have it."""
    return CombinedIndex(open_chain(folder, belonging(cold)))


def belonging(cold: ColdStore) -> Callable[[PostingsSegment], bool]:
    """Whether a segment was made of this store."""
    return lambda segment: journal.mark(cold, segment.change) == segment.footer.mark
