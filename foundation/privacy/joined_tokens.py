"""Tokens that are pasted one after another without a blank, so that one swallows the next one's keyword.

Each begins where the one before it may end. So such a token needs no boundary before it, and the one before it none
after it: both are complete by their rules, and that says enough.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from foundation.privacy.secret_rules import BEGIN, TokenRule
from foundation.privacy.secret_values import entropy

LONGEST: Final = 8300
"""Characters of a token."""
_NEXT: Final = 8  # complete tokens after one that are tried as the one that it is joined to
_BOUNDARY: Final = re.compile(BEGIN, re.ASCII)


class JoinedToken(Struct, frozen=True):
    """A complete token: its span, and the order and name of its rule."""

    start: int
    end: int
    order: int
    rule: str


class _Start(Struct, frozen=True):
    position: int
    order: int
    rule: TokenRule


def joined_tokens(
    text: str, end: int, keywords: Sequence[tuple[int, Iterable[tuple[int, TokenRule]]]]
) -> Iterator[JoinedToken]:
    """The tokens of a run that ends at `end`, in which one joins another. `keywords`: where in it keywords stand."""
    if len(keywords) < 2:
        return
    starts = _starts(text, keywords)
    complete: list[tuple[_Start, list[int]]] = []  # the last token first, each with where it may end
    for start in sorted(starts, key=lambda start: -start.position):
        if ends := _ends(text, start, end, complete):
            complete.append((start, ends))
    begun: set[int] = set()  # where a token ends that begins rightly
    for start, ends in reversed(complete):
        if start.position in begun or _begins(text, start):
            begun.update(ends)
            yield from (JoinedToken(start.position, end, start.order, start.rule.name) for end in ends)


def _starts(text: str, keywords: Sequence[tuple[int, Iterable[tuple[int, TokenRule]]]]) -> Iterator[_Start]:
    for position, rules in keywords:
        for order, rule in rules:
            if rule.encoded or not text.startswith(rule.keyword, position):
                continue
            least, most = rule.back
            for start in range(max(0, position - most), position - least + 1):
                yield _Start(start, order, rule)


def _ends(text: str, start: _Start, end: int, complete: Sequence[tuple[_Start, list[int]]]) -> list[int]:
    """Where the token ends: at the nearest complete tokens that it can be joined to, and where its rule ends it."""
    form = _form(start.rule)
    first = form.match(text, start.position, min(end, start.position + LONGEST))
    if first is None:
        return []
    ends: list[int] = []
    after = dict.fromkeys(begun.position for begun, _ in reversed(complete[-_NEXT:]) if begun.position > start.position)
    for position in after:
        if position <= first.end() and form.fullmatch(text, start.position, position):
            ends.append(position)
            break
    if not (ends and start.rule.attached) and (match := _bounded(start.rule).match(text, start.position)):
        ends.append(match.end())
    return [end for end in ends if not start.rule.least or entropy(text[start.position : end]) >= start.rule.least]


def _begins(text: str, start: _Start) -> bool:
    return (
        start.rule.attached or not start.rule.pattern.startswith(BEGIN) or bool(_BOUNDARY.match(text, start.position))
    )


@cache
def _form(rule: TokenRule) -> re.Pattern[str]:
    return re.compile(rule.pattern.removeprefix(BEGIN), re.ASCII)


@cache
def _bounded(rule: TokenRule) -> re.Pattern[str]:
    return re.compile(rule.pattern.removeprefix(BEGIN) + rule.end, re.ASCII)
