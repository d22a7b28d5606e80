"""One megabyte for the whole program: what a sentence says is what a setting means."""

import re

import pytest

from foundation.sizes import format_size
from tests.paths import ROOT

ROOMS = ("foundation", "models", "memory", "context", "agent", "tui")


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0.0 kB"), (1024, "1.0 kB"), (2**20, "1.0 MB"), (-(2**21), "-2.0 MB")],
)
def test_a_megabyte_is_2_to_the_20(count: int, words: str) -> None:
    assert format_size(count) == words


def test_no_sentence_divides_by_a_million() -> None:
    decimal = re.compile(r"/ ?(1e6|1_000_000|10\*\*6|1000)[^\"]*\} ?[kM]B")
    odd = [
        f"{path.relative_to(ROOT)}:{number}"
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if decimal.search(line)
    ]
    assert odd == []
