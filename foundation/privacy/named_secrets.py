"""Secrets without a form of their own: judged by the name before them, and by how random they look."""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from heapq import merge
from itertools import groupby
from string import ascii_letters
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foundation.lazy_pattern import lazy_pattern
from foundation.privacy.pass_words import ValuePrefix, command_leads, element_leads, pass_word_leads
from foundation.privacy.secret_values import BARE, NEVER_LAST, PLAIN, QUOTED, looks_secret
from foundation.privacy.service_secrets import SERVICE_VALUE, mentions_service, service_rule

LONGEST_NAME = 64
"""Characters before the sign that are looked at."""
LONGEST_LEAD = 192
"""Characters before a value that can have a part in what it is: a name, a sign, white space."""
LONGEST_COLOURED = 1024
"""The same with the codes of colours among them."""
LONGEST_VALUE = 1000
GENERIC = "generic-api-key"

_QUOTE = r"(?:\\?[\"'`]|\\u0022|&quot;|&#34;|%22)?"
_AFTER_SIGN = rf"(?:\*\*|__)?[ \t]{{0,4}}(?:(?:[bB]earer|[bB]asic|[tT]oken)[ \t]{{1,2}})?{_QUOTE}"
_SIGN = lazy_pattern(r"[=:：＝是为]=?>?" + _AFTER_SIGN)
_ESCAPED_SIGN = lazy_pattern(r"(?:%3[aAdD]|\\u003[aAdD]|&#61;)" + _AFTER_SIGN)
_NEXT_LINE = re.compile(r":[*_]{0,2}[ \t]{0,4}\r?\n[ \t>]{0,12}[\"'`]?")
_ENOUGH = lazy_pattern(r"\S{8}")  # no value is shorter
_ENOUGH_FOR_A_SERVICE = lazy_pattern(r"[A-Za-z0-9_.=+/|:~%-]{14}")
# Those of _MARKS are told apart by identity, which a lazy pattern does not have.
_CELL = re.compile(r"\|[ \t]{0,20}`?")
_IS = re.compile(r"[ \t](?:is|was)[ \t]{1,2}[\"'`]?")
_FLAG = re.compile(r"--[a-zA-Z][a-zA-Z_-]{0,30}[ \t]{1,2}[\"']?")
_BEARER = re.compile(r"earer[ \t]{1,2}")

_DEFAULT = re.compile(r":-[\"']?")  # `${PASSWORD:-…}`

_MARKS = (
    ("|", _CELL),
    (" is ", _IS),
    (" was ", _IS),
    ("--", _FLAG),
    (":", _NEXT_LINE),
    ("earer ", _BEARER),
    (":-", _DEFAULT),
)
_ESCAPED = ("%3", "\\u003", "&#61")

