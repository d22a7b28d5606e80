"""What two independent readers agree on, line by line; and what a single one is not to be trusted with."""

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher

SURE = 0.95  # an engine's own score of a line, from which it is not in doubt

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mär|Mai|Okt|Dez)[a-zé]*"
_MONEY = r"(?:[€$£¥₹]|(?<![A-Za-z])(?:EUR|USD|GBP|CHF|CNY|RMB|JPY|INR)(?![A-Za-z]))"
_COUNTS = {
    "address": r"https?://|www\.|[\w.+-]+@[\w-]+\.",
    "hash": r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)[0-9a-fA-F]{7,}(?![A-Za-z0-9])",
    "number": r"\d(?:[ \u00a0.,'’()/+-]{0,2}\d){4,}",  # also in groups: telephones, cards, IBANs, amounts
    "IBAN": r"(?<![A-Za-z])IBAN|(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2}",
    "amount": rf"{_MONEY}\s?\d|\d\s?(?:{_MONEY}|[元円])|\d[.,]\d\d(?!\d)",
    "date": rf"\d{{1,2}}(?:st|nd|rd|th)?\.? ?{_MONTH}|{_MONTH}\.? \d|\d ?[年月日]|\d{{1,4}}([-./])\d{{1,2}}\1\d{{1,4}}",
    "code": r"(?<![A-Za-z0-9])(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{4,}(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9])(?=[A-Z-]*\d)[A-Z0-9]{2,}-[A-Z0-9-]{2,}"
    r"|(?<![A-Za-z0-9])(?=[a-zA-Z]*\d)(?=\d*[a-zA-Z])[a-zA-Z0-9]{6,}(?![A-Za-z0-9])",
    "path": r"(?:[\w.-]*/){2,}|[A-Za-z]:\\",
    "program": r"\w\(|[{}<>=;$\\]|_\w",
}
_TO_THE_LETTER = re.compile("|".join(f"(?:{pattern})" for pattern in _COUNTS.values()))
"""What one wrong letter changes, and looks right after it."""


def differing(text: str, other: str) -> tuple[int, ...]:
    """The lines of `text`, from 1, that the other reader does not have. Blanks and ways to write a letter are no
    difference (NFKC); a blank line is none either."""
    ours, theirs = _compared(text), _compared(other)
    matcher = SequenceMatcher(None, [line for _, line in ours], [line for _, line in theirs], autojunk=False)
    agreed = {ours[block.a + n][0] for block in matcher.get_matching_blocks() for n in range(block.size)}
    return tuple(number for number, _ in ours if number not in agreed)


def unsure(text: str, scores: Sequence[float] = ()) -> tuple[int, ...]:
    """The lines of what OCR read, from 1, that are in doubt: the engine is unsure, or every letter of it counts."""
    lines = text.split("\n")
    told = [*scores, *[1.0] * (len(lines) - len(scores))]
    return tuple(
        n for n, (line, score) in enumerate(zip(lines, told, strict=False), 1) if score < SURE or _counts(line)
    )


def _counts(line: str) -> bool:
    return _TO_THE_LETTER.search(line) is not None


def _compared(text: str) -> list[tuple[int, str]]:
    """The lines that are not blank, each with its number from 1."""
    lines = ("".join(unicodedata.normalize("NFKC", line).split()) for line in text.split("\n"))
    return [(number, line) for number, line in enumerate(lines, 1) if line]
