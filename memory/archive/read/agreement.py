"""What two independent readers agree on, line by line; and what a single one is not to be trusted with."""

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher

SURE = 0.95  # an engine's own score of a line, from which it is not in doubt

_TO_THE_LETTER = re.compile(
    r"https?://|www\.|[\w.+-]+@[\w-]+\.|\b(?=\w*\d)[0-9a-fA-F]{7,}\b|\d{5,}|(?:[\w.-]*/){2,}|\w\(|[{}<>=;$\\]|_\w"
)
"""Hashes, URLs, long numbers, paths and code: one wrong letter changes what they mean, and looks right."""


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