_TRAIL = r"(?:[\\\"'`\])*]{0,4}|\\u0022|&quot;|&#34;|%22)(?:\s(?:is|was))?\s{0,20}\Z"
_HINT = lazy_pattern(
    r"[kK][eE][yY]|[tT][oO][kK]|[sS][eE][cC]|[pP][aAwW][sSdD]|[pP][wW](?![a-z])|[cC][rR][eE]|[aA][uU][tT]|[密秘令凭口私]"
    r"|ookie|[?&]"
)
_NAMES_END = (
    "oken",
    "OKEN",
    "ey",
    "EY",
    "cret",
    "CRET",
    "word",
    "WORD",
    "wd",
    "phrase",
    "tial",
    "tials",
    *"\"'`*)]码令钥牌证",
)
_NAME = lazy_pattern(
    r"(?:(?:access|auth|bearer|api|client|private|secret|refresh|encryption|signing|account|storage|bot|app"
    r"|session(?![ _.-]?key))[ _.-]?(?:key|token|secret|pass(?:word)?)|secret|token|passw(?:or)?d|passphrase|passwd|pwd"
    rf"|passcode|credentials?|authorization|(?P<short>pass|(?<![a-z])ps?w)(?![a-z]))(?P<rest>[A-Za-z0-9_.-]{{0,20}}){_TRAIL}",
    re.IGNORECASE,
)
_RESULT = lazy_pattern(r"(?<![A-Za-z0-9_.-])PASS\Z")  # of a test: `PASS: gdb.base/dso2dso.exp`
_WORD_WITH_PASS = lazy_pattern(r"(?:com|by|tres|sur|under|over)\Z", re.IGNORECASE)
_IN_A_QUERY = lazy_pattern(r"[?&;](?:api_?)?(?:key|sig|signature|code|auth)\Z", re.IGNORECASE)
_ABOUT = lazy_pattern(  # `token_count` and `client_secret_name` tell something about a secret
    r"(?:counts?|names?|ids?|types?|limits?|usage|used|budget|length|len|size|path|file|ur[il]|ttl|expir[a-z]*|version"
    r"|index|kind|format|prefix|hint|field|arn|policy|ref|model|i[sz]ers?|i[sz]ation)\Z",
    re.IGNORECASE,
)
_CHINESE = lazy_pattern(
    rf"(?P<password>密码|口令)?(?:密码|口令|密钥|秘钥|私钥|密匙|令牌|凭证)?(?<=[码令钥匙牌证]){_TRAIL}"
)
_PASSWORD = lazy_pattern(
    rf"(?:pass(?:w(?:or)?d|wd|phrase|code)?|pwd|pw|psw)[A-Za-z0-9_.-]{{0,20}}{_TRAIL}", re.IGNORECASE
)
_USER = lazy_pattern(r"(?:^|\s)(?:-u|--user)[ =]{0,2}[\"']?[A-Za-z0-9_.@+-]{1,40}\Z")
_COOKIE = lazy_pattern(r"cookie[\"']?:[^\n\[]{1,60}\Z", re.IGNORECASE)
_IN_BRACES = lazy_pattern(r"\$\{[A-Za-z0-9_]{1,40}\Z")
_OUR_MARK = lazy_pattern(rf"\[secret: [a-z0-9-]+\]{_TRAIL}")  # its name ends like a secret's own

_SPACES = "\xa0\u202f\u205f\u2060\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200E)))
_WIDE = "".join(chr(ord(letter) + 0xFEE0) for letter in ascii_letters)
_TYPED = lazy_pattern(f"[{_SPACES}{_WIDE}]")
_PLAINLY = str.maketrans(_SPACES + _WIDE, " " * len(_SPACES) + ascii_letters)

_COLOUR_CODE: Final = lazy_pattern(r"\x1b\[[0-9;:?]{0,20}[A-Za-z]")
_UNFINISHED_CODE: Final = lazy_pattern(r"\x1b(?:\[[0-9;:?]{0,20})?\Z")
_ESCAPE: Final = "\x1b"

_SHORTEST_VALUE: Final = 8  # characters: no value that counts is shorter
_DIGIT_BYTES: Final = b"0123456789"
_SPACE_BYTES: Final = b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "
_LETTER_BYTES: Final = bytes(code for code in range(128) if chr(code).isalpha()) + b"?"  # `?`: any beyond ASCII
_BYTE_KINDS: Final = bytes(
    ord("0" if byte in _DIGIT_BYTES else " " if byte in _SPACE_BYTES else "a" if byte in _LETTER_BYTES else ".")
    for byte in range(256)
)


class SecretCandidate(Struct, frozen=True):
    """A value that has a secret's name, from `start`. `settled` is False while more text could change it.

    `rule` names the kind of secret that it is, "" where it looks like none.
    """

    start: int
    end: int
    rule: str
    settled: bool


def candidates(text: str, at: int, *, final: bool) -> Iterator[SecretCandidate]:
    """The values that begin at `at` or after it and have a secret's name, in order, the longest first at one place."""
    before = LONGEST_COLOURED if "\x1b" in text else LONGEST_LEAD
    for start, end in _windows(text, at, before, final=final):
        ended = final or end < len(text)
        plain = ColourStripper(text[start:end], final=ended)
        for candidate in _candidates(plain.text, plain.plain_offset(max(0, at - start)), final=ended):
            first, last = plain.span(candidate.start, candidate.end)
            yield replace(candidate, start=first + start, end=last + start)


def _candidates(text: str, at: int, *, final: bool) -> Iterator[SecretCandidate]:
    text = _normalise(text)
    since = max(0, at - LONGEST_LEAD)
    leads = (lead for lead in _leads(text, since, at) if lead.start >= at)
    for _, together in groupby(leads, key=lambda lead: lead.start):
        values = (_candidate(text, lead, final=final) for lead in together)
        yield from sorted(
            (value for value in values if value), key=lambda value: (value.settled, not value.rule, -value.end)
        )


