"""Detection of secrets: tokens by their form, then values that are named a secret and look like one."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache, partial
from heapq import heappop, heappush, merge
from string import ascii_letters
from typing import Final

from msgspec import Struct

from foundation.lazy_pattern import lazy_pattern
from foundation.privacy.broken_tokens import (
    BEGUN,
    ENDS_A_JOINT,
    PART,
    QUOTES,
    TAIL,
    is_chance,
    text_before,
    token_chain,
    token_extents,
)
from foundation.privacy.chinese_secrets import chinese_candidates
from foundation.privacy.encoded_tokens import contains_secret
from foundation.privacy.joined_tokens import LONGEST, JoinedToken, joined_tokens
from foundation.privacy.keyword_table import ADDRESS, secret_table
from foundation.privacy.named_secrets import candidates
from foundation.privacy.redaction import OffsetsBefore, Redaction, redact
from foundation.privacy.secret_rules import BEGIN, TokenRule, token_rules
from foundation.privacy.secret_values import entropy

_RUN: Final = lazy_pattern(r"[A-Za-z0-9_.+/=:~%-]{13,}+")  # no token is shorter
_BEFORE_A_PART: Final = ENDS_A_JOINT | {"[", "\\"}
_BETWEEN_WORDS: Final = frozenset(f"{letter} " for letter in f"{ascii_letters},.;()={{}}")
_END_OF_A_CODE: Final = lazy_pattern(r"(?<=\x1b\[)[0-9;]{0,20}[A-Za-z]|(?<=\\)n")
_DIGIT: Final = lazy_pattern(r"[0-9]")
_LAST: Final = 4  # keywords of a part: where a token goes on in the next part, it begins at one of the last
_LONGEST_NEXT: Final = 64  # characters that `next_token` matches
_LEFT: Final = 64  # characters before a token that have a part in it
_BOUNDARY: Final = lazy_pattern(BEGIN)
_MAY_PRECEDE: Final = lazy_pattern(  # the beginning of a token whose keyword stands within
    rf"{BEGIN}(?:\d{{1,10}}(?::A?)?|[0-9a-f]{{1,32}}(?:-u?)?)\Z|\d?Q?\Z|:/?\Z|(?<=[A-Za-z0-9]{{6}}_)[A-Za-z0-9]{{1,29}}(?:_m{{0,2}})?\Z"
)
_Candidate = tuple[int, int, int, str]  # start, -end, order, rule


class _Hit(Struct, frozen=True):
    """A keyword in the text; no candidate of it begins before `earliest`, or goes on past `run_end`."""

    earliest: int
    position: int
    rules: tuple[tuple[int, TokenRule], ...]
    run_end: int
    is_broken: bool = False  # whether the parts of a broken token are joined
    joined: JoinedToken | None = None  # known already to be complete


def find_tokens(text: str, at: int = 0) -> list[Redaction]:
    """Every token that begins at `at` or after it, leftmost first, none overlapping another.

    What follows a token directly, or a broken one, may be one only once that is gone: the search is repeated, so that
    a second pass over the cleared text finds nothing more.
    """
    redactions = _tokens(text, at)
    while any(_is_broken(text, span) or PART.match(text, span.end) for span in redactions):
        more = _tokens(redact(text, redactions), at)
        if not more:
            break
        redactions += map(OffsetsBefore(redactions).span, more)
        redactions.sort(key=lambda span: span.start)
    return redactions


def _is_broken(text: str, span: Redaction) -> bool:
    part = PART.match(text, span.start, span.end + 2)  # a part's last `=` depends on the line end after it
    return part is None or part.end() < span.end


def _tokens(text: str, at: int) -> list[Redaction]:
    """What the candidates cover: of one that begins within an earlier one, the part after that.

    Hits are matched in order, and not within an accepted token that reaches the run's end, or far from its own end: a
    run of tokens would be matched to its end from each. Broken tokens are matched within one too, as they may go on
    after it; a run has few of them.
    """
    redactions: list[Redaction] = []
    pending: list[_Candidate] = []
    hits = sorted(_hits(text, at), key=lambda hit: hit.earliest, reverse=True)
    free = at
    while hits or pending:
        if hits and not (pending and pending[0][0] < hits[-1].earliest):
            for candidate in _matched(text, hits.pop(), at, free):
                heappush(pending, candidate)
            continue
        start, minus_end, _, rule = heappop(pending)
        if -minus_end > free:
            redactions.append(_secret(rule, max(start, free), -minus_end))
            free = -minus_end
    return redactions


def _matched(text: str, hit: _Hit, at: int, free: int) -> Iterator[_Candidate]:
    """The candidates of a hit, but for those that the token that ends at `free` covers."""
    if hit.joined:
        yield hit.joined.start, -hit.joined.end, hit.joined.order, hit.joined.rule
    elif not hit.is_broken:
        goes_on = hit.position >= free or (hit.run_end > free > 0 and hit.position > free - LONGEST)
        rules = [rule for rule in hit.rules if goes_on or not rule[1].begins_at_keyword]
        yield from _match(text, hit.position, at, rules)
    else:
        yield from _broken(text, hit.position, hit.rules)


def token_may_begin(text: str, at: int) -> tuple[int, bool]:
    """The offset in the unfinished word from `at` where a token may begin, its end where none can; and whether its
    keyword is complete."""
    certain = _certain(text, at)
    position = min(_possible(text, at), _precede(text, at))
    return (position, False) if certain is None else (min(certain, position), True)


def find_named(text: str, at: int = 0, *, final: bool = True) -> tuple[list[Redaction], int]:
    """The values from `at` on that are named a secret and look like one, and up to where the text is decided."""
    redactions: list[Redaction] = []
    free = at
    both = candidates(text, at, final=final), chinese_candidates(text, at, final=final)
    for value in merge(*both, key=lambda value: value.start):
        if value.start < free:
            continue
        if not value.settled:
            return redactions, value.start
        if value.rule:
            redactions.append(_secret(value.rule, value.start, value.end))
            free = value.end
    return redactions, len(text)


def _possible(text: str, at: int) -> int:
    """The offset of an incomplete keyword that may continue."""
    known = secret_table()
    for start in range(max(at, len(text) - known.longest), len(text)):
        beginning = text[start:]
        if beginning in known.attached_beginnings:
            return start
        if beginning in known.beginnings and _BOUNDARY.match(text, start):
            return start
    return len(text)


def _certain(text: str, at: int) -> int | None:
    """The offset of the first token whose keyword is in the text."""
    known = secret_table()
    address = text.find(ADDRESS, at)
    position = at
    while hit := known.keyword.search(text, position):
        group = known.rules[hit.group()]
        back = max(rule.back[1] for _, rule in group)
        if back or _BOUNDARY.match(text, hit.start()) or any(rule.attached for _, rule in group):
            start = max(at, hit.start() - back)
            return min(start, address) if address >= 0 else start
        position = hit.start() + 1
    return address if address >= 0 else None


def _precede(text: str, at: int) -> int:
    """The offset where a token may begin whose keyword, or an address's `://`, is still to come."""
    match = _MAY_PRECEDE.search(text, max(at, len(text) - 48))
    return match.start() if match else len(text)


