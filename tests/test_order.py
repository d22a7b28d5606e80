"""The long tests of a run begin it, dealt to the workers."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from tests.order import LONG, long_first


class Listed(NamedTuple):
    number: int
    module: str
    limit: float


LISTS = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from((0.0, 10.0, LONG, 300.0))), max_size=60)


def listed(found: Sequence[tuple[str, float]]) -> list[Listed]:
    return [Listed(number, module, limit) for number, (module, limit) in enumerate(sorted(found))]


def ordered(tests: Sequence[Listed], workers: int) -> list[Listed]:
    return long_first(tests, workers, lambda test: test.limit, lambda test: test.module)


def parts_of(tests: Sequence[Listed], workers: int) -> list[list[Listed]]:
    """As xdist's worksteal gives them to its workers."""
    left, parts = list(tests), list[list[Listed]]()
    for others in range(workers, 0, -1):
        parts.append(left[: len(left) // others])
        del left[: len(left) // others]
    return parts


@given(LISTS, st.integers(1, 6))
def test_every_test_runs_once(found: list[tuple[str, float]], workers: int) -> None:
    tests = listed(found)
    assert Counter(ordered(tests, workers)) == Counter(tests)


@given(LISTS, st.integers(1, 6))
def test_other_tests_keep_their_order(found: list[tuple[str, float]], workers: int) -> None:
    kept = [test for test in ordered(listed(found), workers) if test.limit < LONG]
    assert kept == sorted(kept)


def test_each_worker_begins_with_the_long_tests_of_a_module() -> None:
    long = [("kills", 300.0), ("day", 200.0), ("day", 100.0), ("races", 120.0)]
    tests = listed([("quick", 10.0)] * 21 + long)
    begun = [[test.module for test in part if test.limit >= LONG] for part in parts_of(ordered(tests, 3), 3)]
    assert sorted(begun) == [["day", "day"], ["kills"], ["races"]]
    for part in parts_of(ordered(tests, 3), 3):
        assert [test.limit >= LONG for test in part] == sorted((test.limit >= LONG for test in part), reverse=True)
