"""Secrets, found by their form: tokens, and then what is named a secret and looks like one."""

from heapq import heapify, heappop, heappush
from typing import Final

from foundation.secret_rules import GENERIC, LONGEST_NAME, NAMED_VALUE, TOKEN_RULES, TokenRule, is_named_secret
from foundation.taken import Taken

_KEYWORDS: Final = tuple(dict.fromkeys(rule.keyword for rule in TOKEN_RULES))
_RULES: Final = tuple(tuple(rule for rule in TOKEN_RULES if rule.keyword == keyword) for keyword in _KEYWORDS)
_Candidate = tuple[int, int, int, int, str]  # start, -end, place of the keyword, keyword's number, rule


def find_tokens(text: str) -> list[Taken]:
    """Every token, leftmost first, none overlapping another."""
    candidates = [
        candidate
        for number, keyword in enumerate(_KEYWORDS)
        if keyword in text
        for candidate in _candidates(text, number, keyword)
    ]
    heapify(candidates)
    found: list[Taken] = []
    free = 0
    while candidates:
        start, minus_end, place, number, rule = heappop(candidates)
        if start >= free:
            found.append(_secret(rule, start, -minus_end))
            free = -minus_end
        elif again := _match(text, free, place, number):  # it began within the one before: perhaps it begins later
            heappush(candidates, again)
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


def _candidates(text: str, number: int, keyword: str) -> list[_Candidate]:
    found: list[_Candidate] = []
    place = text.find(keyword)
    while place >= 0:
        if candidate := _match(text, 0, place, number):
            found.append(candidate)
        place = text.find(keyword, place + 1)
    return found


def _match(text: str, free: int, place: int, number: int) -> _Candidate | None:
    """The first match, from `free` on, of a rule whose keyword stands at `place`."""
    rules: tuple[TokenRule, ...] = _RULES[number]
    for rule in rules:
        for start in range(max(free, place - rule.back), place + 1):
            if match := rule.pattern.match(text, start):
                first, last = match.span("secret" if "secret" in rule.pattern.groupindex else 0)
                if first >= free:
                    return first, -last, place, number, rule.name
    return None


def _secret(rule: str, start: int, end: int) -> Taken:
    return Taken(start, end, f"[secret: {rule}]", rule)
