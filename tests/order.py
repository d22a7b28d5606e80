"""The order of a run: each of xdist's workers begins with long tests.

xdist gives each worker an equal part of the list, and one that is done takes from the end of another's. A long test at
the end of the list would leave a core with nothing to do until it is over.
"""

from collections.abc import Callable, Sequence
from itertools import chain, groupby, islice
from typing import TypeVar

Test = TypeVar("Test")
LONG = 90.0
"""A test with a limit of so many seconds is long."""


def long_first(
    tests: Sequence[Test], workers: int, limit: Callable[[Test], float], module: Callable[[Test], str]
) -> list[Test]:
    """The same tests. The long ones of a module stay together, as they share its servers; the longest begin."""
    long = [test for test in tests if limit(test) >= LONG]
    others = iter([test for test in tests if limit(test) < LONG])
    modules = [list(found) for _, found in groupby(sorted(long, key=module), module)]
    modules.sort(key=lambda found: -sum(map(limit, found)))
    parts: list[list[Test]] = [[] for _ in range(workers)]
    for found in modules:
        min(parts, key=lambda part: sum(map(limit, part))).extend(found)
    lengths = [(len(tests) + number) // workers for number in range(workers)]  # as xdist divides
    for part, length in zip(parts, lengths, strict=True):
        part.extend(islice(others, max(0, length - len(part))))
    return [*chain.from_iterable(parts), *others]
