"""How many steps a regular expression may take at worst, told from its parse before it ever runs.

A bound, not a guess: in a sequence the ways of its parts multiply, of a choice they add up, and a repeat of what can
match in w ways has w + w² + w³ … ways. Nested repeats multiply so by themselves, however small each one's limit is.
"""

import importlib
import math
from collections.abc import Iterable
from typing import Any, cast

from msgspec import Struct

# The standard library's own parser: what it reads is what runs. A scanner of ours could be led astray by a comment.
_parser = cast(Any, importlib.import_module("re._parser"))

_ENOUGH = 1e15  # beyond this nothing is counted more exactly


class Cost(Struct, frozen=True):
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


def _sequence(parts: Iterable[Any], length: int) -> Cost:
    ways, steps, loops = 1.0, 0.0, 0
    for operation, argument in parts:
        cost = _part(str(operation), argument, length)
        steps += ways * cost.steps
        ways *= cost.ways
        loops += cost.loops
        if steps > _ENOUGH or ways > _ENOUGH:
            return Cost(math.inf, math.inf)
    return Cost(ways, steps, loops)


def _part(operation: str, argument: Any, length: int) -> Cost:
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
            cost = Cost(1, 1 + min(int(argument[1]), length) * _sequence(argument[2], length).steps)
        case "ATOMIC_GROUP":
            cost = Cost(1, _sequence(argument, length).steps)
        case "ASSERT" | "ASSERT_NOT":
            cost = Cost(1, _sequence(argument[1], length).steps)
        case "GROUPREF":
            cost = Cost(1, length)
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN" | "AT" | "CATEGORY" | "FAILURE":
            cost = Cost()
        case _:  # what a later Python brings
            cost = Cost(math.inf, math.inf)
    return cost


def _choice(branches: Iterable[Any], length: int) -> Cost:
    costs = [_sequence(branch, length) for branch in branches]
    return Cost(sum(c.ways for c in costs), 1 + sum(c.steps for c in costs), min(c.loops for c in costs))


def _repeat(least: int, most: int, body: Cost, length: int) -> Cost:
    """One without a limit, or with one that the text does not reach, has as many rounds as there are characters."""
    rounds = min(most, length)
    if body.ways == 1:
        spans = (rounds == length and least == 0) or most > length
        return Cost(max(1, rounds - least + 1), 1 + (rounds + 1) * body.steps, int(spans))
    ways = begun = 1.0
    for _ in range(rounds):
        begun *= body.ways
        ways += begun
        if ways > _ENOUGH:
            return Cost(math.inf, math.inf)
    return Cost(ways, 1 + ways * body.steps)
