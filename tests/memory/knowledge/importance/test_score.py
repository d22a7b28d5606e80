"""The formulas of seed 001, and the laws of forgetting."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from foundation.text.similarity import near_duplicates, pack_sketch, resemblance, sketch, unpack_sketch
from memory.knowledge.importance.score import importance_score, pick_score, recency
from memory.knowledge.importance.view_budget import MemoryWeight, ViewState, tokens_at, view_states
from memory.pages.render.modes import MODES

TOKENS = {"tiny": 64, "small": 100, "base": 256, "large": 400}
views = some.dictionaries(some.sampled_from(list(TOKENS)), some.integers(1, 5), min_size=1, max_size=3)
weights = some.lists(some.tuples(some.floats(0, 10), some.integers(0, 40), views), max_size=12).map(
    lambda each: [MemoryWeight(seq, *one) for seq, one in enumerate(each, 1)]
)


def no_twins(_seqs: object) -> list[tuple[int, int]]:
    return []


@given(some.floats(0, 10), some.floats(0, 10_000), some.integers(0, 1_000))
def test_the_score_is_the_formula(manual: float, days: float, accesses: int) -> None:
    expected = 0.5 * manual + 0.3 * 10 / (1 + days / 30) + 0.2 * 10 * (1 - math.exp(-accesses / 5))
    assert importance_score(manual, days, accesses) == pytest.approx(expected)
    assert 0 <= expected <= 10


def test_the_score_at_its_corners() -> None:
    assert importance_score(5, 0, 0) == pytest.approx(5.5)
    assert importance_score(10, 0, 10**6) == pytest.approx(10)
    assert importance_score(5, 30, 0) == pytest.approx(4.0)  # age counts half after 30 days
    assert importance_score(5, -3, 0) == importance_score(5, 0, 0)  # a clock that went back


@given(some.floats(0, 10_000))
def test_recency_is_the_formula(days: float) -> None:
    assert recency(days) == pytest.approx(5 / (1 + days / 7))


def test_relevance_recency_and_importance_all_count() -> None:
    assert pick_score(1, 0, 10) == pytest.approx(20)
    assert pick_score(0.9, 0, 5) > pick_score(0.8, 0, 5)
    assert pick_score(0.5, 0, 5) > pick_score(0.5, 70, 5)
    assert pick_score(0.5, 0, 9) > pick_score(0.5, 0, 5)


@given(weights)
def test_within_the_budget_nothing_is_forgotten(memories: list[MemoryWeight]) -> None:
    whole = sum(TOKENS[mode] * count for one in memories for mode, count in one.views.items())
    found = view_states(memories, whole, no_twins)
    assert all(one.in_view for one in found.values())
    assert sum(one.tokens for one in found.values()) == whole


@given(weights, some.integers(0, 4_000))
def test_the_first_rule_takes_the_lowest_under_three_and_no_more_than_it_must(
    memories: list[MemoryWeight], budget: int
) -> None:
    found = view_states(memories, budget, no_twins)
    gone = [one for one in memories if not found[one.seq].in_view]
    kept = [one for one in memories if found[one.seq].in_view]
    assert all(one.score < 3.0 for one in gone)
    lowest_kept = min((one.score for one in kept), default=10.0)
    assert all(one.score <= lowest_kept for one in gone)
    if gone:  # the last that went had to go
        last = max(gone, key=lambda one: (one.score, one.seq))
        whole = sum(tokens_at(one.views, "large") for one in [*kept, last])
        assert whole > budget
    over = sum(one.tokens for one in found.values()) > budget
    assert not (over and any(one.score < 3.0 for one in kept))


@given(weights, some.integers(0, 4_000))
def test_the_second_rule_makes_smaller_only_what_was_used_more_than_ten_times(
    memories: list[MemoryWeight], budget: int
) -> None:
    found = view_states(memories, budget, no_twins)
    for one in memories:
        view_state = found[one.seq]
        if view_state.in_view and view_state.tokens < tokens_at(one.views, "large"):
            assert one.accesses > 10
    left_over = sum(one.tokens for one in found.values()) > budget
    if left_over:  # then all that may be smaller is as small as it gets
        assert all(
            found[one.seq].tokens == tokens_at(one.views, "tiny")
            for one in memories
            if one.accesses > 10 and found[one.seq].in_view
        )


def test_the_third_rule_lets_the_better_of_two_twins_stand_for_both() -> None:
    memories = [MemoryWeight(seq, score, 0, {"base": 1}) for seq, score in ((1, 5.0), (2, 7.0), (3, 6.0))]
    found = view_states(memories, 512, lambda seqs: [(1, 2)] if {1, 2} <= set(seqs) else [])
    assert found[1] == ViewState(1, False, "base", 0, stood_for_by=2)
    assert found[1].state == "merged"
    assert (found[2].in_view, found[3].in_view) == (True, True)


def test_twins_are_left_alone_while_there_is_room() -> None:
    memories = [MemoryWeight(seq, 5.0, 0, {"tiny": 1}) for seq in (1, 2)]
    found = view_states(memories, 128, lambda _seqs: pytest.fail("was asked without need"))
    assert all(one.in_view for one in found.values())


def test_the_rules_act_in_their_order() -> None:
    low, used, twin, other = (
        MemoryWeight(1, 2.0, 0, {"base": 1}),
        MemoryWeight(2, 6.0, 11, {"base": 1}),
        MemoryWeight(3, 5.0, 0, {"base": 1}),
        MemoryWeight(4, 5.5, 0, {"base": 1}),
    )

    def states(budget: int) -> list[tuple[str, str]]:
        found = view_states([low, used, twin, other], budget, lambda _seqs: [(3, 4)])
        return [(found[seq].state, found[seq].mode) for seq in (1, 2, 3, 4)]

    whole = ("in view", "base")
    assert states(1024) == [whole] * 4
    assert states(768) == [("out of view", "base"), whole, whole, whole]
    assert states(700) == [("out of view", "base"), ("in view", "small"), whole, whole]
    assert states(580) == [("out of view", "base"), ("in view", "tiny"), whole, whole]
    assert states(400) == [("out of view", "base"), ("in view", "tiny"), ("merged", "base"), whole]


def test_the_modes_cost_what_the_seed_says() -> None:
    assert {name: mode.vision_tokens for name, mode in MODES.items()} == TOKENS


words = some.text(alphabet="abcdefghij ", min_size=0, max_size=400)


@given(words)
def test_a_sketch_comes_back_from_its_bytes(text: str) -> None:
    assert unpack_sketch(pack_sketch(sketch(text))) == sketch(text)


def test_near_duplicates_are_found_and_others_are_not() -> None:
    base = " ".join(f"word{n} of the long text" for n in range(200))
    near = base.replace("word7 ", "other ")
    far = " ".join(f"thing{n} in another" for n in range(200))
    sketches = {1: sketch(base), 2: sketch(far), 3: sketch(near)}
    assert near_duplicates(sketches) == [(1, 3)]
    assert resemblance(sketches[1], sketches[3]) > 0.9
    assert resemblance(sketches[1], sketches[2]) < 0.1
    assert near_duplicates({1: sketch(""), 2: sketch("")}) == []