def _normalise(text: str) -> str:
    """The text, as long as before, with plain spaces for those of any kind and plain letters for full-width ones."""
    return text.translate(_PLAINLY) if _TYPED.search(text) else text


def _leads(text: str, since: int, at: int) -> Iterator[ValuePrefix]:
    """Positions from `at` on where a value can begin, in order, with the prefix before it (some before `at` too)."""
    return merge(
        _sign_leads(_SIGN, text, since, at),
        *(_mark_leads(mark, pattern, text, since, at) for mark, pattern in _MARKS),
        _sign_leads(_ESCAPED_SIGN, text, since, at) if any(sign in text for sign in _ESCAPED) else (),
        sorted(element_leads(text, since), key=_start),
        sorted(command_leads(text, since), key=_start),
        sorted(pass_word_leads(text, since), key=_start),
        key=_start,
    )


def _start(lead: ValuePrefix) -> int:
    return lead.start


def _sign_leads(pattern: re.Pattern[str], text: str, since: int, at: int) -> Iterator[ValuePrefix]:
    for match in pattern.finditer(text, since):
        if match.end() >= at:
            yield from _named_leads(text, match.start(), match.end())


def _mark_leads(mark: str, pattern: re.Pattern[str], text: str, since: int, at: int) -> Iterator[ValuePrefix]:
    position = text.find(mark, since)
    while position >= 0:
        if (lead := pattern.match(text, position)) and lead.end() >= at:
            yield from _unescaped_leads(text, position, lead)
        position = text.find(mark, position + len(mark))


def _named_leads(text: str, position: int, start: int) -> Iterator[ValuePrefix]:
    if not _long_enough(_ENOUGH, text, start, 8):
        return
    name = text[max(0, position - LONGEST_NAME) : position]
    if text.startswith("==", position) and name.rstrip().endswith(")"):
        return  # a call is compared, nothing is named
    if text.startswith(": ", position) and _RESULT.search(name):
        return
    if _may_name(name):
        yield ValuePrefix(start, name)
    if _long_enough(_ENOUGH_FOR_A_SERVICE, text, start, 14) and mentions_service(name):
        yield ValuePrefix(start, name, kind="service")


def _long_enough(pattern: re.Pattern[str], text: str, start: int, least: int) -> bool:
    """Whether a value at `start` is long enough to be a secret, as far as can be seen yet."""
    return len(text) - start < least or pattern.match(text, start) is not None


def _unescaped_leads(text: str, position: int, lead: re.Match[str]) -> Iterator[ValuePrefix]:
    name = text[max(0, position - LONGEST_NAME) : position]
    if lead.re is _BEARER:
        yield ValuePrefix(lead.end(), "", kind="key", strict=True)
    elif lead.re is _FLAG:
        yield ValuePrefix(lead.end(), lead.group().rstrip(" \t\"'"))
    elif lead.re is _NEXT_LINE:
        if _may_name(name) and _PASSWORD.search(name):
            yield ValuePrefix(lead.end(), name, alone=True)
    elif lead.re is _DEFAULT:
        if _IN_BRACES.search(name) and _may_name(name):
            yield ValuePrefix(lead.end(), name)
    elif lead.re is not _IS:
        if _may_name(name):
            yield ValuePrefix(lead.end(), name)
    elif text.endswith(_NAMES_END, 0, position) and _may_name(name):
        yield ValuePrefix(lead.end(), name, strict=True)


