"""Regular expressions that a person wrote, with a time limit.

Python's `re` has none, and `(a+)+$` takes longer than the age of the world on sixty letters. The package `regex` needs
2 ms for it, and stops any search when its time is up: of 31 hostile patterns on texts of 4,000 and 100,000 characters
none took more than 0.33 s of CPU time with a limit of 0.3 s. So no pattern is refused for what it may cost.
"""

import importlib
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Protocol, cast

_LOOK_EVERY = 0.05  # seconds between looks at the clock of the process, which takes longer than a short search
LONGEST_PATTERN = 500
LONGEST_TEXT = 4_000  # characters of a message that patterns look at
LONGEST_FOUND_IN = 100_000  # characters of a text in which all that they name is sought


class UnsafePattern(ValueError):
    """The pattern is refused; the message says why."""


class _Match(Protocol):
    def __getitem__(self, group: int, /) -> str: ...
    def start(self) -> int: ...
    def end(self) -> int: ...


class PatternBudget:
    """The time that all patterns together may take over one message, in seconds of the process's CPU time.

    It is the clock of `regex`: work of other threads counts too, so that a search may end early, and never late.
    """

    def __init__(self, seconds: float = 0.3, each: float | None = None) -> None:
        """`each`: the seconds of one search, by default all of them. One that takes longer uses up the whole time."""
        self._left = seconds
        self._each = seconds if each is None else each

    @property
    def is_spent(self) -> bool:
        """Whether the time is used up, so that a search may have ended early."""
        return self._left <= 0

    def search(self, compiled: Any, text: str, start: int = 0) -> _Match | None:
        """The next match. None where there is none, or the time is used up. Other threads run meanwhile."""
        if self._left <= 0:
            return None
        began = time.process_time()
        try:
            return cast(
                "_Match | None", compiled.search(text, start, timeout=min(self._left, self._each), concurrent=True)
            )
        except TimeoutError:
            self._left = 0
            return None
        finally:
            self._left -= time.process_time() - began

    def search_each(self, compiled: Any, texts: Sequence[str]) -> Iterator[tuple[int, _Match]]:
        """The number of each text that has a match, with the first; ends where the time is used up."""
        began, looked = time.process_time(), time.monotonic()
        for number, text in enumerate(texts):
            if time.monotonic() - looked > _LOOK_EVERY:
                now = time.process_time()
                self._left -= now - began
                began, looked = now, time.monotonic()
            if self._left <= 0:
                return
            try:
                match = compiled.search(text, timeout=min(self._left, self._each), concurrent=True)
            except TimeoutError:
                self._left = 0
                return
            if match is not None:
                yield number, match
        self._left -= time.process_time() - began


class SafePattern:
    """A compiled pattern whose searches end in time. It is written as for Python's `re`.

    Raises UnsafePattern where it is too long or nested too deeply, and re.error where it is no pattern.
    """

    def __init__(self, source: str) -> None:
        if len(source) > LONGEST_PATTERN:
            raise UnsafePattern(f"the pattern has {len(source)} characters, and the maximum is {LONGEST_PATTERN}")
        try:
            with warnings.catch_warnings():  # of sets as later versions may read them
                warnings.simplefilter("ignore")
                re.compile(source)  # its errors are the documented ones; recursion and other extensions are left out
                self._compiled = _regex().compile(source)
            self._source, self._of_lines = source, None
        except RecursionError as error:
            raise UnsafePattern("its groups are nested too deeply") from error
        except OverflowError as error:
            raise UnsafePattern("a repetition in it has too high a limit") from error
        except _regex().error as error:
            raise re.error(str(error), source) from error

    def matches(self, text: str, budget: PatternBudget | None = None) -> bool:
        """Whether it is found in the text's first 4,000 characters. False where the time is used up."""
        return (budget or PatternBudget()).search(self._compiled, text[:LONGEST_TEXT]) is not None

    def lines(self, lines: Sequence[str], budget: PatternBudget) -> Iterator[tuple[int, int, int]]:
        """The numbers (from 0) of the lines that it is found in, with from where to where it is found first.

        Ends early where the time is used up.
        """
        for number, match in budget.search_each(self._compiled, lines):
            yield number, match.start(), match.end()

    def may_be_in(self, text: str, budget: PatternBudget) -> bool:
        """Whether some line of the text may match. Only for patterns without groups that look around, and anchors but
        `^` and `$`; True where the time is used up."""
        if self._of_lines is None:
            self._of_lines = _regex().compile(self._source, _regex().MULTILINE)
        return budget.search(self._of_lines, text) is not None or budget.is_spent

    def found(self, text: str, budget: PatternBudget, most: int) -> list[str]:
        """The different texts that it matches in the first 100,000 characters, `most` at most; those of which there
        was time."""
        text, values, start = text[:LONGEST_FOUND_IN], dict[str, None](), 0
        while len(values) < most and start <= len(text):
            match = budget.search(self._compiled, text, start)
            if match is None:
                break
            values[match[0]] = None
            start = max(match.end(), start + 1)
        return list(values)


@cache
def _regex() -> Any:
    """The package, loaded with the first pattern: it takes 60 ms, and most workspaces have none."""
    return importlib.import_module("regex")
