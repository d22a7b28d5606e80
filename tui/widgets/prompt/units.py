"""Units of a prompt's text: graphemes, and placeholders that are edited as one."""

from bisect import bisect_left, bisect_right
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, Final

CHIP: Final = r"\[(?:Pasted text|Image) #\d{1,9} · [^\]\n]{1,200}\]"


@cache
def _pattern() -> Any:
    import regex

    return regex.compile(rf"{CHIP}|\X")


@lru_cache(8)
def units(text: str) -> tuple[str, ...]:
    """The units of a text: joined, they are the text."""
    return tuple(_pattern().findall(text))


@lru_cache(8)
def offsets(text: str) -> tuple[int, ...]:
    """Where each unit begins, and the text's length."""
    return (0, *accumulate(map(len, units(text))))


def index_at(text: str, offset: int) -> int:
    """The index of the unit that holds the character at this offset."""
    return bisect_right(offsets(text), offset) - 1


def before(text: str, offset: int) -> int:
    """The offset of the unit before this one; 0 at the beginning."""
    starts = offsets(text)
    return starts[max(bisect_left(starts, offset) - 1, 0)]


def after(text: str, offset: int) -> int:
    """The offset behind the unit at this one; the text's length at its end."""
    starts = offsets(text)
    return starts[min(bisect_right(starts, offset), len(starts) - 1)]
