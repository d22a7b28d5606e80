"""The expensive tests of a run: all, or one of seven parts.

`python3 run.py test` takes every other test and the part whose turn it is that day, so that seven days take all of
them. PALIMPSEST_PART=0 to 6 names one; without it, as with plain `pytest`, all run.
"""

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final, TypeVar
from zlib import crc32

Test = TypeVar("Test")
PARTS: Final = 7
COSTS: Final = Path(__file__).with_name("costs.txt")
"""CPU seconds and name of each expensive test function, as `make costs` measures them (tests/measure_costs.py)."""


def of_this_run(tests: Sequence[Test], name: Callable[[Test], str]) -> list[Test]:
    part = os.environ.get("PALIMPSEST_PART", "")
    return in_part(tests, name, int(part), expensive_functions()) if part.isdecimal() else list(tests)


def in_part(tests: Sequence[Test], name: Callable[[Test], str], part: int, expensive: Collection[str]) -> list[Test]:
    """The cheap tests, and the expensive ones of this part."""
    return [test for test in tests if function(name(test)) not in expensive or part_of(name(test)) == part]


def part_of(name: str) -> int:
    """By the name alone, so that a test stays in its part, whatever other tests there are."""
    return crc32(name.encode()) % PARTS


def function(name: str) -> str:
    """`tests/test_a.py::test_b` of `tests/test_a.py::test_b[case]`."""
    return name.partition("[")[0]


def expensive_functions() -> frozenset[str]:
    return frozenset(line.split(maxsplit=1)[1] for line in COSTS.read_text("utf-8").splitlines())