def broken_token_may_begin(text: str, at: int, until: int) -> int:
    """The offset from `at` on of a token that may continue after `until`, on another line; else `until`."""
    starts = [start for part in PART.finditer(text, at) for start in _starts(text, part.start(), part.end())]
    for start in sorted(starts, reverse=True):
        if start < until and token_chain(text, start, partial(_own_keyword, text)).looked_at > until:
            until = _word_start(text, at, start)
    return until


def _word_start(text: str, at: int, position: int) -> int:
    """The beginning of the word at this position: no part of a word is judged before all of it."""
    while position > at and not text[position - 1].isspace():
        position -= 1
    return position


def _starts(text: str, start: int, end: int) -> Iterator[int]:
    """The offsets in a part of complete keywords, and of one that the part's end cuts off."""
    if text[end : end + 1] == " " and text[end + 1 : end + 2].isalnum():
        return
    known = secret_table()
    position = start
    last = deque[int](maxlen=_LAST)
    while hit := known.keyword.search(text, position, end):
        position = hit.start() + 1
        last.append(hit.start())
    yield from last
    for position in range(max(start, end - known.longest), end - BEGUN + 1):
        beginning = text[position:end]
        if beginning in known.attached_beginnings or (
            beginning in known.beginnings and _BOUNDARY.match(text, position)
        ):
            yield position


def _own_keyword(text: str, start: int, end: int) -> int:
    known = secret_table()
    position = start
    while hit := known.keyword.search(text, position, end):
        position = hit.start() + 1
        if len(hit.group()) > 2 and (
            _BOUNDARY.match(text, hit.start()) or any(rule.attached for _, rule in known.rules[hit.group()])
        ):
            return hit.start()
    return end


def _hits(text: str, at: int) -> Iterator[_Hit]:
    known = secret_table()
    for run in _RUN.finditer(text, at):
        position, end = run.span()
        if (
            text[position - 1 : position] in _BEFORE_A_PART
            and text[position - 2 : position] not in _BETWEEN_WORDS
            and _DIGIT.search(text, position, end)
        ):
            next_code = position
            if text[position - 1 : position] in {"[", "\\"} and (code := _END_OF_A_CODE.match(text, position)):
                next_code = code.end()
            if _keyword_before(text, next_code):
                yield from _tokens_before(text, at, next_code)
        keywords: list[tuple[int, tuple[tuple[int, TokenRule], ...]]] = []
        while hit := known.keyword.search(text, position, end):
            position = hit.start() + 1
            keywords.append((hit.start(), known.rules[hit.group()]))
        for position, rules in keywords:
            yield _Hit(position - max(rule.back[1] for _, rule in rules), position, rules, end)
        for token in joined_tokens(text, end, keywords):
            if token.start >= at:
                yield _Hit(token.start, token.start, (), end, joined=token)
        for position, rules in keywords[-_LAST:]:
            if end - position > TAIL:
                yield _Hit(position, position, rules, end, is_broken=True)
    position = text.find(ADDRESS, at)
    while position >= 0:
        yield _Hit(position - max(rule.back[1] for _, rule in _addresses()), position, _addresses(), len(text))
        position = text.find(ADDRESS, position + 1)


