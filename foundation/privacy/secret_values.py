"""Randomness of a value: secrets look random, words do not."""

import math
import re
from collections import Counter

from foundation.lazy_pattern import lazy_pattern

PLAIN = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_.+/-]{0,1000}={0,2}(?![A-Za-z0-9_.+/-])")
BARE = lazy_pattern(r"[A-Za-z0-9!@#$%^&_+?][A-Za-z0-9_.+/=!@#$%^&*?~:-]{0,1000}")
QUOTED = lazy_pattern(r"[A-Za-z0-9!@#$%^&_+?(){}<>|,;~][A-Za-z0-9_.+/=!@#$%^&*?~:(){}<>|,;-]{0,1000}")
NEVER_LAST = ".,:;*?|(){}<>"  # a sentence's end; and what would change whether backticks after it open a code span

_STOP_WORDS = lazy_pattern(
    r"example|sample|placeholder|changeme|change[_-]me|your[_-]|my[_-]?(?:secret|token|key|pass)|redacted|dummy|test[_-]"
    r"|xxxx|\*\*\*|0000000|1234567890|abcdef|password|p4ssw0rd|secret[_-]?key|undefined|environ|getenv|process\.|settings\."
    r"|config\.|self\.|\.get|localhost|https?:|true|false|none|null|\$\{|\{\{|%\(",
    re.IGNORECASE,
)
_ONE_WORD = lazy_pattern(r"[A-Za-z]+|[a-z]+(?:[-_./][a-z]+)+|\d[\d.:/TZ+-]*")
_A_NUMBERED_WORD = r"(?:[A-Za-z]?[a-z]+\d{0,3}[A-Za-z]?|[vV]?\d{1,4}[a-z]?)"
_NUMBERED_WORDS = lazy_pattern(
    rf"{_A_NUMBERED_WORD}(?:[-_./]{_A_NUMBERED_WORD})+"
)  # `prod-v2-secret3`, `gpt4o-mini-128k`
_AN_ID = lazy_pattern(r"(?:[a-z]{1,12}_)?0[0-7][0-9A-HJKMNP-TV-Z]{6,24}")  # a ULID


def looks_secret(value: str, *, password: bool, strict: bool) -> bool:
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
