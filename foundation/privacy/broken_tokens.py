"""Tokens broken over lines, strings or colours: the allowed separators of two parts, and which parts form a token.

A part is a run of a token's characters, a joint is what may stand between two of them: an explicit one (`\\`, `=`,
`" +`, a colour's code, a soft hyphen) or a line end with what begins the next line (blanks, `> `, `| `, a number).
Which parts follow one another depends on the text alone, never on what was found in it. Our marks are no parts, and a
part with a keyword of its own is joined up to that keyword, so that what is left beside a mark makes nothing new.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from foundation.lazy_pattern import lazy_pattern
from foundation.privacy.secret_values import entropy, looks_secret

LONGEST: Final = 8300  # characters of a token without its joints
BEGUN: Final = 3
"""Characters of a keyword that must stand before the first joint."""
TAIL: Final = 12
"""Characters of a first part that is shorter than a token can be: the part after it shows that it is one."""
_SHORTEST_LATER: Final = 2
_LEAST: Final = 3.0  # bits a character, of what was joined

_COLOUR = r"\x1b\[[0-9;]{0,20}[A-Za-z]"
_LINE_END = rf"(?:{_COLOUR}){{0,3}}(?:[ \t]{{0,8}}(?:[|│┃][ \t]{{0,8}})?\r?\n|(?:\\r)?\\n|<br ?/?>(?:\r?\n)?)"
_PREFIX = (
    rf"(?:{_COLOUR}){{0,3}}[ \t]{{0,60}}(?:(?:>[ \t]{{0,2}}){{1,4}}|(?:[|│┃+#*;-]|//|--)[ \t]{{0,4}}"
    rf"|\d{{1,6}}(?:[ \t]?[:|│┃→][ \t]{{0,4}}|[ \t]{{1,8}}))?(?:{_COLOUR}){{0,3}}"
)
_QUOTE = r"\\?[\"'`]"
_BLANKS = r"[ \t]{0,8}(?:\r?\n[ \t]{0,60})?"
_JOINT_SOURCE: Final = (
    rf"(?P<explicit>=\r?\n|\\\r?\n[ \t]{{0,60}}"
    rf"|{_QUOTE}{_BLANKS}(?:\+|\.\.?|&|~|<>|\|\|)(?:[ \t]?[_\\])?{_BLANKS}{_QUOTE}"
    rf"|{_QUOTE}[ \t]{{0,8}}\\?\r?\n[ \t]{{0,60}}{_QUOTE}|(?:{_COLOUR}){{1,4}}(?![ \t]{{0,8}}\r?\n)"
    rf"|[\u200b-\u200d\u2060\ufeff\xad]{{1,3}}|<wbr ?/?>)"
    rf"|(?P<line>{_LINE_END}(?P<prefix>{_PREFIX}))"
)
_JOINT: Final = lazy_pattern(_JOINT_SOURCE)
_OPENS_A_JOINT: Final = frozenset(" \t\r\n\"'`\\=<|│┃\x1b\u200b\u200c\u200d\u2060\ufeff\xad")
QUOTES: Final = frozenset("\"'`")
ENDS_A_JOINT: Final = QUOTES | frozenset(" \t\n>|│┃#*;:→mKhn\u200b\u200c\u200d\u2060\ufeff\xad")
_AFTER_BLANKS: Final = frozenset("\r\n|│┃")
_BLANK: Final = re.compile(r"[ \t]{0,8}")
_NOT_A_WORD: Final = re.compile(r"[^A-Za-z0-9]{0,160}")
_IN_A_JOINT: Final = 24  # letters and digits that can stand in a joint: `<wbr>`, a colour's code, a line's number
_BEFORE: Final = lazy_pattern(rf"[A-Za-z0-9_.+/:~%-]{{1,{TAIL}}}(?=(?:{_JOINT_SOURCE})\Z)")
PART: Final = re.compile(r"(?:[A-Za-z0-9_.+/:~%-]|=(?!\r?\n))++")
_WORD: Final = re.compile(r"[A-Za-z]?[a-z]*[.,:;]?")
_WORDS: Final = lazy_pattern(
    r"(?:[A-Z]?[a-z]{3,}|[A-Z][a-z](?=[A-Z][a-z]{2})|[A-Z]{0,3}[0-9]{1,4}|[A-Z]{2,5}(?![a-z])|[_.-])+"
)  # `MyClass42Test`
_HEX: Final = re.compile(r"[0-9a-f]{7,}")
_CAPITALS: Final = re.compile(r"[A-Z]")
FULL: Final = 60
"""Characters of a line that may have been wrapped, whatever follows it."""
_LETTER_AND_DIGIT: Final = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])")


class TokenPart(Struct, frozen=True):
    """A stretch of the text; `explicit` says what stands before it. `line` is how wide its line is, prefix included."""

    start: int
    end: int
    explicit: bool = True
    line: int = 0


class TokenChain(Struct, frozen=True):
    """A token's possible parts, and up to where the text was looked at: past its end where more text could add one."""

    parts: tuple[TokenPart, ...]
    looked_at: int


