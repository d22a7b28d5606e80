"""Secrets that have no form of their own: judged by the name before them, and by how much like chance they look."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

LONGEST_NAME = 64
"""Characters before the sign that are looked at."""
LONGEST_LEAD = 128
"""Characters before a value that can have a part in what it is: a name, a sign, white space."""
GENERIC = "generic-api-key"
_LONGEST_VALUE = 1000

_AFTER_SIGN = r"(?:\*\*|__)?[ \t]{0,4}(?:(?:[bB]earer|[bB]asic|[tT]oken)[ \t]{1,2})?(?:\\?[\"'`])?"
_SIGN = re.compile(r"[=:：是]=?>?" + _AFTER_SIGN)
_CELL = re.compile(r"\|[ \t]{0,20}`?")
_IS = re.compile(r"[ \t](?:is|was)[ \t]{1,2}[\"'`]?")
_FLAG = re.compile(r"--[a-zA-Z][a-zA-Z_-]{0,30}[ \t]{1,2}[\"']?")

_TRAIL = r"[\\\"'`\])*]{0,4}(?:\s(?:is|was))?\s{0,20}\Z"
_HINT = re.compile(
    r"[kK][eE][yY]|[tT][oO][kK]|[sS][eE][cC]|[pP][aAwW][sSdD]|[cC][rR][eE]|[aA][uU][tT]|[密秘令凭口]|ookie"
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
_NAME = re.compile(
    r"(?:(?:access|auth|bearer|api|client|private|secret|refresh|encryption|signing|account|storage|bot|app"
    r"|session(?![ _.-]?key))[ _.-]?(?:key|token|secret|pass(?:word)?)|secret|token|passw(?:or)?d|passphrase|passwd|pwd"
    rf"|credentials?|authorization)(?P<rest>[A-Za-z0-9_.-]{{0,20}}){_TRAIL}",
    re.IGNORECASE,
)
_ABOUT = re.compile(  # `token_count` and `client_secret_name` tell something about a secret
    r"(?:counts?|names?|ids?|types?|limits?|usage|used|budget|length|len|size|path|file|ur[il]|ttl|expir[a-z]*|version"
    r"|index|kind|format|prefix|hint|field|arn|policy|ref|model|i[sz]ers?|i[sz]ation)\Z",
    re.IGNORECASE,
)
_CHINESE = re.compile(rf"(?P<password>密码|口令)?(?:密码|口令|密钥|秘钥|令牌|凭证)?(?<=[码令钥牌证]){_TRAIL}")
_PASSWORD = re.compile(rf"(?:pass(?:w(?:or)?d|wd|phrase)?|pwd)[A-Za-z0-9_.-]{{0,20}}{_TRAIL}", re.IGNORECASE)
_USER = re.compile(r"(?:^|\s)(?:-u|--user)[ =]{0,2}[\"']?[A-Za-z0-9_.@+-]{1,40}\Z")
_COOKIE = re.compile(r"cookie[\"']?:[^\n\[]{1,60}\Z", re.IGNORECASE)
_OUR_MARK = re.compile(rf"\[secret: [a-z0-9-]+\]{_TRAIL}")  # its name ends like a secret's own

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+/-]{0,1000}={0,2}(?![A-Za-z0-9_.+/-])")
_BARE = re.compile(r"[A-Za-z0-9!@#$%^&_+?][A-Za-z0-9_.+/=!@#$%^&*?~:-]{0,1000}")
_QUOTED = re.compile(r"[A-Za-z0-9!@#$%^&_+?(){}<>|,;~][A-Za-z0-9_.+/=!@#$%^&*?~:(){}<>|,;-]{0,1000}")
_NEVER_LAST = ".,:;*?|(){}<>"  # a sentence's end; and what would change whether backticks after it open a code span

_STOP_WORDS = re.compile(
    r"example|sample|placeholder|changeme|change[_-]me|your[_-]|my[_-]?(?:secret|token|key|pass)|redacted|dummy|test[_-]"
    r"|xxxx|\*\*\*|0000000|1234567890|abcdef|password|secret[_-]?key|undefined|environ|getenv|process\.|settings\."
    r"|config\.|self\.|\.get|localhost|https?:|true|false|none|null|\$\{|\{\{|%\(",
    re.IGNORECASE,
)
_ONE_WORD = re.compile(r"[A-Za-z]+|[a-z]+(?:[-_./][a-z]+)+|\d[\d.:/TZ+-]*")
_A_NUMBERED_WORD = r"(?:[A-Za-z]?[a-z]+\d{0,3}[A-Za-z]?|[vV]?\d{1,4}[a-z]?)"
_NUMBERED_WORDS = re.compile(
    rf"{_A_NUMBERED_WORD}(?:[-_./]{_A_NUMBERED_WORD})+"
)  # `prod-v2-secret3`, `gpt4o-mini-128k`
_AN_ID = re.compile(r"(?:[a-z]{1,12}_)?0[0-7][0-9A-HJKMNP-TV-Z]{6,24}")  # a ULID


class Candidate(Struct, frozen=True):
    """A value that has a secret's name, from `start`. `settled` is False while more text could change it.

    `rule` names the kind of secret that it is, "" where it looks like none.
    """

    start: int
    end: int
    rule: str
    settled: bool


def candidates(text: str, at: int, *, final: bool) -> list[Candidate]:
    """The values that begin at `at` or after it and have a secret's name, in order, the longest first at one place."""
    since = max(0, at - LONGEST_LEAD)
    found = [
        candidate
        for name, start, strict in _leads(text, since)
        if start >= at and _may_name(name) and (candidate := _candidate(text, name, start, strict=strict, final=final))
    ]
    return sorted(found, key=lambda one: (one.start, -one.end))


