"""Measures what tests cost, for tests/costs.txt: `make costs`.

As a pytest plugin it writes the CPU seconds of each test, those of its processes included, to a folder; as a program it
makes the file of them. A load on the machine changes little of CPU seconds.
"""

import json
import os
import sys
from collections import defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path
from statistics import mean
from typing import Final

import pytest

from tests.parts import COSTS, function

if sys.platform != "win32":
    import resource

LEAST: Final = 0.1
"""CPU seconds of a case from which a test is expensive."""
FOLDER: Final = "TEST_COSTS"
"""Variable with the folder of the records."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    before = _seconds()
    result = yield
    record = json.dumps([item.nodeid, _seconds() - before])
    with Path(os.environ[FOLDER], f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
        file.write(f"{record}\n")
    return result


def _seconds() -> float:
    """CPU seconds of this process and of those that it has waited for; 0 on Windows, which does not tell."""
    if sys.platform == "win32":
        return 0.0
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def expensive(records: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Mean seconds of a case, by function, of those that take LEAST or more; the dearest first."""
    cases: dict[str, list[float]] = defaultdict(list)
    for name, seconds in records:
        cases[function(name)].append(seconds)
    means = sorted(((mean(seconds), name) for name, seconds in cases.items()), reverse=True)
    return {name: seconds for seconds, name in means if seconds >= LEAST}


def main(folder: Path) -> None:
    records = [json.loads(line) for file in folder.glob("*.jsonl") for line in file.read_text("utf-8").splitlines()]
    costs = expensive((name, seconds) for name, seconds in records)
    COSTS.write_text("".join(f"{seconds:.2f} {name}\n" for name, seconds in costs.items()), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
