"""The documents' links and counts, against a plain list of what is there."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.cold.changes import TermsRow
from memory.search.postings.documents import NONE, Documents
from memory.search.postings.merging import merge
from memory.search.postings.postings import EMPTY, Recent

DEEDS = st.lists(st.tuples(st.sampled_from(["put", "remove", "merge"]), st.integers(1, 8)), max_size=30)


def row(entry: int, length: int) -> TermsRow:
    return TermsRow(entry, entry % 3, "message", "user", "Ann", entry, b"tea\0\1", length)


@given(DEEDS)
def test_links_and_counts_are_those_of_what_is_there(deeds: list[tuple[str, int]]) -> None:
    documents, recent, standing = Documents(), Recent(), EMPTY
    there: dict[int, int] = {}
    highest = 0
    for length, (deed, entry) in enumerate(deeds, start=1):
        match deed:
            case "put" if entry in there or entry > highest:  # a seq is never given twice, and each is above the last
                recent.put(documents.put(row(entry, length)), [b"tea"], b"\1")
                there[entry] = length
                highest = max(highest, entry)
            case "remove":
                documents.remove(entry)
                there.pop(entry, None)
            case "merge":
                documents, standing = merge(documents, standing, recent)
                recent = Recent()
    assert {entry for entry in range(9) if documents.find(entry) != NONE} == there.keys()
    asked = [8, 3, 0, 1, 2, 99, 5, 4, 6, 7]
    assert documents.rows_of(np.array(asked)).tolist() == [documents.find(entry) for entry in asked]
    assert (documents.living, documents.words) == (len(there), sum(there.values()))
    for entry in there:
        talk = sorted(other for other in there if other % 3 == entry % 3)
        place = talk.index(entry)
        assert beside(documents, "previous", entry) == (talk[place - 1] if place else None)
        assert beside(documents, "following", entry) == (talk[place + 1] if place + 1 < len(talk) else None)
    merged, postings = merge(documents, standing, recent)
    assert merged["entry"].tolist() == sorted(there)
    assert postings.find(b"tea").documents.tolist() == list(range(len(there)))


def beside(documents: Documents, link: str, entry: int) -> int | None:
    other = int(documents[link][documents.find(entry)])
    return None if other == NONE else int(documents["entry"][other])
