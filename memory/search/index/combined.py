"""Combined index: the postings of the segments, and in memory those of later changes."""

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

_AT_ONCE = 5000  # changes per read
_BULK_FROM = 100  # changes: fewer are added one by one
_SMALL_STORE = 20_000  # changes: an empty index reads the rows themselves


class CombinedIndex:
    """`change` is the last change that it holds. `skips`: it does not hold all changes before that."""

    def __init__(self, segments: Sequence[PostingsSegment] = ()) -> None:
        self.documents: Documents = table(segments)
        self.change = segments[-1].change if segments else 0
        self.skips = False
        self._segments = segments
        self._on_disk = self.documents.count
        self._recent = RecentPostings()
        self._parts: list[SegmentPostings | RecentPostings] = [
            *(
                SegmentPostings(segment.lists, first)
                for segment, first in zip(segments, starts_of(segments), strict=True)
            ),
            self._recent,
        ]

    def find(self, term: str) -> Posting:
        """All documents with the term, removed ones among them."""
        return find(term, self._parts)

    def read(self, cold: ColdStore, last: int, rest: Rest) -> None:
        """Adds the changes since the last read. `last` is the store's last change."""
        if (
            not self.change and last <= _SMALL_STORE
        ):  # the rows themselves: a store that was salvaged may miss some changes
            self._add_segment(cold.terms(0, _SMALL_STORE), [], rest)
            self.change = last
        for new in journal.changes_after(cold, self.change, _AT_ONCE, last):
            if len(new.rows) + len(new.removed) > _BULK_FROM:
                self._add_segment(new.rows, new.removed, rest)
            else:
                for row in new.rows:
                    self.put(row)
                for entry in new.removed:
                    self.documents.remove(entry)
            self.change = new.change

    def skip_to(self, change: int) -> None:
        """Leaves earlier changes to the next segment build."""
        self.skips, self.change = True, change

    def put(self, row: TermsRow) -> None:
        self._recent.put(self.documents.put(row), *split_terms(row.packed))

    def _add_segment(self, rows: list[TermsRow], gone: list[int], rest: Rest) -> None:
        """Adds many rows as an in-memory segment: several times faster than one by one."""
        if not rows and not gone:
            return
        built, first = build(rows, rest), self.documents.count
        self.documents.relink(self.documents.add_rows(built.columns, built.names, np.array(gone, "i8")))
        self._recent = RecentPostings()
        self._parts += [SegmentPostings(built.lists, first), self._recent]

    @property
    def unsaved_count(self) -> int:
        """Number of documents that are in memory only."""
        return self.documents.count - self._on_disk

    @property
    def unsaved_postings(self) -> int:
        """Number of their postings."""
        return sum(part.count for part in self._parts[len(self._segments) :])

    @property
    def has_unchecked(self) -> bool:
        """Whether some segments were too large to be verified on opening."""
        return any(not segment.file.is_checked for segment in self._segments)

    def damaged(self) -> list[Path]:
        """Large segments that do not match their CRCs. Reads them whole."""
        return [segment.path for segment in self._segments if not (segment.file.is_checked or segment.file.is_whole())]


def open_index(cold: ColdStore, folder: Path) -> CombinedIndex:
    """Opens the segments on disk."""
    return CombinedIndex(open_chain(folder, belongs_to(cold)))


def belongs_to(cold: ColdStore) -> Callable[[PostingsSegment], bool]:
    """A test of whether a segment was built from this store."""
    return lambda segment: journal.operation_at(cold, segment.change) == segment.footer.mark
