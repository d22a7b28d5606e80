"""Figures follow from answers: the laws of R@k, AUC and shares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.proof.figures import CONTEXTS, Answer, auc, below, brought, figures, parted, ranks


def answer(*places: int, wanted: int = 1, category: str = "one", **more: object) -> Answer:
    return Answer(category=category, wanted=wanted, ranks=places, **more)


def test_evidence_is_counted_at_its_place_and_a_hit_that_comes_twice_once() -> None:
    assert ranks(["a", "b", "b", "c", "d"], ["b", "d", "x"]) == (2, 4)


def test_recall_is_the_share_of_the_evidence_and_averaged_over_questions() -> None:
    found = figures([answer(1, 7, wanted=2), answer(wanted=1), answer(3, wanted=4)])
    assert found["questions"] == 3
    assert found["R@1"] == pytest.approx(100 * (1 / 2) / 3, abs=0.05)
    assert found["R@5"] == pytest.approx(100 * (1 / 2 + 1 / 4) / 3, abs=0.05)
    assert found["R@10"] == pytest.approx(100 * (1 + 1 / 4) / 3, abs=0.05)
    assert found["hit@10"] == pytest.approx(100 * 2 / 3, abs=0.05)
    assert found["MRR"] == pytest.approx(100 * (1 + 1 / 3) / 3, abs=0.05)


def test_a_question_that_nothing_answers_counts_for_no_rank_but_for_saying_no() -> None:
    found = figures(
        [answer(1, found=True, best=0.9), answer(wanted=0, found=False), answer(wanted=0, found=True, best=0.4)]
    )
    assert (found["questions"], found["R@1"], found["found"], found["said no"]) == (1, 100.0, 100.0, 50.0)
    assert found["AUC"] == 100.0


def test_what_nobody_measured_is_none_and_not_nought() -> None:
    found = figures([answer(1)])
    for name in ("found", "said no", "AUC", "p50 ms", "1k"):
        assert found[name] is None
    assert figures([answer(1, held=dict.fromkeys(CONTEXTS, 0.0))])["2k"] == 0.0


scores = st.lists(st.integers(0, 5).map(float), max_size=12)


@given(scores, scores)
def test_auc_is_the_chance_that_one_scores_above_the_other(some: list[float], others: list[float]) -> None:
    pairs = [(one > other) + (one == other) / 2 for one in some for other in others]
    wanted = round(100 * sum(pairs) / len(pairs), 1) if pairs else None
    assert auc(some, others) == wanted


def test_percentiles_and_categories() -> None:
    assert below([], 0.5) is None
    assert below([5.0, 1.0, 3.0], 0.5) == 3.0
    assert below([1.0, 2.0], 0.95) == 2.0
    answers = [answer(category="b", store="x"), answer(category="a", store="x"), answer(category="b", store="y")]
    assert {name: len(some) for name, some in parted(answers, "category").items()} == {"b": 2, "a": 1}
    assert {name: len(some) for name, some in parted(answers, "store").items()} == {"x": 2, "y": 1}


def test_a_signal_brings_what_is_lost_without_it_and_chance_has_its_share() -> None:
    whole = [answer(1), answer(2), answer(12), answer(wanted=0)]
    assert brought(whole, whole) == {"brings": 0.0, "±": 0.0}
    less = [answer(1), answer(11), answer(3), answer(wanted=0)]
    assert brought(whole, less) == {"brings": 0.0, "±": pytest.approx(1.96 * 100 / 3**0.5, abs=0.1)}
    assert brought(whole, [answer(), answer(), answer(), answer(wanted=0)])["brings"] == pytest.approx(66.7)
    assert brought(whole[:1], whole[:1]) == {"brings": None, "±": None}
