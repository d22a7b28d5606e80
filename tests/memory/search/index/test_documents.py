"""The documents' links and counts, against a plain list of what is there."""

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from foundation.text.analysis import term_list
from foundation.text.term_codec import pack_terms, split_terms
from memory.cold.changes import TermsRow
from memory.search.index import merge as merging
from memory.search.index.builder import build, documents_of
from memory.search.index.documents import APART_MS, ENTRY_COLUMNS, NONE, Documents
from memory.search.index.merge import merge, starts_of, table
from memory.search.index.postings import RecentPostings, SegmentPostings, find
from memory.search.index.segment import LISTS, POSTINGS, PostingsFooter, PostingsSegment, open_segment, section_of
from memory.search.segments import write_segment
from tests.examples import examples

DEED = st.tuples(st.sampled_from(["put", "put", "remove"]), st.integers(1, 12))
SPEAKERS = ("Ann", "Bo", "", "who")


def row(entry: int, length: int) -> TermsRow:
    speaker = SPEAKERS[entry % 4]
    packed = pack_terms(term_list(f"{speaker} tea {'coffee ' * (length % 3)} word{length} what")).packed
    return TermsRow(entry, entry % 3, "message", "user", speaker, time(entry), packed, length)


def time(entry: int) -> int:
    """Entries of a conversation are three apart: beside each other they are of one talk, but for a long gap after the
    ninth, and where one between them is gone they are not."""
    return entry * (APART_MS // 5) + (APART_MS if entry > 9 else 0)


class There:
    """A plain list of what is there, in the order of entries."""

    def __init__(self) -> None:
        self.lengths: dict[int, int] = {}
        self.came = 0

    def deed(self, deed: str, entry: int) -> bool:
        """Does it; whether the entry is there now."""
        self.came += 1
        if deed == "remove":
            self.lengths.pop(entry, None)
        else:
            self.lengths[entry] = self.came
        return entry in self.lengths

    def is_told_by(self, documents: Documents) -> None:
        there = self.lengths
        assert {entry for entry in range(13) if documents.find(entry) != NONE} == there.keys()
        asked = [8, 3, 0, 1, 2, 99, 5, 4, 6, 7, 12, 11]
        assert documents.rows_of(np.array(asked)).tolist() == [documents.find(entry) for entry in asked]
        assert (documents.live_count, documents.term_count) == (len(there), sum(there.values()))
        for entry in there:
            talk = sorted(other for other in there if other % 3 == entry % 3)
            place = talk.index(entry)
            assert beside(documents, "previous", entry) == (talk[place - 1] if place else None)
            assert beside(documents, "following", entry) == (talk[place + 1] if place + 1 < len(talk) else None)
            assert documents.names[documents["speaker"][documents.find(entry)]] == SPEAKERS[entry % 4]
        self.talks_are_told_by(documents)

    def talks_are_told_by(self, documents: Documents) -> None:
        """Runs of a conversation without a long gap, and the terms of each."""
        told: dict[int, list[int]] = {}
        for entry in sorted(self.lengths):
            told.setdefault(int(documents["talk"][documents.find(entry)]), []).append(entry)
        expected: list[list[int]] = []
        for conversation in range(3):
            before = None
            for entry in (entry for entry in sorted(self.lengths) if entry % 3 == conversation):
                if before is None or time(entry) - time(before) > APART_MS:
                    expected.append([])
                expected[-1].append(entry)
                before = entry
        assert sorted(told.values()) == sorted(expected)
        lengths = documents.talk_lengths
        assert len(lengths) == documents.talks
        assert {talk: int(lengths[talk]) for talk in told} == {
            talk: sum(self.lengths[entry] for entry in some) for talk, some in told.items()
        }
        assert int(lengths.sum()) == documents.term_count


@example([("put", 1), ("put", 4), ("put", 7), ("remove", 4)])
@given(st.lists(DEED, max_size=30))
def test_links_and_counts_are_those_of_what_is_there(deeds: list[tuple[str, int]]) -> None:
    documents, there = Documents(), There()
    for deed, entry in deeds:
        if there.deed(deed, entry):
            documents.put(row(entry, there.came))
        else:
            documents.remove(entry)
    there.is_told_by(documents)


@settings(deadline=None, max_examples=examples(20))  # files are written and synced
@given(st.lists(st.lists(DEED, max_size=8), min_size=1, max_size=5), st.integers(0, 4), st.lists(DEED, max_size=4))
def test_segments_tell_the_same_before_and_after_they_are_merged(
    batches: list[list[tuple[str, int]]], cut: int, later: list[tuple[str, int]]
) -> None:
    there = There()
    with TemporaryDirectory() as folder:
        paths = [written(Path(folder) / str(number), there, batch) for number, batch in enumerate(batches)]
        there.is_told_by(table(opened(paths)))
        expected = held(opened(paths))
        first, second = min(cut, len(paths) - 1), len(paths)
        paths[first:second] = [merged(Path(folder) / "merged", paths[first:second], since=first)]
        there.is_told_by(table(opened(paths)))
        assert held(opened(paths)) == expected
        whole = merged(Path(folder) / "whole", paths, since=0)
        there.is_told_by(table(opened([whole])))
        assert held(opened([whole])) == expected
        assert table(opened([whole]))["entry"].tolist() == sorted(there.lengths)
        assert words_in(whole) == {word for word, _ in expected}
        documents = table(opened([whole]))
        for deed, entry in later:
            if there.deed(deed, entry):
                documents.put(row(entry, there.came))
            else:
                documents.remove(entry)
        there.is_told_by(documents)


def test_what_is_told_of_a_document_is_the_same_in_one_and_in_many() -> None:
    rows = [row(entry, length=entry) for entry in range(1, 40)]
    built = build(reversed(rows), lambda: None)
    documents = Documents()
    for each in rows:
        documents.put(each)
    for name in ("entry", "conversation", "time", "length", "says", "asks"):
        assert built.columns[name].tolist() == documents[name].tolist()
    for name in ("kind", "role", "speaker"):
        told = [documents.names[code] for code in documents[name]]
        assert [built.names[code] for code in built.columns[name]] == told


def test_speakers_are_found_by_the_first_word_of_their_name(tmp_path: Path) -> None:
    there = There()
    documents = table(opened([written(tmp_path / "0", there, [("put", 1), ("put", 2), ("put", 5)])]))
    assert documents.speakers_named(["bo", "ann", "tea"]) == ["Bo"]
    ann = TermsRow(20, 1, "message", "user", "Ann Marie Bo", 0, b"tea\0\1", 1)
    documents.put(ann)
    assert sorted(documents.speakers_named({"ann"})) == ["Ann Marie Bo"]
    assert documents.speakers_named({"marie", "tea"}) == []


def test_a_merge_goes_through_the_postings_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "AT_ONCE", 30)
    there, sizes = There(), list[int]()
    batches = [[("put", 1 + entry) for entry in range(start, start + 3)] for start in range(0, 12, 3)]
    paths = [written(tmp_path / str(number), there, batch) for number, batch in enumerate(batches)]
    monkeypatch.setattr(merging, "documents_of", lambda keys: (sizes.append(len(keys)), documents_of(keys))[1])
    merged(tmp_path / "whole", paths, since=0)
    assert len(sizes) > 2
    assert max(sizes) <= 30 + 12  # and what is left of a term


