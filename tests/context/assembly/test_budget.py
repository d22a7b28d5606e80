"""The laws of the budget: parts sum to the whole, floors hold, and what is lent is accounted for."""

from hypothesis import assume, given
from hypothesis import strategies as st

from context.assembly.budget import FLOORS, budget_for, divide, lend
from context.assembly.tokens import Layer
from context.settings import ContextSettings

shares = st.lists(st.floats(0, 1), min_size=4, max_size=4)


@given(st.integers(1, 2_000_000), shares)
def test_the_parts_sum_to_the_whole(total: int, weights: list[float]) -> None:
    parts = divide(total, weights)
    assert sum(parts) == total
    assert all(part >= 0 for part in parts)


@given(st.integers(sum(FLOORS.values()) + 1, 2_000_000), shares)
def test_no_layer_is_below_its_floor_where_all_floors_fit(total: int, weights: list[float]) -> None:
    assert all(part >= floor for part, floor in zip(divide(total, weights), FLOORS.values(), strict=True))


@given(st.integers(64, 2_000_000), st.integers(0, 100_000))
def test_a_request_and_its_answer_fit_the_window(window: int, reserve: int) -> None:
    budget = budget_for(window, ContextSettings(reserve=reserve))
    assert budget.total + budget.reserve == window
    assert budget.reserve <= window // 2
    assert sum(budget.shares.values()) == budget.total


@given(st.integers(64, 200_000), st.lists(st.integers(0, 200_000), min_size=4, max_size=4))
def test_who_borrows_is_within_budget_and_the_budgets_still_sum(total: int, used: list[int]) -> None:
    assume(sum(used) <= total)
    shared = dict(zip(Layer, divide(total, (0.1, 0.3, 0.4, 0.2)), strict=True))
    taken = dict(zip(Layer, used, strict=True))
    budgets = lend(shared, taken)
    assert sum(budgets.values()) == total
    assert all(budgets[layer] >= taken[layer] for layer in Layer)


def test_small_windows_share_by_their_floors() -> None:
    budget = budget_for(512, ContextSettings())
    assert budget.total == 384
    assert all(share > 0 for share in budget.shares.values())