def _candidate(text: str, lead: ValuePrefix, *, final: bool) -> SecretCandidate | None:
    kind = lead.kind or _kind(lead.name)
    if kind is None:
        return None
    start = lead.start
    quoted = start > 0 and text[start - 1] in "\"'`"
    pattern = SERVICE_VALUE if kind == "service" else QUOTED if quoted else BARE if kind == "password" else PLAIN
    if (run := pattern.match(text, start)) is None:
        return None
    end, value = run.end(), run.group()
    if len(value) > LONGEST_VALUE:
        return None
    if end == len(text) and not final:
        return SecretCandidate(start, end, "", settled=False)
    if lead.alone and not _is_alone(text, start, end):
        return None
    value = value.rstrip(NEVER_LAST)
    if text.startswith("/*", start + len(value) - 1):  # a comment begins: what it says of a tag after it must stay
        value = value[:-1]
    called = not quoted and text[end : end + 1] == "("
    rule = "" if called else _rule_of(value, lead, kind)
    return SecretCandidate(start, start + len(value), rule, settled=True)


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether nothing follows the value on its line but the quote that it began with."""
    after = text[end : end + 1]
    if start > 0 and text[start - 1] in "\"'`" and after == text[start - 1]:
        return True
    return after in {"", "\n", "\r"} and not text.endswith((":", ","), start, end)


def _rule_of(value: str, lead: ValuePrefix, kind: str) -> str:
    if kind == "service":
        return service_rule(lead.name, value)
    return GENERIC if looks_secret(value, password=kind in {"password", "credential"}, strict=lead.strict) else ""


def _kind(name: str) -> str | None:
    """Whether the name (the text just before the sign) is that of a password or another secret; None for neither."""
    if _OUR_MARK.search(name):
        return None
    if match := _NAME.search(name):
        rest = match["rest"]
        if _ABOUT.search(rest) or (rest == "s" and "token" in name[match.start() :].lower()):
            return None
        if match["short"] and _WORD_WITH_PASS.search(name[: match.start()]):
            return None
        return "password" if _PASSWORD.search(name) else "key"
    chinese = _CHINESE.search(name)
    if (chinese and chinese["password"]) or _USER.search(name):
        return "password"
    return "key" if chinese or _COOKIE.search(name) or _IN_A_QUERY.search(name) else None


def _may_name(name: str) -> bool:
    """A quick check, because most signs follow other words."""
    words = name.rsplit(None, 2)
    if not words:
        return False
    last = words[-2] if len(words) > 1 and words[-1] in {"is", "was"} else words[-1]
    return _HINT.search(last) is not None or "-u" in name or "ookie" in name


class ColourStripper:
    """A text without colour codes, with a map of its offsets.

    `final`: the text ends here, so a truncated code at its end is plain text.
    """

    def __init__(self, coloured: str, *, final: bool) -> None:
        self.text = coloured
        self._offsets: array[int] | None = None  # of each character in the coloured text
        if _ESCAPE in coloured:
            self._strip(coloured, final=final)

    def _strip(self, coloured: str, *, final: bool) -> None:
        cut_off = None if final else _UNFINISHED_CODE.search(coloured, max(0, len(coloured) - 24))
        end = cut_off.start() if cut_off else len(coloured)
        self._offsets = array("Q")
        parts: list[str] = []
        position = 0
        for code in _COLOUR_CODE.finditer(coloured, 0, end):
            parts.append(coloured[position : code.start()])
            self._offsets.extend(range(position, code.start()))
            position = code.end()
        parts.append(coloured[position:end])
        self._offsets.extend(range(position, end))
        self.text = "".join(parts)

    def plain_offset(self, coloured_offset: int) -> int:
        """The offset in the plain text of an offset in the coloured one."""
        return coloured_offset if self._offsets is None else bisect_left(self._offsets, coloured_offset)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The range in the coloured text of a non-empty range of the plain one."""
        if self._offsets is None:
            return start, end
        return self._offsets[start], self._offsets[end - 1] + 1


def _windows(text: str, at: int, before: int, *, final: bool) -> Iterator[tuple[int, int]]:
    """Disjoint windows of the text, in order, that hold every word that may be a value, and `before` characters before
    each: words of 8 characters or more with a digit and a letter that end after `at`. Most prose has none.

    The last word always counts where the text continues (not `final`). A word ends at ASCII white space; the character
    after it belongs to the window.
    """
    kinds = text.encode("ascii", "replace").translate(_BYTE_KINDS)
    start = stop = 0
    for first, end in _candidate_words(kinds, at, final=final):
        if first - before > stop:
            if stop:
                yield start, stop
            start = first - before
        stop = min(len(text), end + 1)
    if stop:
        yield start, stop


def _candidate_words(kinds: bytes, at: int, *, final: bool) -> Iterator[tuple[int, int]]:
    length = len(kinds)
    digit = kinds.find(b"0", kinds.rfind(b" ", 0, at) + 1)
    while digit >= 0:
        first, end = kinds.rfind(b" ", 0, digit) + 1, kinds.find(b" ", digit)
        end = length if end < 0 else end
        if end - first >= _SHORTEST_VALUE and kinds.find(b"a", first, end) >= 0:
            yield first, end
            if end == length:
                return
        digit = kinds.find(b"0", end)
    if not final:
        yield kinds.rfind(b" ") + 1, length
