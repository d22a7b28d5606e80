"""A question, taken apart: its terms and their weights, whom it names, when it speaks of, what it asks for."""

import re
from collections.abc import Collection, Iterable
from datetime import datetime
from functools import lru_cache

from msgspec import Struct

from foundation.text.analysis import iter_terms, term_list
from foundation.text.cross_language import question_terms
from foundation.text.dates.event_anchors import EventAnchor, event_anchors
from foundation.text.dates.spans import DateSpan, Period, mentioned_periods, question_spans
from foundation.text.sentences import is_question
from foundation.text.stopwords import is_question_word, is_weak

WEAK = 0.2  # what a word that says little is worth beside the others

_LONGEST = 64  # terms of a question that are looked up: of a pasted text its first
_ASKS_WHEN = re.compile(
    r"\b(?:when|how long|what (?:date|day|month|year|time))\b|什么时候|何时|多久|哪年|哪天|几月", re.IGNORECASE
)
_ASKS_NUMBER = re.compile(r"\bhow (?:many|much|often|old)\b|多少|几个|几次|几岁", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['’]s\b)?")
_NOBODY = frozenset({"user", "assistant", "tool", "system", ""})

SIGNALS = (
    "neighbours",  # the turns before and after lend their words
    "talk",  # the run of turns that it stands in is a field of its own
    "kindred",  # words near in meaning to the question's, from a table
    "function-words",  # words that say little count a fifth
    "lengths",  # long passages are judged as documents, short turns as turns
    "speaker",  # whom the question names
    "dates",  # the days that it speaks of, and before or after what
    "when",  # it asks when: who answers says a time
    "number",  # it asks how many: who answers says a number
    "novelty",  # what only asks again, or only names the subject, is no answer
    "vectors",  # an embedder's cosine
    "vectors-beside",  # the cosines of the turns before and after
)
"""The signals of the ranking. A query may do without some of them, to see what each brings.

Weights are in the units of BM25. They were found on LoCoMo's first five conversations, a person's chats with strangers,
and Python's questions and answers, all at once; docs/benchmarks.md has what each brings on each.
"""
EMBEDDED = frozenset({"vectors", "vectors-beside"})
"""Those that only an embedder gives."""


class QueryTerm(Struct, frozen=True):
    """A word of the question. `also` are the terms under which entries in other languages hold it. `weak`: it says
    little. `dated`: it is part of a date."""

    term: str
    weak: bool = False
    dated: bool = False
    also: tuple[str, ...] = ()


class Question(Struct, frozen=True):
    """What is looked for. `spans` are days that it speaks of, `anchors` events before or after which
    something was."""

    terms: tuple[QueryTerm, ...]
    periods: tuple[Period, ...] = ()
    spans: tuple[DateSpan, ...] = ()
    anchors: tuple[EventAnchor, ...] = ()
    asks_when: bool = False
    asks_number: bool = False
    asks: bool = False  # it has a question word, or a question mark
    without: frozenset[str] = frozenset()  # signals that are not to be used

    def uses(self, signal: str) -> bool:
        return signal not in self.without

    def weight(self, term: QueryTerm) -> float:
        return WEAK if term.weak and self.uses("function-words") else 1.0

    @property
    def content(self) -> tuple[QueryTerm, ...]:
        """The terms that say something. Where none does, and they are one or two, they are meant as such."""
        strong = tuple(term for term in self.terms if not term.weak)
        return strong or (self.terms if len(self.terms) <= 2 else ())

    @property
    def is_keywords(self) -> bool:
        """Whether it is words to look up rather than a question: what holds none of them itself is no answer."""
        return not any(term.weak for term in self.terms)

    @property
    def topic(self) -> tuple[QueryTerm, ...]:
        """What an answer must speak of: the content without its dates, which an entry's own time answers as well."""
        return tuple(term for term in self.content if not term.dated) or self.content


def take_apart(
    text: str, now: datetime | None = None, held: Collection[str] = (), without: frozenset[str] = frozenset()
) -> Question:
    """A question's terms in their order, each once.

    `now` is when it is asked: without it “last March” is nothing. `held` are the languages beside English in which
    there are entries. `without` are signals that are not to be used.
    """
    found = question_terms(text, held)[:_LONGEST]
    dates, stretches = mentioned_periods(text), question_spans(text, now) if now else ()
    said = [(date.start, date.end) for date in dates] + [(span.at, span.to) for span in stretches]
    dated = {term for start, end in said for term in iter_terms(text[start:end])}
    return Question(
        terms=tuple(QueryTerm(term, is_weak(term), term in dated, tuple(also)) for term, *also in found),
        periods=tuple(dict.fromkeys(date.period for date in dates)),
        spans=tuple(span for span in stretches if not span.yearless),
        anchors=tuple(event_anchors(text)),
        asks_when=_ASKS_WHEN.search(text) is not None,
        asks_number=_ASKS_NUMBER.search(text) is not None,
        asks=is_question(text) or any(is_question_word(term) for term, *_ in found),
        without=without,
    )


class NamedSpeakers(Struct, frozen=True):
    """Whom a question names: `one` is the only speaker that it names, "" where it names none or several. `terms`
    are
    its terms that are a speaker's name."""

    one: str = ""
    terms: frozenset[str] = frozenset()


def called(question: Question, speakers: Iterable[str]) -> NamedSpeakers:
    """Of these speakers, whom the question names by first or whole name."""
    said = {term.term for term in question.terms}
    found = [speaker for speaker in speakers if speaker.casefold() not in _NOBODY and _is_named(speaker, said)]
    names = frozenset(name for speaker in found for name in _names(speaker) if name in said)
    return NamedSpeakers(found[0] if len(found) == 1 else "", names)


@lru_cache(maxsize=1 << 12)
def _names(speaker: str) -> tuple[str, ...]:
    return tuple(term_list(speaker))


def _is_named(speaker: str, said: set[str]) -> bool:
    names = _names(speaker)
    return bool(names) and ((names[0] in said and not is_weak(names[0])) or said.issuperset(names))


def nameless(text: str, names: frozenset[str]) -> str:
    """The text without these names: an embedder takes a name for what the question is about."""
    if not names:
        return text
    kept = _WORD.sub(lambda word: "" if names.issuperset(term_list(word[0]) or [""]) else word[0], text)
    return " ".join(kept.split()) or text
