"""One question, asked of vectors: the nearest that may be found, and how near others are."""

from pathlib import Path

import numpy as np
import pytest

from memory.search.column import Column
from memory.search.vectors.segment import VectorRows
from memory.search.vectors.similarity import RenumberedSimilarity, SegmentSimilarity, inverse_lengths, quantised
from memory.search.vectors.store import VectorStore

SIZE = 32


def everything(entries: Column) -> Column:
    return np.ones(len(entries), bool)


def unit(count: int, seed: int) -> Column:
    found = np.random.default_rng(seed).normal(size=(count, SIZE)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def put(store: VectorStore, entries: list[int], vectors: Column, chunks: list[int] | None = None) -> None:
    whole = quantised(vectors)
    store.put(
        VectorRows(
            entry=np.array(entries, np.int64),
            check=np.ones(len(entries), np.uint64),
            chunk=np.array(chunks or [0] * len(entries), np.uint16),
            inverse=inverse_lengths(whole),
            vectors=whole,
        )
    )


@pytest.fixture
def store(tmp_path: Path) -> VectorStore:
    return VectorStore(tmp_path / "v", SIZE)


def test_the_nearest_are_those_of_a_plain_count(store: VectorStore) -> None:
    vectors, query = unit(5000, 1), unit(1, 2)[0]
    for start in range(0, 5000, 1000):
        put(store, list(range(start + 1, start + 1001)), vectors[start : start + 1000])
    entries, cosines = SegmentSimilarity(store.look(), query).nearest(20, everything)
    wanted = np.argsort(-(vectors @ query))[:20] + 1
    assert len(set(entries.tolist()) & set(wanted.tolist())) >= 18  # int8 swaps some of the last
    assert np.abs(cosines - vectors[entries - 1] @ query).max() < 0.02
    assert (np.diff(cosines) <= 0).all()


def test_an_entrys_best_passage_counts_and_it_is_found_once(store: VectorStore) -> None:
    query = unit(1, 2)[0]
    far, near, middle = -query, query, unit(1, 3)[0]
    put(store, [1, 1, 1, 2], np.stack([far, near, middle, middle]), [0, 1, 2, 0])
    asked = SegmentSimilarity(store.look(), query)
    entries, cosines = asked.nearest(10, everything)
    assert entries.tolist() == [1, 2]
    assert cosines[0] > 0.99
    assert asked.of(np.array([1]))[0] == pytest.approx(cosines[0], abs=1e-5)


def test_of_says_what_nearest_says_and_nan_where_there_is_none(store: VectorStore) -> None:
    vectors, query = unit(300, 1), unit(1, 2)[0]
    put(store, list(range(1, 301)), vectors)
    put(store, [900], np.zeros((1, SIZE), np.float32))  # nothing to embed in it
    asked = SegmentSimilarity(store.look(), query)
    entries, cosines = asked.nearest(1000, everything)
    assert len(entries) == 300
    assert np.allclose(asked.of(entries), cosines, atol=1e-6)
    assert np.isnan(asked.of(np.array([900, 12345, -3]))).all()
    assert asked.of(np.array([], np.int64)).shape == (0,)


def test_only_what_may_be_found_is(store: VectorStore) -> None:
    vectors, query = unit(4000, 1), unit(1, 2)[0]
    put(store, list(range(1, 4001)), vectors)
    far = np.argsort(vectors @ query)[:3] + 1  # the three that are farthest away
    entries, _ = SegmentSimilarity(store.look(), query).nearest(5, lambda some: np.isin(some, far))
    assert sorted(entries.tolist()) == sorted(far.tolist())
    assert SegmentSimilarity(store.look(), query).nearest(5, lambda some: np.zeros(len(some), bool))[0].tolist() == []


def test_a_note_is_not_found_as_an_entry(store: VectorStore) -> None:
    query = unit(1, 2)[0]
    put(store, [-7, 7], np.stack([query, unit(1, 5)[0]]))
    asked = SegmentSimilarity(store.look(), query)
    assert asked.nearest(10, everything)[0].tolist() == [7]
    notes = RenumberedSimilarity(asked, np.array([-99, -7]))
    assert notes.nearest(10, everything)[0].tolist() == [1]
    assert np.isnan(notes.of(np.array([0, 1]))).tolist() == [True, False]


def test_nothing_is_near_in_an_empty_store(store: VectorStore) -> None:
    asked = SegmentSimilarity(store.look(), unit(1, 2)[0])
    assert asked.nearest(3, everything)[0].tolist() == []
    assert np.isnan(asked.of(np.array([1]))).all()


def test_equal_cosines_do_not_lose_the_best(store: VectorStore) -> None:
    query = unit(1, 2)[0]
    same = np.repeat(unit(1, 4), 6000, axis=0)
    put(store, list(range(1, 6001)), same)
    put(store, [9000], query[None])
    entries, _ = SegmentSimilarity(store.look(), query).nearest(3, everything)
    assert entries[0] == 9000
    assert len(entries) == 3
