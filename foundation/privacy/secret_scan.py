"""Secrets, found by their form: tokens, and then what is named a secret and looks like one."""

import re
from collections.abc import Iterator
from typing import Final

from foundation.privacy.named_secrets import GENERIC, candidates
from foundation.privacy.redaction import Taken
from foundation.privacy.secret_rules import BEGIN, TOKEN_RULES, TokenRule

_KEYWORDS: Final = tuple(dict.fromkeys(rule.keyword for rule in TOKEN_RULES))
_RULES: Final = tuple(tuple(rule for rule in TOKEN_RULES if rule.keyword == keyword) for keyword in _KEYWORDS)
_FREE: Final = tuple(rule.keyword for rule in TOKEN_RULES if not rule.pattern.pattern.startswith(BEGIN) or rule.back)
_BOUND: Final = tuple(keyword for keyword in _KEYWORDS if keyword not in _FREE)
_CERTAIN: Final = re.compile(
    rf"{BEGIN}(?:{'|'.join(map(re.escape, _BOUND))})|(?:{BEGIN}\d{{8,10}})?(?:{'|'.join(map(re.escape, _FREE))})"
)
_POSSIBLE: Final = re.compile(
    rf"{BEGIN}(?:\d{{1,10}}(?::A?)?|[A-Za-z][A-Za-z0-9_.:/-]{{0,20}})\Z|[:/][a-z:/]{{0,20}}\Z"
)
_BEGINNINGS: Final = frozenset(keyword[:length] for keyword in _KEYWORDS for length in range(1, len(keyword)))
_LONGEST_BEGINNING: Final = max(map(len, _KEYWORDS))
_Candidate = tuple[int, int, str]  # start, -end, rule


def find_tokens(text: str, at: int = 0) -> list[Taken]:
    """Every token that begins at `at` or after it, leftmost first, none overlapping another."""
    found: list[Taken] = []
    free = at
    underscores = "_" in text  # spares prose half of the keywords
    for start, minus_end, rule in sorted(
        candidate
        for keyword, rules in zip(_KEYWORDS, _RULES, strict=True)
        if ("_" not in keyword or underscores) and keyword in text
        for candidate in _candidates(text, at, keyword, rules)
    ):
        if start >= free:
            free = -minus_end
            found.append(_secret(rule, start, free))
    return found


def token_may_begin(text: str, at: int) -> tuple[int, bool]:
    """Where in the unfinished word from `at` a token may begin, its end where none can; and if its keyword stands."""
    certain = _CERTAIN.search(text, at)
    possible = _POSSIBLE.search(text, max(at, len(text) - _LONGEST_BEGINNING))
    while possible and possible.group() not in _BEGINNINGS and not possible.group()[0].isdigit():
        possible = _POSSIBLE.search(text, possible.start() + 1)
    places = [match.start() for match in (certain, possible) if match]
    return min(places, default=len(text)), certain is not None


def find_named(text: str, at: int = 0, *, final: bool = True) -> tuple[list[Taken], int]:
    """The values from `at` on that are named a secret and look like one, and up to where the text is decided."""
    found: list[Taken] = []
    free = at
    for value in candidates(text, at, final=final):
        if value.start < free:
            continue
        if not value.settled:
            return found, value.start
        if value.secret:
            found.append(_secret(GENERIC, value.start, value.end))
            free = value.end
    return found, len(text)


def _candidates(text: str, at: int, keyword: str, rules: tuple[TokenRule, ...]) -> Iterator[_Candidate]:
    place = text.find(keyword, at)
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
