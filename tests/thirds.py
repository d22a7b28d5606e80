"""The expensive tests of a run: all, or a third of them.

`python3 run.py test` takes every other test and the third whose turn it is that day, so that three days take all of
them. PALIMPSEST_THIRD=0, 1 or 2 names one; without it, as with plain `pytest`, all run.
"""

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final, TypeVar
from zlib import crc32

Test = TypeVar("Test")
COSTS: Final = Path(__file__).with_name("costs.txt")
"""CPU seconds and name of each expensive test function, as `make costs` measures them (tests/measure_costs.py)."""


def of_this_run(tests: Sequence[Test], name: Callable[[Test], str]) -> list[Test]:
    third = os.environ.get("PALIMPSEST_THIRD", "")
    return in_third(tests, name, int(third), expensive_functions()) if third.isdecimal() else list(tests)


def in_third(tests: Sequence[Test], name: Callable[[Test], str], third: int, expensive: Collection[str]) -> list[Test]:
    """The cheap tests, and the expensive ones of this third."""
    return [test for test in tests if function(name(test)) not in expensive or third_of(name(test)) == third]


def third_of(name: str) -> int:
    """By the name alone, so that a test stays in its third, whatever other tests there are."""
    return crc32(name.encode()) % 3


def function(name: str) -> str:
    """`tests/test_a.py::test_b` of `tests/test_a.py::test_b[case]`."""
    return name.partition("[")[0]


def expensive_functions() -> frozenset[str]:
    return frozenset(line.split(maxsplit=1)[1] for line in COSTS.read_text("utf-8").splitlines())
