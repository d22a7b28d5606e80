"""What an embedder's cosines add: an entry's own, those of the turns beside it, and nothing where there are none."""

import numpy as np
import pytest

from memory.search.column import Column
from memory.search.index.documents import NONE, Documents
from memory.search.ranking.bm25 import (
    COSINE_WEIGHT,
    MAX_COSINE_SCORE,
    NEIGHBOUR_COSINE,
    cosine_scores,
    cosines,
    nearest_documents,
)
from memory.search.ranking.candidates import CandidateFilter
from memory.search.ranking.fields import around
from memory.search.ranking.question import Question
from memory.search.ranking.retrieve import all_of
from tests.memory.search.ranking.documents import FakeNearness, Made

TEXTS = ("one", "two", "three", None, "four")
ALL = np.arange(4, dtype="i4")


@pytest.fixture
def documents() -> Documents:
    return Made(TEXTS).documents


def scores(documents: Documents, nearness: FakeNearness | None, without: frozenset[str] = frozenset()) -> list[float]:
    question = Question((), without=without)
    own = np.full(4, np.nan) if nearness is None else cosines(documents, nearness, ALL)
    return cosine_scores(documents, nearness, own, around(documents, ALL), question).tolist()


def test_a_cosine_is_that_of_the_documents_entry(documents: Documents) -> None:
    found = cosines(documents, FakeNearness({10: 0.5, 13: -0.25}), np.array([3, NONE, 0, 1]))
    assert found[[0, 2]].tolist() == [-0.25, 0.5]
    assert np.isnan(found[[1, 3]]).all()


def test_no_document_asks_for_no_vector(documents: Documents) -> None:
    nearness = FakeNearness({10: 0.5})
    assert np.isnan(cosines(documents, nearness, np.array([NONE, NONE]))).all()
    assert nearness.asked == []


def test_the_turns_beside_it_lend_a_part_of_theirs(documents: Documents) -> None:
    found = scores(documents, FakeNearness({10: 0.4, 11: 0.8, 12: 0.2, 13: 0.6}))
    assert found[1] == pytest.approx(COSINE_WEIGHT * (0.8 + NEIGHBOUR_COSINE * (0.4 + 0.2)))
    assert found[0] == pytest.approx(
        COSINE_WEIGHT * (0.4 + NEIGHBOUR_COSINE * (0.4 + 0.8))
    )  # none before: its own counts
    assert found[3] == pytest.approx(COSINE_WEIGHT * 0.6 * (1 + 2 * NEIGHBOUR_COSINE))  # a long silence: no neighbour


def test_no_document_is_worth_more_than_the_most(documents: Documents) -> None:
    assert max(scores(documents, FakeNearness(dict.fromkeys(range(10, 14), 1.0)))) == pytest.approx(MAX_COSINE_SCORE)


def test_what_has_no_vector_yet_is_worth_what_the_others_are_on_average(documents: Documents) -> None:
    found = scores(documents, FakeNearness({10: 0.2, 12: 0.6}), frozenset({"vectors-beside"}))
    assert found == pytest.approx([COSINE_WEIGHT * cosine for cosine in (0.2, 0.4, 0.6, 0.4)])
    beside = scores(documents, FakeNearness({10: 0.2, 12: 0.6}))
    assert not np.isnan(beside).any()
    assert beside[0] == pytest.approx(COSINE_WEIGHT * 0.2 * (1 + 2 * NEIGHBOUR_COSINE))  # its neighbour has none


@pytest.mark.parametrize(
    ("nearness", "without"),
    [
        (None, frozenset[str]()),
        (FakeNearness({}), frozenset[str]()),
        (FakeNearness({10: 0.9}), frozenset({"vectors"})),
    ],
)
def test_without_an_embedder_or_vectors_nothing_is_added(
    documents: Documents, nearness: FakeNearness | None, without: frozenset[str]
) -> None:
    assert scores(documents, nearness, without) == [0.0] * 4
    assert scores(documents, FakeNearness({10: 0.9}))[0] > 0  # the control


def test_the_nearest_are_living_documents_that_may_be_found(documents: Documents) -> None:
    nearness = FakeNearness({10: 0.1, 11: 0.9, 12: 0.5, 13: 0.7, 99: 1.0})
    documents.remove(12)

    def not_the_first(_: Documents, some: Column) -> Column:
        return some != 0

    found = nearest_documents(documents, nearness, CandidateFilter(not_the_first, all_of), 2)
    assert found.tolist() == [1, 3]
    assert found.dtype == np.dtype("i4")