def test_a_character_alone_is_found_in_its_pairs_and_not_in_marks() -> None:
    packed = [
        pack_terms(["王小", "小明"]).packed,
        pack_terms(["tea"], tags=["=person:王小明"]).packed,
        pack_terms(["大王"]).packed,
    ]
    rows = [TermsRow(entry, 1, "message", "user", "", entry, each, 1) for entry, each in enumerate(packed)]
    recent = RecentPostings()
    for row in rows:
        recent.put(row.entry, *split_terms(row.packed))
    for part in (SegmentPostings(build(rows, lambda: None).lists), recent):
        assert find("王", [part]).documents.tolist() == [0, 2]


def written(path: Path, there: There, batch: list[tuple[str, int]]) -> Path:
    """A segment of some deeds."""
    rows: dict[int, TermsRow] = {}
    for deed, entry in batch:
        rows.pop(entry, None)
        if there.deed(deed, entry):
            rows[entry] = row(entry, there.came)
    built = build(rows.values(), lambda: None)
    with write_segment(path, POSTINGS) as writer:
        for name in ENTRY_COLUMNS:
            writer.section(section_of(name), [built.columns[name]])
        writer.section("gone", [np.array(sorted({entry for _, entry in batch}.difference(rows)), "i8")])
        for name in LISTS:
            writer.section(name, [getattr(built.lists, name)])
        writer.finish(PostingsFooter(int(path.name), int(path.name) + 1, ("add", 1), built.names))
    return path


def opened(paths: list[Path]) -> list[PostingsSegment]:
    return [one for path in paths if (one := open_segment(path))]


def merged(path: Path, paths: list[Path], since: int) -> Path:
    segments = opened(paths)
    with write_segment(path, POSTINGS) as writer:
        names = merge(segments, table(opened(paths)), writer, lambda: None)
        writer.finish(PostingsFooter(since, 99, ("add", 1), names))
    return path


def held(segments: list[PostingsSegment]) -> set[tuple[str, tuple[tuple[int, int], ...]]]:
    """Each term with the living entries that hold it, and how often."""
    documents = table(segments)
    parts = [SegmentPostings(one.lists, first) for one, first in zip(segments, starts_of(segments), strict=True)]
    terms = ["tea", "coffe", "what", "ann", "bo", "who", *(f"word{number}" for number in range(45))]
    found: set[tuple[str, tuple[tuple[int, int], ...]]] = set()
    for term in terms:
        rows, counts = find(term, parts)
        assert (np.diff(rows) > 0).all()
        living = documents["alive"][rows] == 1
        entries = documents["entry"][rows[living]].tolist()
        if entries:
            found.add((term, tuple(sorted(zip(entries, counts[living].tolist(), strict=True)))))
    return found


def words_in(path: Path) -> set[str]:
    (segment,) = opened([path])
    text, edges = segment.lists.text.tobytes(), segment.lists.edges.tolist()
    terms = {text[start:end].decode() for start, end in pairwise(edges)}
    return {term for term in terms if term not in {"word", *map(str, range(99))}}  # the parts of word7


def beside(documents: Documents, link: str, entry: int) -> int | None:
    other = int(documents[link][documents.find(entry)])
    return None if other == NONE else int(documents["entry"][other])
