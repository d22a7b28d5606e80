"""Spreading: one conversation, or one file, does not fill the page where others answer as well.

Its first hits stand where they were found. Each further one gives way to hits of others that are nearly as good, and to
no worse ones: where all that answers is in one conversation, nothing changes.
"""

from collections import Counter
from collections.abc import Sequence

from memory.search.asking.query import Hit

FREE = 0.6  # of a page: so many hits of one conversation give way to nobody
AGAIN = 0.1  # of its score, what each further one yields
MOST = 0.3


def spread(hits: Sequence[Hit], page: int) -> list[Hit]:
    """The same hits in the order in which they are shown, so many on a page."""
    free = int(FREE * page)
    before = Counter[str]()
    placed: list[tuple[float, Hit]] = []
    for hit in hits:
        place = hit.conversation or hit.citation.ref
        placed.append((hit.score * (1 - min(MOST, AGAIN * max(0, before[place] - free + 1))), hit))
        before[place] += 1
    return [hit for _, hit in sorted(placed, key=lambda one: -one[0])]
