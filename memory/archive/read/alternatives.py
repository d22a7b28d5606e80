"""Other readings of what is in doubt, the likeliest first, until a checksum says which is right."""

import heapq
from collections.abc import Iterator, Sequence

from msgspec import Struct


class Alternative(Struct, frozen=True):
    """`value` in place of what is read at `at`; `cost` (nats, above 0) is how much less likely it is."""

    cost: float
    at: int
    value: int


def combinations(choices: Sequence[Alternative], most: int) -> Iterator[tuple[Alternative, ...]]:
    """Up to `most` sets of alternatives, no two for one place, by the sum of their costs from the least on.

    Sets grow by the next dearer alternative, or have their dearest replaced by it: each comes once, in order.
    """
    ranked = sorted(choices, key=lambda choice: choice.cost)
    if not ranked:
        return
    heap: list[tuple[float, tuple[int, ...]]] = [(ranked[0].cost, (0,))]
    seen = 0
    while heap and seen < most:
        cost, taken = heapq.heappop(heap)
        chosen = tuple(ranked[n] for n in taken)
        if len({choice.at for choice in chosen}) == len(chosen):
            seen += 1
            yield chosen
        after = taken[-1] + 1
        if after < len(ranked):
            heapq.heappush(heap, (cost + ranked[after].cost, (*taken, after)))
            heapq.heappush(heap, (cost + ranked[after].cost - ranked[after - 1].cost, (*taken[:-1], after)))
