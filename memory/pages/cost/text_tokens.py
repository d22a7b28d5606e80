"""Token estimates of page texts: those of `models.tokens.estimate`, in a quarter of the time, by numpy.

Pages are counted by the thousand, and drawing them has loaded numpy.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.tokens import MIXED, SCRIPTS, UNKNOWN_RATE

_LETTER, _DIGIT, _MARK, _NEWLINE, _BLANK = range(1, 6)


def _ascii_kinds() -> NDArray[np.uint8]:
    kinds = np.zeros(128, np.uint8)
    for code in range(33, 127):
        sign = chr(code)
        kinds[code] = _LETTER if sign.isalpha() else _DIGIT if sign.isdigit() else _MARK
    kinds[ord("\n")] = _NEWLINE
    kinds[[ord(" "), ord("\t")]] = _BLANK
    return kinds


_KINDS: Final = _ascii_kinds()


def estimate_tokens(text: str) -> int:
    """`models.tokens.estimate(text)`."""
    if not text:
        return 0
    plain = "".join(MIXED.split(text))
    tokens = (len(text) - len(plain)) / 1.75 + _ascii_tokens(_codes(plain))
    if not text.isascii():
        tokens += _other_tokens(_codes(text))
    return max(1, math.ceil(tokens))


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _ascii_tokens(codes: NDArray[np.uint32]) -> float:
    """By the runs of letters, digits, marks and white space."""
    if not len(codes):
        return 0.0
    kinds = np.where(codes < 128, _KINDS[codes & 127], 0)
    starts = np.concatenate([[0], np.flatnonzero(kinds[1:] != kinds[:-1]) + 1])
    lengths = np.diff(np.concatenate([starts, [len(codes)]]))
    runs = kinds[starts]
    words, digits, marks = (lengths[runs == kind] for kind in (_LETTER, _DIGIT, _MARK))
    long_words = words[words >= 7]
    after_newline = np.concatenate([[False], runs[:-1] == _NEWLINE])
    blanks = (runs == _BLANK) & ~after_newline & ((lengths > 1) | (codes[starts] == ord("\t")))
    return float(
        len(words)
        + (long_words - 5).sum() / 8
        + ((digits + 2) // 3).sum()
        + ((marks + 1) // 2).sum()
        + np.count_nonzero(runs == _NEWLINE)
        + np.count_nonzero(blanks)
    )


def _other_tokens(codes: NDArray[np.uint32]) -> float:
    codes = codes[codes >= 128]
    tokens, counted = 0.0, 0
    for ranges, rate in SCRIPTS:
        count = sum(np.count_nonzero((codes >= first) & (codes <= last)) for first, last in ranges)
        counted += count
        tokens += count * rate
    return tokens + UNKNOWN_RATE * (len(codes) - counted)
