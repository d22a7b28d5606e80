"""Parsing of a question: its terms and their weights, the speakers and dates that it names, and the kind of answer."""

import re
from collections.abc import Collection, Iterable
from datetime import date, datetime
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from foundation.text.analysis import iter_terms, term_list
from foundation.text.chinese_questions import chinese_terms, number_forms, plain_question
from foundation.text.cross_language import question_terms
from foundation.text.dates.day_values import question_day_values
from foundation.text.dates.event_anchors import EventAnchor, event_anchors
from foundation.text.dates.spans import DateSpan, Period, local_day, mentioned_periods, names_holiday, question_spans
from foundation.text.folding import is_unspaced
from foundation.text.sentences import is_question, request_end
from foundation.text.stopwords import is_question_word, is_weak
from foundation.text.tags import DAY, tag

WEAK = 0.2  # weight of a stop word

_LONGEST = 64  # terms of a question that are looked up: the first ones of a pasted text
_MOST_FURTHER = 6  # single characters of a question, each of which is looked up in all terms
_ASKS_WHEN = re.compile(
    r"\b(?:when|how long|what (?:date|day|month|year|time))\b|什么时候|何时|多久|哪年|哪天|几月", re.IGNORECASE
)
_ASKS_NUMBER = re.compile(r"\bhow (?:many|much|often|old)\b|多少|几个|几次|几岁", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['’]s\b)?")
_REQUESTS = frozenset(term_list("find search show list look lookup retrieve fetch record records entry entries")) | {
    *("查找", "查询", "搜索", "检索", "列出", "找出", "找到", "记录", "条目"),
}
"""Terms that ask for entries and do not say which: beside another content term they select nothing."""
_KIND_TAGS = {"flight": ("=flight",), "航班": ("=flight",)}
"""Terms that name a kind of entity, with its tag: an entry with the code of a flight is about a flight."""
_NOBODY = frozenset({"user", "assistant", "tool", "system", ""})

SIGNALS = (
    "neighbours",  # terms of the turns before and after
    "talk",  # the surrounding run of turns, as a field of its own
    "synonyms",  # synonyms of the question's words, from a table
    "function-words",  # function words count a fifth
    "lengths",  # length normalisation: long passages as documents, short turns as turns
    "speaker",  # the speaker that the question names
    "dates",  # the days that it mentions, also relative to an event
    "when",  # a question for a time: an answer contains one
    "number",  # a question for a number: an answer contains one
    "novelty",  # an entry that only repeats the question or names its subject is no answer
    "vectors",  # an embedder's cosine
    "vectors-beside",  # the cosines of the turns before and after
)
"""The signals of the ranking. A query can switch some of them off, to measure the effect of each.

Weights are in the units of BM25. They were fitted on LoCoMo's first five conversations, a person's chats with
strangers, and Python's questions and answers, all at once; docs/benchmarks.md has the effect of each.
"""
EMBEDDED = frozenset({"vectors", "vectors-beside"})
"""Signals that need an embedder."""


class QueryTerm(Struct, frozen=True):
    """A term of the question. `also` are its translations in other languages of the store. `weak`: a stop word.
    `dated`: a part of a date."""

    term: str
    weak: bool = False
    dated: bool = False
    also: tuple[str, ...] = ()


class Question(Struct, frozen=True):
    """A parsed question. `spans` are the dates that it names, `anchors` the events that it relates to in time.

    The search is limited to `dates`: those of the first line, of the latest year where none is named. They count from
    `today`.
    """

    terms: tuple[QueryTerm, ...]
    periods: tuple[Period, ...] = ()
    spans: tuple[DateSpan, ...] = ()
    dates: tuple[DateSpan, ...] = ()
    today: date = date.min
    anchors: tuple[EventAnchor, ...] = ()
    asks_when: bool = False
    time_words: frozenset[str] = frozenset()  # those that ask for a time: “what time”
    asks_number: bool = False
    asks: bool = False  # it has a question word, or a question mark
    without: frozenset[str] = frozenset()  # signals that are not to be used

    def day_tags(self, dates: tuple[DateSpan, ...]) -> frozenset[str]:
        """The tags of entries that speak of these dates."""
        return frozenset(tag(DAY, value) for value in question_day_values(dates, self.today))

    def uses(self, signal: str) -> bool:
        return signal not in self.without

    def weight(self, term: QueryTerm) -> float:
        return WEAK if term.weak and self.uses("function-words") else 1.0

    def is_seeking(self, text: str) -> bool:
        """Whether the message asks for entries, and does not tell something."""
        return self.asks or request_end(text) > 0

    @property
    def content(self) -> tuple[QueryTerm, ...]:
        """Content terms. Without any of these, one or two terms are meant literally, as are the pairs of a script
        without spaces that ask nothing: 我住在哪里？ is about 我住, 住在 and 在哪."""
        strong = tuple(term for term in self.terms if not term.weak)
        pairs = (term for term in self.terms if is_unspaced(term.term[:1]) and not is_question_word(term.term))
        return strong or (self.terms if len(self.terms) <= 2 else tuple(pairs))

    @property
    def is_keywords(self) -> bool:
        """Whether it consists of keywords only: an entry that holds none of them itself is no answer."""
        return not any(term.weak for term in self.terms)

    @property
    def topic(self) -> tuple[QueryTerm, ...]:
        """Terms that an answer must be about: the content without dates, which an entry's own time can answer, and
        without the words that ask for one."""
        return (
            tuple(term for term in self.content if not term.dated and term.term not in self.time_words) or self.content
        )


def parse_question(
    text: str, now: datetime | None = None, languages: Collection[str] = (), without: frozenset[str] = frozenset()
) -> Question:
    """Parses a question; its terms are in order, each once.

    `now` resolves relative dates such as “last March”. `held` are the languages beside English in which there are
    entries. `without` are signals to switch off.
    """
    text = plain_question(text)
    chinese, numbers = chinese_terms(text), number_forms(text)
    term_groups = question_terms(text, languages)[:_LONGEST]
    dates, date_spans = mentioned_periods(text), question_spans(text, now) if now else ()
    date_ranges = [(date.start, date.end) for date in dates]
    date_ranges += [(span.at, span.to) for span in date_spans if not names_holiday(text[span.at : span.to])]
    dated = {term for start, end in date_ranges for term in iter_terms(text[start:end])}
    terms = [
        QueryTerm(
            term,
            term not in chinese.further and (is_weak(term) or term in chinese.asking),
            term in dated,
            (*also, *numbers.get(term, ()), *_KIND_TAGS.get(term, ())),
        )
        for term, *also in term_groups
    ]
    known = {term.term for term in terms}
    terms += [QueryTerm("我", weak=True)] if "我" in text and "我" not in known else []  # as “my” is a term of English
    terms += [QueryTerm(term) for term in chinese.further[:_MOST_FURTHER] if term not in known]
    if any(not term.weak and term.term not in _REQUESTS for term in terms):
        terms = [replace(term, weak=True) if term.term in _REQUESTS else term for term in terms]
    return Question(
        terms=tuple(terms),
        periods=tuple(dict.fromkeys(date.period for date in dates)),
        spans=tuple(span for span in date_spans if not span.yearless),
        dates=tuple(span for span in date_spans if "\n" not in text[: span.to]),
        today=local_day(now, None) if now else date.min,
        anchors=tuple(event_anchors(text)),
        asks_when=_ASKS_WHEN.search(text) is not None,
        time_words=frozenset(term for match in _ASKS_WHEN.finditer(text) for term in iter_terms(match[0])),
        asks_number=_ASKS_NUMBER.search(text) is not None,
        asks=is_question(text) or any(is_question_word(term) for term, *_ in term_groups),
        without=without,
    )


class NamedSpeakers(Struct, frozen=True):
    """Speakers that a question names: `one` is the only one, "" where it names none or several. `terms` are its terms
    that are a speaker's name."""

    one: str = ""
    terms: frozenset[str] = frozenset()


def named_speakers(question: Question, speakers: Iterable[str]) -> NamedSpeakers:
    """Of these speakers, those that the question names by first or full name."""
    question_terms = {term.term for term in question.terms}
    named = [
        speaker for speaker in speakers if speaker.casefold() not in _NOBODY and _is_named(speaker, question_terms)
    ]
    names = frozenset(name for speaker in named for name in _names(speaker) if name in question_terms)
    return NamedSpeakers(named[0] if len(named) == 1 else "", names)


@lru_cache(maxsize=1 << 12)
def _names(speaker: str) -> tuple[str, ...]:
    return tuple(term_list(speaker))


def _is_named(speaker: str, question_terms: set[str]) -> bool:
    names = _names(speaker)
    return bool(names) and ((names[0] in question_terms and not is_weak(names[0])) or question_terms.issuperset(names))


def without_names(text: str, names: frozenset[str]) -> str:
    """The text without these names: to an embedder a name is the question's subject."""
    if not names:
        return text
    remaining = _WORD.sub(lambda word: "" if names.issuperset(term_list(word[0]) or [""]) else word[0], text)
    return " ".join(remaining.split()) or text
