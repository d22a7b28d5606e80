"""A person's regular expression, made safe to run on any message.

Python's `re` has no time limit, and one pattern can take longer than the age of the world on thirty characters. So the
steps of a search are bounded before it ever runs, over windows of the text that are as long as the bound allows; a
pattern that has no such window is refused. Between windows the clock is looked at, once for all patterns of a message.

How many steps a regular expression may take at worst, told from its parse before it ever runs.

A bound, not a guess: in a sequence the ways of its parts multiply, of a choice they add up, and a repeat of what can
match in w ways has w + w² + w³ … ways. Nested repeats multiply so by themselves, however small each one's limit is.
"""

import importlib
import math
import re
import time
from collections.abc import Iterable, Iterator
from typing import Any, cast

from msgspec import Struct

# The standard library's own parser: what it reads is what runs. A scanner of ours could be led astray by a comment.
_parser = cast(Any, importlib.import_module("re._parser"))

_ENOUGH = 1e15  # beyond this nothing is counted more exactly


class MatchCost(Struct, frozen=True):
    """From one place of a text: in how many ways a part can match, and the steps that trying them all takes.

    `loops` is how many repeats without a limit stand one after another: they share the text, n places among k of
    them, so that nᵏ counts each way k! times.
    """

    ways: float = 1
    steps: float = 1
    loops: int = 0


def most_steps(source: str, length: int) -> float:
    """A bound on the steps of one search over `length` characters; infinite where it may run for ever.

    Raises re.error where the source is no pattern.
    """
    cost = _sequence(_parser.parse(source), length)
    return length * cost.steps / math.factorial(cost.loops + 1)


def _sequence(parts: Iterable[Any], length: int) -> MatchCost:
    ways, steps, loops = 1.0, 0.0, 0
    for operation, argument in parts:
        cost = _part(str(operation), argument, length)
        steps += ways * cost.steps
        ways *= cost.ways
        loops += cost.loops
        if steps > _ENOUGH or ways > _ENOUGH:
            return MatchCost(math.inf, math.inf)
    return MatchCost(ways, steps, loops)


def _part(operation: str, argument: Any, length: int) -> MatchCost:
    match operation:
        case "SUBPATTERN":
            cost = _sequence(argument[3], length)
        case "BRANCH":
            cost = _choice(argument[1], length)
        case "GROUPREF_EXISTS":
            cost = _choice([part for part in argument[1:] if part is not None] + [[]], length)
        case "MAX_REPEAT" | "MIN_REPEAT":
            cost = _repeat(int(argument[0]), int(argument[1]), _sequence(argument[2], length), length)
        case "POSSESSIVE_REPEAT":  # each round is settled before the next
            cost = MatchCost(1, 1 + min(int(argument[1]), length) * _sequence(argument[2], length).steps)
        case "ATOMIC_GROUP":
            cost = MatchCost(1, _sequence(argument, length).steps)
        case "ASSERT" | "ASSERT_NOT":
            cost = MatchCost(1, _sequence(argument[1], length).steps)
        case "GROUPREF":
            cost = MatchCost(1, length)
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN" | "AT" | "CATEGORY" | "FAILURE":
            cost = MatchCost()
        case _:  # what a later Python brings
            cost = MatchCost(math.inf, math.inf)
    return cost


def _choice(branches: Iterable[Any], length: int) -> MatchCost:
    costs = [_sequence(branch, length) for branch in branches]
    return MatchCost(sum(c.ways for c in costs), 1 + sum(c.steps for c in costs), min(c.loops for c in costs))


def _repeat(least: int, most: int, body: MatchCost, length: int) -> MatchCost:
    """One without a limit, or with one that the text does not reach, has as many rounds as there are characters."""
    rounds = min(most, length)
    if body.ways == 1:
        spans = (rounds == length and least == 0) or most > length
        return MatchCost(max(1, rounds - least + 1), 1 + (rounds + 1) * body.steps, int(spans))
    ways = begun = 1.0
    for _ in range(rounds):
        begun *= body.ways
        ways += begun
        if ways > _ENOUGH:
            return MatchCost(math.inf, math.inf)
    return MatchCost(ways, 1 + ways * body.steps)


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


class PatternBudget:
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

    def matches(self, text: str, patience: PatternBudget | None = None) -> bool:
        """Whether it is found in the text; a match longer than half a `window` may be missed."""
        patience = patience or PatternBudget()
        return any(patience.search(self._compiled, window) for window in _windows(text[:LONGEST_TEXT], self.window))

    def found(self, text: str, patience: PatternBudget, most: int) -> list[str]:
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
