"""A person's regular expression, made safe to run on any message.

Python's `re` has no time limit, and one pattern can take longer than the age of the world on thirty characters. So the
steps of a search are bounded before it ever runs, over windows of the text that are as long as the bound allows; a
pattern that has no such window is refused. Between windows the clock is looked at, once for all patterns of a message.
"""

import re
import time
from collections.abc import Iterator

from foundation.pattern_cost import most_steps

LONGEST_PATTERN = 500
LONGEST_TEXT = 4_000  # characters of a message that patterns look at
LONGEST_FOUND_IN = 100_000  # characters of a text in which all that they name is sought
WINDOWS = (4_000, 1_500, 800, 400, 200, 100)
MOST_STEPS = 33_000_000  # of one search; the slowest patterns take 10 ns a step, most a tenth of it
_ADVICE = (
    "a repeat or a choice within a repeat can run for ever; make the outer one possessive (`(…)*+`), "
    "give it a small limit (`(…){0,5}`), or write it flat, with three repeats without a limit at most"
)


class UnsafePattern(ValueError):
    """The pattern is refused; the message says why and what to write in its place."""


class Patience:
    """The time that all patterns together may take over one message, in seconds of this thread's own work."""

    def __init__(self, seconds: float = 0.3) -> None:
        self._left = seconds

    def search(self, compiled: re.Pattern[str], text: str) -> bool:
        """Whether it is found. False where the time is used up."""
        return self.match(compiled, text) is not None

    def match(self, compiled: re.Pattern[str], text: str, start: int = 0) -> re.Match[str] | None:
        """Where it is found next. None where the time is used up."""
        if self._left <= 0:
            return None
        began = time.thread_time()
        found = compiled.search(text, start)
        self._left -= time.thread_time() - began
        return found


class SafePattern:
    """A compiled pattern that looks at bounded windows. Raises UnsafePattern, or re.error where it is no pattern."""

    def __init__(self, source: str, steps: int = MOST_STEPS) -> None:
        if len(source) > LONGEST_PATTERN:
            raise UnsafePattern(f"the pattern has {len(source)} characters; {LONGEST_PATTERN} are the most")
        try:
            self.window = _window(source, steps)
            self._compiled = re.compile(source)
        except RecursionError as error:
            raise UnsafePattern("its groups are nested too deeply") from error
        except OverflowError as error:
            raise UnsafePattern("a repeat in it has too large a limit") from error

    def matches(self, text: str, patience: Patience | None = None) -> bool:
        """Whether it is found in the text; a match longer than half a `window` may be missed."""
        patience = patience or Patience()
        return any(patience.search(self._compiled, window) for window in _windows(text[:LONGEST_TEXT], self.window))

    def found(self, text: str, patience: Patience, most: int) -> list[str]:
        """What it is found as, so many at most, in a longer text as well: the pattern looks at one window after
        another, each half in the one before, until the time is used up."""
        said = dict[str, None]()
        for window in _windows(text[:LONGEST_FOUND_IN], self.window):
            at = 0
            while len(said) < most:
                match = patience.match(self._compiled, window, at)
                if match is None:
                    break
                said[match[0]] = None
                at = max(match.end(), at + 1)
        return list(said)


def _window(source: str, steps: int) -> int:
    window = next((length for length in WINDOWS if most_steps(source, length) <= steps), None)
    if window is None:
        raise UnsafePattern(_ADVICE)
    return window


def _windows(text: str, size: int) -> Iterator[str]:
    yield text[:size]
    for start in range(size // 2, max(0, len(text) - size // 2), size // 2):
        yield text[start : start + size]
