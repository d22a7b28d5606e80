"""Documents and their postings, made of a few texts."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from foundation.text.analysis import term_list
from foundation.text.term_codec import pack_terms
from memory.cold.changes import TermsRow
from memory.search.column import Column
from memory.search.index.documents import APART_MS, Documents
from memory.search.index.postings import NO_POSTING, Posting


class Made:
    """A collection: text n is document n and entry 10 + n, all of one conversation, an hour apart; `None` is a long
    silence."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        self.documents = Documents()
        self._held: dict[str, dict[int, int]] = {}
        time = 0
        for text in texts:
            time += 3_600_000 if text is not None else 2 * APART_MS
            if text is None:
                continue
            said = term_list(text)
            entry = 10 + self.documents.count
            row = TermsRow(entry, 1, "message", "user", "", time, pack_terms(said).packed, len(said))
            number = self.documents.put(row)
            for term in said:
                counts = self._held.setdefault(term, {})
                counts[number] = counts.get(number, 0) + 1

    def find(self, term: str) -> Posting:
        held = self._held.get(term)
        return Posting(np.array(list(held), "i4"), np.array(list(held.values()), "u1")) if held else NO_POSTING


class FakeNearness:
    """Cosines by entry."""

    def __init__(self, cosines: Mapping[int, float]) -> None:
        self.cosines = cosines
        self.asked: list[int] = []

    def nearest(self, most: int, may: Callable[[Column], Column]) -> tuple[Column, Column]:
        entries = np.array(sorted(self.cosines, key=lambda entry: -self.cosines[entry]), "i8")
        entries = entries[may(entries)][:most]
        return entries, self.of(entries)

    def of(self, entries: Column) -> Column:
        self.asked += entries.tolist()
        return np.array([self.cosines.get(entry, np.nan) for entry in entries.tolist()], "f4")
