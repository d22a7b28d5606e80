"""What other ways of sending the same outputs would cost, from the sizes of the outputs alone.

A server is taken to keep the prompt of the request before, and to read what follows the first byte that differs.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from msgspec import Struct

REPEATED, NEW = 0.1, 1.25  # prices of cached and of new input, as a share of the usual one


class Sending(Struct, frozen=True):
    """Bytes of all requests, those of them that a server reads anew, and the largest request."""

    sent: int
    new: int
    largest: int

    @property
    def weighted(self) -> float:
        return REPEATED * (self.sent - self.new) + NEW * self.new


def send_all(first: int, outputs: Sequence[int]) -> Sending:
    """Every output in every later request. `first`: bytes of the request before there is an output."""
    sizes = list(accumulate(outputs, initial=first))
    return Sending(sum(sizes), sizes[-1], sizes[-1])


def sliding_window(first: int, outputs: Sequence[int], room: int) -> Sending:
    """The newest outputs that fit into `room` bytes, the newest always. One that leaves moves all that follow it."""
    requests = [(0, 0)]  # the outputs in a request, from … to
    for end in range(1, len(outputs) + 1):
        start = requests[-1][0]
        while start < end - 1 and first + sum(outputs[start:end]) > room:
            start += 1
        requests.append((start, end))
    sizes = [first + sum(outputs[start:end]) for start, end in requests]
    kept = [
        first if after[0] > before[0] else size
        for (before, after), size in zip(pairwise(requests), sizes, strict=False)
    ]
    return Sending(sum(sizes), sum(sizes) - sum(kept), max(sizes))


def r_squared(values: Sequence[float]) -> float:
    """How well a straight line fits values at equal steps: 1 for a line."""
    count = len(values)
    if count < 3:
        return 1.0
    middle, mean = (count - 1) / 2, sum(values) / count
    across = sum((n - middle) ** 2 for n in range(count))
    slope = sum((n - middle) * (value - mean) for n, value in enumerate(values)) / across
    left = sum((value - mean - slope * (n - middle)) ** 2 for n, value in enumerate(values))
    total = sum((value - mean) ** 2 for value in values)
    return 1 - left / total if total else 1.0
