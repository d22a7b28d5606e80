"""A question, taken apart: its terms and their weights, whom it names, when it speaks of, what it asks for."""

import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from memory.search.dates.dates import Period, periods
from memory.search.words.analyse import terms, words
from memory.search.words.substance import is_asking
from memory.search.words.weak import is_weak

_LONGEST = 64  # terms of a question that are looked up: of a pasted text its first
_ASKS_WHEN = re.compile(
    r"\b(?:when|how long|what (?:date|day|month|year|time))\b|什么时候|何时|多久|哪年|哪天|几月", re.IGNORECASE
)
_ASKS_NUMBER = re.compile(r"\bhow (?:many|much|often|old)\b|多少|几个|几次|几岁", re.IGNORECASE)
_NOBODY = frozenset({"user", "assistant", "tool", "system", ""})


class Term(Struct, frozen=True):
    """A word of the question. `weight` is 1, and one half where the word says little. `dated`: it is part of a date."""

    term: str
    weight: float
    weak: bool
    dated: bool = False


class Question(Struct, frozen=True):
    """What is looked for."""

    terms: tuple[Term, ...]
    periods: tuple[Period, ...] = ()
    asks_when: bool = False
    asks_number: bool = False
    asks: bool = False  # it has a question word, or a question mark

    @property
    def content(self) -> tuple[Term, ...]:
        """The terms that say something. Where none does, and they are one or two, they are meant as such."""
        strong = tuple(term for term in self.terms if not term.weak)
        return strong or (self.terms if len(self.terms) <= 2 else ())

    @property
    def is_keywords(self) -> bool:
        """Whether it is words to look up rather than a question: what holds none of them itself is no answer."""
        return not any(term.weak for term in self.terms)

    @property
    def topic(self) -> tuple[Term, ...]:
        """What an answer must speak of: the content without its dates, which an entry's own time answers as well."""
        return tuple(term for term in self.content if not term.dated) or self.content


def take_apart(text: str) -> Question:
    """A question's terms in their order, each once."""
    found = list(dict.fromkeys(terms(text)))[:_LONGEST]
    dates = periods(text)
    dated = {term for date in dates for term in terms(text[date.start : date.end])}
    return Question(
        terms=tuple(Term(term, 0.5 if is_weak(term) else 1.0, is_weak(term), term in dated) for term in found),
        periods=tuple(dict.fromkeys(date.period for date in dates)),
        asks_when=_ASKS_WHEN.search(text) is not None,
        asks_number=_ASKS_NUMBER.search(text) is not None,
        asks=text.rstrip().endswith(("?", "？")) or any(map(is_asking, found)),
    )


def named(question: Question, speakers: Iterable[str]) -> str:
    """The one speaker whom the question names, by first or whole name; "" where it names none or several."""
    said = {term.term for term in question.terms}
    found = [speaker for speaker in speakers if speaker.casefold() not in _NOBODY and _is_named(speaker, said)]
    return found[0] if len(found) == 1 else ""


@lru_cache(maxsize=1 << 12)
def _names(speaker: str) -> tuple[str, ...]:
    return tuple(words(speaker))


def _is_named(speaker: str, said: set[str]) -> bool:
    names = _names(speaker)
    return bool(names) and ((names[0] in said and not is_weak(names[0])) or said.issuperset(names))
