"""Finds a text in one branch of a conversation, as an editor does: every occurrence, from the newest entry up."""

from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final

from foundation.text.find import TextFinder
from memory.errors import MemoryFailure

if TYPE_CHECKING:
    from memory.memory import Memory

BATCH: Final = 2_000  # entries read at once: some 20 ms

EntryHits = tuple[int, int]
"""An entry's seq, and how often the text occurs in what is shown of it."""


class BranchFinder:
    """One branch, whose entries are listed once. `last` is the newest entry that is looked at; only entries after
    `above` are.
    """

    def __init__(self, memory: "Memory", leaf: int, last: int | None = None, *, above: int = 0) -> None:
        self._memory = memory
        path = takewhile(lambda seq: seq > above, memory.conversations.path_seqs(leaf))
        self._path = (seq for seq in path if last is None or seq <= last)
        self._seqs: list[int] = []  # listed so far, newest first
        self._known: tuple[TextFinder, list[int]] | None = None  # entries with hits of the last query, if it was whole

    def hits(self, finder: TextFinder) -> Iterator[tuple[int, list[EntryHits]]]:
        """The hits, a batch at a time, newest first, with the seq down to which all entries were read. Blocks.

        A query that goes on from the last one reads only the entries with hits of that one.
        """
        known = self._known
        within = known[1] if known and finder.narrows(known[0]) else None
        self._known = None
        matching: list[int] = []
        for batch in self._listed() if within is None else _batches(within):
            found = self._count(finder, batch)
            matching += [seq for seq, _ in found]
            yield batch[-1], found
        self._known = finder, matching

    def _count(self, finder: TextFinder, seqs: Sequence[int]) -> list[EntryHits]:
        found: list[EntryHits] = []
        for entry in self._memory.conversations.shown_texts(seqs):
            count = sum(map(finder.count, entry.texts))
            if entry.is_archived:
                count += finder.count(self._archived_text(entry.seq))
            if count:
                found.append((entry.seq, count))
        return found

    def _archived_text(self, seq: int) -> str:
        """The text, read back from its pages; "" where it was deleted or is damaged."""
        try:
            return self._memory.passage(self._memory.conversations.entry(seq)).text
        except MemoryFailure:
            return ""

    def _listed(self) -> Iterator[list[int]]:
        """All entries of the branch up to `last`, newest first."""
        yield from _batches(self._seqs)
        while batch := list(islice(self._path, BATCH)):
            self._seqs += batch
            yield batch


def _batches(seqs: Sequence[int]) -> Iterator[list[int]]:
    whole = len(seqs)
    for start in range(0, whole, BATCH):
        yield list(seqs[start : min(start + BATCH, whole)])
