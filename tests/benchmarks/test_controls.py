"""The controls of `benchmarks.endless`: laws of what is sent, from the sizes of the outputs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.agents.controls import r_squared, send_all, sliding_window

outputs = st.lists(st.integers(1, 1000), max_size=30)


def test_sending_all_repeats_each_output_and_reads_it_once() -> None:
    sending = send_all(10, [5, 7])
    assert (sending.sent, sending.new, sending.largest) == (10 + 15 + 22, 22, 22)
    assert sending.weighted == pytest.approx(0.1 * 25 + 1.25 * 22)


@given(st.integers(1, 500), outputs)
def test_a_window_that_holds_all_sends_all(first: int, sizes: list[int]) -> None:
    assert sliding_window(first, sizes, first + sum(sizes)) == send_all(first, sizes)


def test_what_leaves_the_window_moves_all_that_follows() -> None:
    sending = sliding_window(10, [5, 5, 5], 20)
    assert (sending.sent, sending.largest) == (10 + 15 + 20 + 20, 20)
    assert sending.new == 10 + 5 + 5 + 10, "the last request begins with the first ten bytes alone"


@given(st.integers(1, 500), outputs, st.integers(1, 3000))
def test_a_window_is_kept_unless_one_output_alone_exceeds_it(first: int, sizes: list[int], room: int) -> None:
    sending = sliding_window(first, sizes, room)
    assert sending.largest <= max(room, first + max(sizes, default=0))
    assert first <= sending.new <= sending.sent <= send_all(first, sizes).sent


def test_a_line_fits_itself_and_a_square_does_not() -> None:
    assert r_squared([3.0 * n + 2 for n in range(50)]) == pytest.approx(1.0)
    assert r_squared([float(n * n) for n in range(100)]) < 0.95
    assert r_squared([5.0, 5.0, 5.0]) == 1.0
