"""Comparison of lines: lines that are common in a long file are no changes, and the counts are those of git."""

import time

import pytest

from agent.checkpoints.line_matcher import MOST_AGAIN
from agent.checkpoints.restore import line_counts
from agent.tools.files.changes import file_diff


def functions(changed: range = range(0)) -> bytes:
    """300 lines: 60 functions of three lines, each followed by two empty ones. `changed` are the numbers of those
    that return something else.
    """
    return "".join(
        f"def f{number}(x):\n    y = x\n    return {'y' if number in changed else 'x'} + {number}\n\n\n"
        for number in range(60)
    ).encode()


def counts(diff: str) -> tuple[int, int]:
    lines = diff.splitlines()[2:]
    return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)


def test_empty_lines_at_the_end_of_a_long_file_are_no_change() -> None:
    diff = file_diff("long.py", functions(), functions(range(60)))
    assert counts(diff) == (60, 60)
    assert diff.endswith("-    return x + 59\n+    return y + 59\n \n \n")


def test_an_empty_line_between_two_changed_ones_is_no_change() -> None:
    old = "".join(f"old {number}\n\n" for number in range(150)).encode()
    new = old.replace(b"old", b"new")
    assert counts(file_diff("a", old, new)) == (150, 150)
    assert line_counts(old, new) == (150, 150)


@pytest.mark.parametrize("lines", [3_000, MOST_AGAIN // 2])
def test_a_file_with_no_line_in_place_is_compared_in_time(lines: int) -> None:
    old, new = ("".join(f"{name} {n}\n\n" for n in range(lines // 2)).encode() for name in ("old", "new"))
    start = time.perf_counter()
    file_diff("a", old, new)
    assert time.perf_counter() - start < 5
