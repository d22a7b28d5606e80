"""Secrets, found by their form: tokens, and then what is named a secret and looks like one."""

from collections.abc import Iterator
from typing import Final

from foundation.secret_rules import GENERIC, LONGEST_NAME, NAMED_VALUE, TOKEN_RULES, TokenRule, is_named_secret
from foundation.taken import Taken

_KEYWORDS: Final = tuple(dict.fromkeys(rule.keyword for rule in TOKEN_RULES))
_RULES: Final = tuple(tuple(rule for rule in TOKEN_RULES if rule.keyword == keyword) for keyword in _KEYWORDS)
_Candidate = tuple[int, int, str]  # start, -end, rule


def find_tokens(text: str) -> list[Taken]:
    """Every token, leftmost first, none overlapping another."""
    candidates = sorted(
        candidate
        for keyword, rules in zip(_KEYWORDS, _RULES, strict=True)
        if keyword in text
        for candidate in _candidates(text, keyword, rules)
    )
    found: list[Taken] = []
    free = 0
    for start, minus_end, rule in candidates:
        if start >= free:
            free = -minus_end
            found.append(_secret(rule, start, free))
    return found


def find_named(text: str, at: int = 0, until: int | None = None) -> tuple[list[Taken], int]:
    """The values that are named a secret and look like one, whose sign stands from `at` to `until`.

    Also gives where the next search must begin.
    """
    found: list[Taken] = []
    until = len(text) if until is None else until
    free = until
    for match in NAMED_VALUE.finditer(text, at):
        if match.start() >= until:
            break
        free = max(until, match.end())
        before = text[max(0, match.start() - LONGEST_NAME) : match.start()]
        if is_named_secret(before, match["value"]):
            found.append(_secret(GENERIC, *match.span("value")))
    return found, free


def _candidates(text: str, keyword: str, rules: tuple[TokenRule, ...]) -> Iterator[_Candidate]:
    place = text.find(keyword)
    while place >= 0:
        if candidate := _match(text, place, rules):
            yield candidate
        place = text.find(keyword, place + 1)


def _match(text: str, place: int, rules: tuple[TokenRule, ...]) -> _Candidate | None:
    """The match of the first rule that fits, the keyword standing at `place`."""
    for rule in rules:
        for start in range(max(0, place - rule.back), place + 1):
            if match := rule.pattern.match(text, start):
                first, last = match.span("secret" if "secret" in rule.pattern.groupindex else 0)
                return first, -last, rule.name
    return None


def _secret(rule: str, start: int, end: int) -> Taken:
    return Taken(start, end, f"[secret: {rule}]", rule)
