"""Secrets, found by their form: tokens, and then what is named a secret and looks like one."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from msgspec import Struct

from foundation.privacy.encoded_tokens import encoded_rules, hides_a_secret
from foundation.privacy.named_secrets import candidates
from foundation.privacy.redaction import Taken
from foundation.privacy.secret_rules import BEGIN, TokenRule, token_rules
from foundation.privacy.secret_values import entropy

_RUN: Final = re.compile(r"[A-Za-z0-9_.+/=:~%-]{13,}+")  # no token is shorter
_ADDRESS: Final = "://"
_BOUNDARY: Final = re.compile(BEGIN)
_MAY_PRECEDE: Final = re.compile(  # the beginning of a token whose keyword stands within
    rf"{BEGIN}(?:\d{{1,10}}(?::A?)?|[0-9a-f]{{1,32}}(?:-u?)?)\Z|\d?Q?\Z|:/?\Z|(?<=[A-Za-z0-9]{{6}}_)[A-Za-z0-9]{{1,29}}(?:_m{{0,2}})?\Z"
)
_Candidate = tuple[int, int, int, str]  # start, -end, order, rule


class Table(Struct, frozen=True):
    """The rules by the shortest keyword that begins theirs, and a pattern that finds these."""

    rules: dict[str, tuple[tuple[int, TokenRule], ...]]
    keyword: re.Pattern[str]
    attached: re.Pattern[str]
    beginnings: frozenset[str]
    attached_beginnings: frozenset[str]
    longest: int


@cache
def table() -> Table:
    rules = [rule for rule in (*token_rules(), *encoded_rules()) if rule.keyword != _ADDRESS]
    groups: dict[str, list[tuple[int, TokenRule]]] = {}
    for order, rule in sorted(enumerate(rules), key=lambda pair: len(pair[1].keyword)):
        root = next((root for root in groups if rule.keyword.startswith(root)), rule.keyword)
        groups.setdefault(root, []).append((order, rule))
    return Table(
        {root: tuple(group) for root, group in groups.items()},
        re.compile(_trie(groups)),
        re.compile(
            "|".join(re.escape(word) for word in dict.fromkeys(rule.keyword for rule in rules if rule.attached))
        ),
        _beginnings(rule.keyword for rule in rules),
        _beginnings(rule.keyword for rule in rules if rule.attached),
        max(len(rule.keyword) for rule in rules),
    )


def find_tokens(text: str, at: int = 0) -> list[Taken]:
    """Every token that begins at `at` or after it, leftmost first, none overlapping another."""
    found: list[Taken] = []
    free = at
    for start, minus_end, _, rule in sorted(_candidates(text, at)):
        if start >= free:
            free = -minus_end
            found.append(_secret(rule, start, free))
    return found


def token_may_begin(text: str, at: int) -> tuple[int, bool]:
    """Where in the unfinished word from `at` a token may begin, its end where none can; and if its keyword stands."""
    certain = _certain(text, at)
    place = min(_possible(text, at), _precede(text, at))
    return (place, False) if certain is None else (min(certain, place), True)


def find_named(text: str, at: int = 0, *, final: bool = True) -> tuple[list[Taken], int]:
    """The values from `at` on that are named a secret and look like one, and up to where the text is decided."""
    found: list[Taken] = []
    free = at
    for value in candidates(text, at, final=final):
        if value.start < free:
            continue
        if not value.settled:
            return found, value.start
        if value.rule:
            found.append(_secret(value.rule, value.start, value.end))
            free = value.end
    return found, len(text)


def _possible(text: str, at: int) -> int:
    """Where the beginning of a keyword stands that may go on."""
    known = table()
    for start in range(max(at, len(text) - known.longest), len(text)):
        beginning = text[start:]
        if beginning in known.attached_beginnings:
            return start
        if beginning in known.beginnings and _BOUNDARY.match(text, start):
            return start
    return len(text)


def _certain(text: str, at: int) -> int | None:
    """Where the first token begins whose keyword stands in the text."""
    known = table()
    address = text.find(_ADDRESS, at)
    place = at
    while hit := known.keyword.search(text, place):
        group = known.rules[hit.group()]
        back = max(rule.back[1] for _, rule in group)
        if back or _BOUNDARY.match(text, hit.start()) or any(rule.attached for _, rule in group):
            start = max(at, hit.start() - back)
            return min(start, address) if address >= 0 else start
        place = hit.start() + 1
    return address if address >= 0 else None


def _precede(text: str, at: int) -> int:
    """Where the beginning of a token may stand whose keyword is still to come, or of an address's `://`."""
    match = _MAY_PRECEDE.search(text, max(at, len(text) - 48))
    return match.start() if match else len(text)


def _candidates(text: str, at: int) -> Iterator[_Candidate]:
    known = table()
    for run in _RUN.finditer(text, at):
        place, end = run.span()
        while hit := known.keyword.search(text, place, end):
            place = hit.start() + 1
            yield from _match(text, hit.start(), at, known.rules[hit.group()])
    place = text.find(_ADDRESS, at)
    while place >= 0:
        yield from _match(text, place, at, _addresses())
        place = text.find(_ADDRESS, place + 1)


def _match(text: str, place: int, at: int, rules: Iterable[tuple[int, TokenRule]]) -> Iterator[_Candidate]:
    """What the rules find whose keyword stands at `place`."""
    for order, rule in rules:
        if not text.startswith(rule.keyword, place):
            continue
        least, most = rule.back
        for start in range(max(0, place - most), place - least + 1):
            if match := _fitting(rule, text, start):
                first, last = match.span("secret" if "secret" in match.re.groupindex else 0)
                if first < at or (rule.least and entropy(match.group()) < rule.least):
                    continue
                if rule.encoded:
                    if (name := hides_a_secret(match.group())) is None:
                        continue
                    yield first, -last, order, name
                else:
                    yield first, -last, order, rule.name
                break


def _fitting(rule: TokenRule, text: str, start: int) -> re.Match[str] | None:
    if match := _compiled(rule.pattern + rule.end).match(text, start):
        return match
    match = _compiled(rule.pattern).match(text, start)
    if not match or not table().attached.search(text, start + 1, match.end() + table().longest):
        return None
    return _compiled(f"{rule.pattern}(?={table().attached.pattern})").match(text, start)  # another token follows


@cache
def _addresses() -> tuple[tuple[int, TokenRule], ...]:
    return tuple((order, rule) for order, rule in enumerate(token_rules()) if rule.keyword == _ADDRESS)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _beginnings(keywords: Iterable[str]) -> frozenset[str]:
    return frozenset(keyword[:length] for keyword in keywords for length in range(1, len(keyword)))


def _trie(words: Iterable[str]) -> str:
    """A pattern for any of the words, none of which begins another, that reads each letter once."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        if word:
            by_first.setdefault(word[0], []).append(word[1:])
    if not by_first:
        return ""
    branches = [re.escape(first) + _trie(rest) for first, rest in sorted(by_first.items())]
    return branches[0] if len(branches) == 1 else "(?:" + "|".join(branches) + ")"


def _secret(rule: str, start: int, end: int) -> Taken:
    return Taken(start, end, f"[secret: {rule}]", rule)