def _keyword_before(text: str, start: int) -> bool:
    """A quick check, because most text before a run begins no token."""
    last = text[start - 1 : start]
    if last not in ENDS_A_JOINT:
        return False
    line = text.rfind("\n", max(0, start - 70), start)
    keyword = secret_table().keyword
    if line < 0 or last in QUOTES:
        return keyword.search(text, max(0, start - 80), start) is not None
    while line and text[line - 1] in " \t\r":
        line -= 1
    tail = text[max(0, line - TAIL) : line]
    hit = keyword.search(tail + text[start : start + secret_table().longest])
    return hit is not None and hit.start() <= len(tail) - BEGUN


def _tokens_before(text: str, at: int, start: int) -> Iterator[_Hit]:
    """Tokens that begin in the short part before `start`, at `at` or after it, and go on at `start`."""
    known = secret_table()
    tail = text_before(text, start)
    first = None if tail is None else PART.match(text, max(at, tail), start)
    if first is None:
        return
    tail = first.start()
    joined = first.group() + text[start : start + known.longest]
    position = 0
    while (hit := known.keyword.search(joined, position)) and hit.start() <= len(first.group()) - BEGUN:
        position = hit.start() + 1
        yield _Hit(tail + hit.start(), tail + hit.start(), known.rules[hit.group()], start, is_broken=True)


def _broken(text: str, position: int, rules: Iterable[tuple[int, TokenRule]]) -> Iterator[_Candidate]:
    """The matches of the rules from `position` on, with the parts of a broken token joined."""
    parts = token_chain(text, position, partial(_own_keyword, text)).parts
    if len(parts) < 2:
        return
    left = text[max(0, position - _LEFT) : position]
    fixed_length = any(_is_of_fixed_length(rule, text, position, parts[0].end) for _, rule in rules)
    for order, rule in rules:
        if not rule.begins_at_keyword:
            continue
        fitting = _fitting(rule, text, position)
        alone = fitting is not None and fitting.end() <= parts[0].end
        for number, joined in token_extents(text, parts, alone=alone, whole=fixed_length):
            match = _compiled(rule.pattern + rule.end).match(left + joined, len(left))
            rest = match.end() - len(left) - len(joined) + parts[number - 1].end if match else 0
            if match is None or rest <= parts[number - 1].start or not is_chance(match.group()):
                continue
            name = contains_secret(match.group()) if rule.encoded else rule.name
            if name and (not rule.least or entropy(match.group()) >= rule.least):
                yield position, -rest, order, name
                break


def _is_of_fixed_length(rule: TokenRule, text: str, start: int, end: int) -> bool:
    """Whether the token that ends at `end` has the only length that the rule knows."""
    return _has_fixed_length(rule.pattern) and (match := _fitting(rule, text, start)) is not None and match.end() == end


@cache
def _has_fixed_length(pattern: str) -> bool:
    form = re.sub(r"\\.|\[[^\]]*\]|\(\?[:=!<P]", "", pattern.removeprefix(BEGIN))
    return re.search(r"[*+?|]|\{\d*,", form) is None


def _match(text: str, position: int, at: int, rules: Iterable[tuple[int, TokenRule]]) -> Iterator[_Candidate]:
    """The matches of the rules whose keyword is at `position`."""
    for order, rule in rules:
        if not text.startswith(rule.keyword, position):
            continue
        least, most = rule.back
        for start in range(max(0, position - most), position - least + 1):
            if match := _fitting(rule, text, start):
                first, last = match.span("secret" if "secret" in match.re.groupindex else 0)
                if first < at or (rule.least and entropy(match.group()) < rule.least):
                    continue
                if rule.encoded:
                    if (name := contains_secret(match.group())) is None:
                        continue
                    yield first, -last, order, name
                else:
                    yield first, -last, order, rule.name
                break


def _fitting(rule: TokenRule, text: str, start: int) -> re.Match[str] | None:
    if match := _compiled(rule.pattern + rule.end).match(text, start):
        return match
    match = _compiled(rule.pattern).match(text, start)
    if not match or not secret_table().next_token.search(text, start + 1, match.end() + _LONGEST_NEXT):
        return None
    return _compiled(f"{rule.pattern}(?={secret_table().next_token.pattern})").match(text, start)


@cache
def _addresses() -> tuple[tuple[int, TokenRule], ...]:
    return tuple((order, rule) for order, rule in enumerate(token_rules()) if rule.keyword == ADDRESS)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _secret(rule: str, start: int, end: int) -> Redaction:
    return Redaction(start, end, f"[secret: {rule}]", rule)
