"""States of a file that stood there for an instant and lacked somebody's words.

When a person's edit comes out of an exchange, the file has just been given a text without it. An editor that reads
the file in that instant and saves a little later writes those words away again, in good faith. So such states are
remembered for a while, and a text that was made from one of them is merged as what it is.
"""

import time
from collections import Counter, deque
from collections.abc import Iterable
from functools import lru_cache

from memory.hot.merge import merge
from memory.hot.parse import lines_of

_REMEMBERED = 32
_SECONDS = 30.0


class Exposed:
    """What we left in one file, and the states before it that were incomplete."""

    def __init__(self) -> None:
        self._states: deque[tuple[float, str]] = deque(maxlen=_REMEMBERED)
        self._left = ""

    def leave(self, text: str, incomplete: Iterable[str]) -> None:
        """`text` is what now stands there; the others stood there for an instant."""
        now = time.monotonic()
        self._states.extend((now, state) for state in incomplete)
        self._left = text

    def mend(self, text: str) -> str:
        """The text, with the words that its writer could not see."""
        oldest = time.monotonic() - _SECONDS
        while self._states and self._states[0][0] < oldest:
            self._states.popleft()
        if not self._states or text == self._left:
            return text
        origin = closest(text, [self._left, *(state for _, state in self._states)])
        return text if origin == self._left else merge(origin, text, self._left).text


def closest(text: str, origins: list[str]) -> str:
    """The one that the text was most likely made from: the fewest lines taken out, then the fewest put in.

    Of equals the first.
    """
    lines = _counted(text)

    def distance(origin: str) -> tuple[int, int]:
        before = _counted(origin)
        common = sum(min(count, lines.get(line, 0)) for line, count in before.items())
        return before.total() - common, lines.total() - common

    return min(origins, key=distance)


@lru_cache(maxsize=_REMEMBERED)
def _counted(text: str) -> Counter[str]:
    return Counter(lines_of(text))