def token_chain(text: str, start: int, own_keyword: Callable[[int, int], int]) -> TokenChain:
    """The parts of a token that begins at `start`. `own_keyword` gives where in a stretch another token may begin, or
    the stretch's end."""
    first = PART.match(text, start)
    if first is None:
        return TokenChain((), start)
    parts = [TokenPart(start, first.end())]
    size = first.end() - start
    while size < LONGEST:
        end = parts[-1].end
        joint = _JOINT.match(text, end) if text[end : end + 1] in _OPENS_A_JOINT else None
        part = PART.match(text, joint.end()) if joint else None
        if joint is None or part is None:
            return TokenChain(tuple(parts), _looked_at(text, end))
        until = own_keyword(part.start(), part.end())
        explicit = joint.lastgroup == "explicit"
        line = until - joint.start("prefix") if not explicit else 0
        if until - part.start() < _SHORTEST_LATER or (not explicit and not _goes_on(parts, line)):
            return TokenChain(tuple(parts), part.end() + 1)
        parts.append(TokenPart(part.start(), until, explicit, line))
        size += until - part.start()
        if until < part.end():
            return TokenChain(tuple(parts), part.end() + 1)
    return TokenChain(tuple(parts), parts[-1].end + 1)


def text_before(text: str, start: int) -> int | None:
    """Where the last few characters of the part begin that a joint separates from `start`, None where none does."""
    match = _BEFORE.search(text, max(0, start - 180), start)
    return match.start() if match else None


def token_extents(text: str, parts: Sequence[TokenPart], *, alone: bool, whole: bool) -> Iterator[tuple[int, str]]:
    """How many parts may make a token, with their joined text: the best first. `alone`: the first is a token already,
    so that only what looks like chance goes on with it. `whole`: and none of its kind is longer."""
    second = text[parts[1].start : parts[1].end]
    if alone and not (_LETTER_AND_DIGIT.match(second) if parts[1].explicit else not whole and _wraps(text, parts)):
        return
    joined = [""]
    for part in parts:
        joined.append(joined[-1] + text[part.start : part.end])
    numbers = range(2, len(parts) + 1)
    words = [n for n in numbers if _WORD.fullmatch(text, parts[n - 1].start, parts[n - 1].end)]
    for n in (*reversed([n for n in numbers if n not in words]), *(() if alone else words)):
        yield n, joined[n]


def is_chance(joined: str) -> bool:
    """Whether the joined text looks like a token: letters with digits or capitals among them, and some variety."""
    mixed = _LETTER_AND_DIGIT.match(joined) or not (joined.islower() or joined.isupper())
    return bool(mixed) and entropy(joined) >= _LEAST


def _wraps(text: str, parts: Sequence[TokenPart]) -> bool:
    """Whether a token that may be whole seems to be wrapped: its line is full, or as wide as those after it, and the
    next looks like the same chance."""
    first, second = (text[part.start : part.end] for part in parts[:2])
    if _WORDS.fullmatch(second) or (_HEX.fullmatch(second) and _CAPITALS.search(first, 8)):
        return False
    line = text.rfind("\n", max(0, parts[0].end - FULL), parts[0].end)
    wide = line < 0 and parts[0].end >= FULL
    return _is_chance(second) and (
        wide or parts[1].line in {parts[0].end - line - 1, *(part.line for part in parts[2:3])}
    )


def _is_chance(part: str) -> bool:
    if "=" in part.rstrip("=") or ":" in part:
        return False
    capitals = sum(map(str.isupper, part)) / len(part)  # in words joined without blanks a quarter, at most
    return looks_secret(part, password=False, strict=False) or (len(part) >= 10 and 0.4 <= capitals <= 0.75)


def _goes_on(parts: Sequence[TokenPart], line: int) -> bool:
    """Whether a line of this width may go on: those before it are as wide as one another, and none is narrower."""
    widths = [part.line for part in parts[1:] if not part.explicit]
    return not widths or (widths[-1] == widths[0] and line <= widths[0])


def _looked_at(text: str, end: int) -> int:
    """Up to where the text was looked at to see that no joint follows."""
    blank = _BLANK.match(text, end)
    assert blank is not None  # it may be empty
    after = text[blank.end() : blank.end() + 1]
    if after and after not in (_AFTER_BLANKS if blank.group() else _OPENS_A_JOINT):
        return blank.end() + 1
    rest = _NOT_A_WORD.match(text, end)
    assert rest is not None  # it may be empty
    return rest.end() + _IN_A_JOINT
