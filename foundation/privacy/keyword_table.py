"""The rules of tokens by their keywords, and the patterns that find these in one pass."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from msgspec import Struct

from foundation.privacy.encoded_tokens import encoded_rules
from foundation.privacy.secret_rules import BEGIN, TokenRule, token_rules

ADDRESS: Final = "://"


class SecretRuleTable(Struct, frozen=True):
    """The rules by the shortest keyword that begins theirs, and a pattern that finds these.

    `next_token` matches where a token may begin directly after another one: once that is taken out, the other ends.
    """

    rules: dict[str, tuple[tuple[int, TokenRule], ...]]
    keyword: re.Pattern[str]
    next_token: re.Pattern[str]
    beginnings: frozenset[str]
    attached_beginnings: frozenset[str]
    longest: int


@cache
def secret_table() -> SecretRuleTable:
    rules = [rule for rule in (*token_rules(), *encoded_rules()) if rule.keyword != ADDRESS]
    groups: dict[str, list[tuple[int, TokenRule]]] = {}
    for order, rule in sorted(enumerate(rules), key=lambda pair: len(pair[1].keyword)):
        root = next((root for root in groups if rule.keyword.startswith(root)), rule.keyword)
        groups.setdefault(root, []).append((order, rule))
    return SecretRuleTable(
        {root: tuple(group) for root, group in groups.items()},
        re.compile(_trie(groups)),
        re.compile(_next_token(rules)),
        _beginnings(rule.keyword for rule in rules),
        _beginnings(rule.keyword for rule in rules if rule.attached),
        max(len(rule.keyword) for rule in rules),
    )


def _next_token(rules: Iterable[TokenRule]) -> str:
    """A pattern for the first characters of a token: its keyword, or all of it where the keyword is further in."""
    attached, apart, whole = (list[str]() for _ in range(3))
    for rule in rules:
        if rule.back != (0, 0):
            whole.append(rule.pattern)
        else:
            (attached if rule.attached else apart).append(re.escape(rule.keyword))
    return "|".join(dict.fromkeys((*attached, f"{BEGIN}(?:{'|'.join(dict.fromkeys(apart))})", *whole)))


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
