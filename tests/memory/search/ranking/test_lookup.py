"""Postings and weights of a question's terms and of their synonyms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.search.index.postings import Posting
from memory.search.ranking.lookup import (
    BACKGROUND,
    SYNONYM_WEIGHT,
    CorpusStatistics,
    TermPostings,
    idf,
    look_up,
    occurrences,
    soft_counts,
)
from memory.search.ranking.question import QueryTerm, Question, parse_question
from tests.memory.search.ranking.documents import Made

TEXTS = ("My car is red.", "An automobile, a truck and a car.", "Tea with lemon.", "The truck, the truck!", "Tea.")


def looked(question: Question, names: frozenset[str] = frozenset()) -> dict[str, TermPostings]:
    made = Made(TEXTS)
    (found,) = look_up(question, [made], CorpusStatistics(made.documents.live_count, 3.0), names)
    return {each.term.term: each for each in found}


def test_a_word_is_worth_less_than_a_rarer_one_and_synonyms_less_than_itself() -> None:
    found = looked(parse_question("a car or tea with lemon"))
    assert found["lemon"].idf > found["tea"].idf > 0
    assert found["car"].posting.documents.tolist() == [0, 1]
    worths = [synonym.weight for synonym in found["car"].synonyms]
    assert worths
    assert all(0 < worth <= SYNONYM_WEIGHT for worth in worths)


def test_only_synonyms_that_somebody_says_are_kept() -> None:
    near = {tuple(near.posting.documents.tolist()) for near in looked(parse_question("car"))["car"].synonyms}
    assert near == {(1,), (1, 3)}  # the automobile, and the trucks; nobody says sedan


@pytest.mark.parametrize(
    "question",
    [
        Question((QueryTerm("car"),), without=frozenset({"synonyms"})),
        Question((QueryTerm("car", weak=True),)),
        Question((QueryTerm("car", dated=True),)),
    ],
)
def test_without_cause_no_synonyms_are_looked_up(question: Question) -> None:
    assert looked(Question((QueryTerm("car"),)))["car"].synonyms
    assert looked(question)["car"].synonyms == ()


def test_a_name_has_no_synonyms() -> None:
    assert looked(parse_question("car"), frozenset({"car"}))["car"].synonyms == ()


def test_what_nobody_says_is_known_by_its_synonyms() -> None:
    found = looked(parse_question("sedan"))["sedan"]
    assert len(found.posting.documents) == 0
    assert found.synonyms
    assert found.idf < idf(0, len(TEXTS) + BACKGROUND)  # as common as they are together


def test_synonyms_count_for_a_part_and_once() -> None:
    car = looked(parse_question("car"))["car"]
    counts = soft_counts(car, np.arange(5, dtype="i4"))
    assert counts[0] == 1
    assert 1 < counts[1] <= 1 + 2 * SYNONYM_WEIGHT
    assert counts[2] == counts[4] == 0
    assert 0 < counts[3] <= SYNONYM_WEIGHT  # twice a truck is no more than once


def test_the_stems_of_other_languages_are_one_term() -> None:
    question = Question((QueryTerm("tea", also=("lemon", "zeppelin")),))
    posting = looked(question)["tea"].posting
    assert posting.documents.tolist() == [2, 4]
    assert posting.counts.tolist() == [2, 1]


def test_a_term_of_many_stems_is_counted_no_higher_than_a_byte_holds() -> None:
    made = Made(("tea " * 200 + "lemon " * 200,))
    ((found,),) = look_up(
        Question((QueryTerm("tea", also=("lemon",)),)), [made], CorpusStatistics(1, 400.0), frozenset()
    )
    assert found.posting.counts.tolist() == [255]


def test_what_stands_in_several_collections_is_weighed_in_all_of_them() -> None:
    one, two = Made(("tea", "coffee")), Made(("tea", "tea", "milk"))
    corpus = CorpusStatistics(5, 1.0)
    first, second = look_up(parse_question("tea"), [one, two], corpus, frozenset())
    assert first[0].idf == second[0].idf == idf(3, 5 + BACKGROUND)
    assert (len(first[0].posting.documents), len(second[0].posting.documents)) == (1, 2)


@given(st.dictionaries(st.integers(0, 40), st.integers(1, 255)), st.sets(st.integers(-1, 60)))
def test_occurrences_are_those_of_a_dictionary(held: dict[int, int], some: set[int]) -> None:
    posting = Posting(np.array(sorted(held), "i4"), np.array([held[one] for one in sorted(held)], "u1"))
    wanted = [held.get(one, 0) for one in sorted(some)]
    assert occurrences(posting, np.array(sorted(some), "i4")).tolist() == wanted


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_word_is_never_worth_less_than_nothing(held: int, documents: int) -> None:
    assert idf(held, documents) >= idf(held + 1, documents) > 0