def _leads(text: str, since: int) -> Iterator[tuple[str, int, bool]]:
    """What stands before each sign, where a value could begin after it, and whether it must look much like chance."""
    for sign in _SIGN.finditer(text, since):
        yield _before(text, sign.start()), sign.end(), False
    for mark, pattern in (("|", _CELL), (" is ", _IS), (" was ", _IS), ("--", _FLAG)):
        place = text.find(mark, since)
        while place >= 0:
            told = pattern is not _IS or text.endswith(_NAMES_END, 0, place)
            if told and (lead := pattern.match(text, place)):
                name = lead.group().rstrip(" \t\"'") if pattern is _FLAG else _before(text, place)
                yield name, lead.end(), pattern is _IS
            place = text.find(mark, place + len(mark))


def _before(text: str, place: int) -> str:
    return text[max(0, place - LONGEST_NAME) : place]


def _candidate(text: str, name: str, start: int, *, strict: bool, final: bool) -> Candidate | None:
    if (kind := _kind(name)) is None:
        return None
    quoted = start > 0 and text[start - 1] in "\"'`"
    pattern = _QUOTED if quoted else _BARE if kind == "password" else _PLAIN
    if (run := pattern.match(text, start)) is None:
        return None
    end, value = run.end(), run.group()
    if len(value) > _LONGEST_VALUE:
        return None
    if end == len(text) and not final:
        return Candidate(start, end, "", settled=False)
    value = value.rstrip(_NEVER_LAST)
    called = not quoted and text[end : end + 1] == "("
    secret = not called and _looks_secret(value, password=kind == "password", strict=strict)
    return Candidate(start, start + len(value), GENERIC if secret else "", settled=True)


def _kind(name: str) -> str | None:
    """Whether what is called this (the text just before the sign) is a password or another secret, if it is one."""
    if _OUR_MARK.search(name):
        return None
    if found := _NAME.search(name):
        rest = found["rest"]
        if _ABOUT.search(rest) or (rest == "s" and "token" in name[found.start() :].lower()):
            return None
        return "password" if _PASSWORD.search(name) else "key"
    if chinese := _CHINESE.search(name):
        return "password" if chinese["password"] else "key"
    if _USER.search(name):
        return "password"
    return "key" if _COOKIE.search(name) else None


def _may_name(name: str) -> bool:
    """A quick look, for most signs stand after other words."""
    words = name.rsplit(None, 2)
    if not words:
        return False
    last = words[-2] if len(words) > 1 and words[-1] in {"is", "was"} else words[-1]
    return _HINT.search(last) is not None or "-u" in name or "ookie" in name


def _looks_secret(value: str, *, password: bool, strict: bool) -> bool:
    """Whether the value looks like chance rather than like words.

    The entropy that gitleaks asks of its generic rule is 3.5 bits a character; short values, whose entropy is bounded
    by their length (10 characters: 3.3 bits), must come nine tenths as near to it as they can. A password is shorter,
    and people choose it.
    """
    if len(value) < (8 if password else 16 if strict else 10):
        return False
    if not any(letter.isdigit() for letter in value) or not any(letter.isalpha() for letter in value):
        return False
    if _ONE_WORD.fullmatch(value) or _NUMBERED_WORDS.fullmatch(value) or _AN_ID.fullmatch(value):
        return False
    if _STOP_WORDS.search(value) or (strict and re.fullmatch(r"[a-z]+\d+", value)):
        return False
    return entropy(value) >= (2.5 if password else min(3.5, 0.9 * math.log2(len(value))))


def entropy(text: str) -> float:
    """Shannon's, in bits a character."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
