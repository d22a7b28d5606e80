"""How much an entry says of its own, and whether it asks: what only asks is no answer, however well its words fit."""

from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from memory.search.words.analyse import words
from memory.search.words.marking import MARK
from memory.search.words.weak import is_weak

_CHINESE = (
    "什么 怎么 怎样 如何 为何 为什 哪个 哪些 哪里 哪儿 哪种 哪位 哪一 哪天 哪年 "
    "谁的 是谁 多少 几个 几次 几点 何时 何地 多久"
)
_ASKING = frozenset(words("what when where who whom whose which why how")) | frozenset(_CHINESE.split())
_FINAL = ("吗", "呢")  # the particles that end a Chinese question


class Substance(Struct, frozen=True):
    """`says`: occurrences of words that say something, the speaker's name left out. `asks`: it has a question word."""

    says: int
    asks: bool


def substance(terms: Iterable[bytes], counts: bytes, speaker: str) -> Substance:
    """Of an entry's terms and how often each occurs, as they are packed."""
    says, asks = -_name_says(speaker), False
    for term, count in zip(terms, counts, strict=True):
        weak, asking = _judged(term)
        says += 0 if weak else count
        asks = asks or asking
    return Substance(max(says, 0), asks)


def is_asking(term: str) -> bool:
    """Whether the term is a question word."""
    return term in _ASKING or (len(term) == 2 and term.endswith(_FINAL))


@lru_cache(maxsize=1 << 10)
def _name_says(speaker: str) -> int:
    return sum(not is_weak(term) for term in words(speaker))


@lru_cache(maxsize=1 << 16)
def _judged(term: bytes) -> tuple[bool, bool]:
    word = term.decode("utf-8", "surrogatepass")
    if word.startswith(MARK):
        return True, False  # what the entry is marked with: nobody said it
    return is_weak(word), is_asking(word)
