"""How far the rules look."""

import re
from collections.abc import Iterator
from itertools import islice

MOST_PLACES = 50_000
"""Places of one text that a rule looks at: more numbers or names than a long book has are a table, and are found by
their words."""


def listed(names: str) -> frozenset[str]:
    """The names of a list that is written with blanks between them."""
    return frozenset(names.split())


def places(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Where the pattern stands, so many times at most."""
    return islice(pattern.finditer(text), MOST_PLACES)
