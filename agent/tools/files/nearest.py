"""The place in a text that is most like a text which is not in it, and where the two differ."""

from difflib import SequenceMatcher
from typing import Final

MOST_COMPARED: Final = 2_000_000  # pairs of lines; beyond that no place is sought
LEAST_ALIKE: Final = 0.6
SHOWN: Final = 160  # characters of a line


def nearest_place(old: str, text: str) -> str:
    """A sentence on the place in `text` that is most like `old`, with the first line that differs; "" for none."""
    wanted, lines = old.strip("\n").split("\n"), text.split("\n")
    if not old.strip() or len(wanted) * len(lines) > MOST_COMPARED:
        return ""
    plain = [" ".join(line.split()) for line in wanted]
    of_text = [" ".join(line.split()) for line in lines]
    scores = [(_equal(plain, of_text, at), -at) for at in range(max(len(lines) - len(wanted), 0) + 1)]
    best = -max(scores)[1]
    if not max(scores)[0]:
        ratios = [(SequenceMatcher(None, plain[0], line).quick_ratio() if line else 0.0, -at) for at, line in
                  enumerate(of_text)]  # fmt: skip
        ratio, negative = max(ratios)
        best = -negative
        if ratio < LEAST_ALIKE or SequenceMatcher(None, plain[0], of_text[best]).ratio() < LEAST_ALIKE:
            return ""
    return _difference(wanted, lines, best)


def _equal(plain: list[str], of_text: list[str], at: int) -> int:
    """How many lines are equal there but for blanks; lines without letters do not count."""
    return sum(bool(a) and a == b for a, b in zip(plain, of_text[at : at + len(plain)], strict=False))


def _difference(wanted: list[str], lines: list[str], at: int) -> str:
    for number, line in enumerate(wanted):
        theirs = lines[at + number] if at + number < len(lines) else None
        if theirs is None:
            return f"The nearest is at line {at + 1:,}, but the file ends at line {len(lines):,}."
        if line != theirs:
            return (
                f"The nearest is at line {at + 1:,}; line {at + number + 1:,} is {_shown(theirs)}, not {_shown(line)}."
            )
    return f"The lines from {at + 1:,} on are the same, but not the line ends around them."


def _shown(line: str) -> str:
    return repr(line if len(line) <= SHOWN else line[:SHOWN] + "…")
