"""Finds a text inside another one, as a search in an editor does."""

import re
from typing import Final

MOST_SPANS: Final = 10_000


def find_spans(text: str, query: str) -> list[tuple[int, int]]:
    """The spans of `query` in the text, upper and lower case alike, in order; at most MOST_SPANS.

    Any run of blanks matches any other. "" is found nowhere.
    """
    words = query.split()
    if not words:
        return []
    pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    return [match.span() for match, _ in zip(pattern.finditer(text), range(MOST_SPANS), strict=False)]
