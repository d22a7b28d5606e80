"""Bonuses: for the speaker that a question names, for its dates, and for times and numbers where it asks when or how
many. In the units of BM25.
"""

from collections.abc import Iterable
from datetime import date
from typing import Protocol

import numpy as np
from msgspec import Struct

from foundation.text.analysis import term_list
from foundation.text.dates.event_anchors import AnchorSide
from foundation.text.dates.spans import DateSpan, Period
from memory.search.column import Column
from memory.search.index.documents import APART_MS, Documents
from memory.search.index.postings import Posting
from memory.search.ranking.question import Question

SPEAKER, OF_ONESELF, DATE, ANCHORED, WHEN, NUMBER = 4.0, 1.0, 5.0, 2.0, 2.0, 1.0
_DAYS_AROUND = 2  # people mention a day on the days after
_BESIDE, _HALF_AS_NEAR = 0.3, 365  # the share for a document of other days, and in how many days it halves
_SAME_MONTH = 0.3  # the share for a document of the month, where the question names a day in it

_TIMES = term_list(
    "yesterday today tonight tomorrow ago last next week weekend month year day since monday tuesday wednesday thursday"
    " friday saturday sunday january february march april june july august september october november december"
    " 昨天 今天 明天 上周 下周 去年 今年 明年 上个月 星期 周末"
)
_FIRST_PERSON = ["i", "my", "we"]
_NUMBERS = term_list(
    "one two three four five six seven eight nine ten twelve dozen hundred couple once twice both "
    + " ".join(map(str, range(1, 31)))
)


class Bonus(Struct, frozen=True):
    """`share` is the part of the weight that each document gets, from 0 to 1."""

    name: str
    weight: float
    share: Column


class SearchedDocuments(Protocol):
    @property
    def documents(self) -> Documents: ...

    def find(self, term: str) -> Posting: ...


class ResolvedAnchor(Struct, frozen=True):
    """Time of the event that a question is anchored to (milliseconds since 1970), and the side of it that is meant."""

    event: str
    side: AnchorSide
    time: int


def bonuses(
    searched: SearchedDocuments, question: Question, speaker: str, anchored: Iterable[ResolvedAnchor], chosen: Column
) -> tuple[Bonus, ...]:
    """Bonuses that apply to the question. `speaker` is the one that it names, or ""."""
    documents = searched.documents
    applicable: list[Bonus] = []
    if speaker and question.uses("speaker"):
        is_named = documents["speaker"][chosen] == documents.code(speaker)
        applicable.append(Bonus(f"said by {speaker}", SPEAKER, is_named))
        applicable.append(Bonus("of oneself", OF_ONESELF, is_named * in_first_person(searched, chosen)))
    if question.uses("dates"):
        applicable += _time_bonuses(searched, chosen, question, anchored)
    if question.asks_when and question.uses("when"):
        applicable.append(Bonus("says when", WHEN, holds_any(searched, _TIMES, chosen)))
    if question.asks_number and question.uses("number"):
        applicable.append(Bonus("says how many", NUMBER, holds_any(searched, _NUMBERS, chosen)))
    return tuple(applicable)


def _time_bonuses(
    searched: SearchedDocuments, chosen: Column, question: Question, anchored: Iterable[ResolvedAnchor]
) -> list[Bonus]:
    time_bonuses: list[Bonus] = []
    times = searched.documents["time"][chosen]
    days = times.astype("M8[ms]").astype("M8[D]")
    shares = [_within(days, period) for period in question.periods]
    shares += [_around(days, span) for span in question.spans]
    if question.dates:
        shares.append(holds_any(searched, sorted(question.day_tags(question.dates)), chosen))
    if shares:
        time_bonuses.append(Bonus("of that time", DATE, np.maximum.reduce(shares)))
    for anchor in anchored:
        time_bonuses.append(Bonus(f"{anchor.side.value} {anchor.event}", ANCHORED, _on_side(times, anchor)))
    return time_bonuses


def _around(days: Column, span: DateSpan) -> Column:
    """1 within the named days, a half within those that may be meant as well, less the farther from them."""
    start, end = np.datetime64(span.start, "D"), np.datetime64(span.end, "D")
    away = np.maximum(np.maximum((start - days).astype("i8"), (days - end).astype("i8") + 1), 0)
    near = np.where(away <= (span.soft or _DAYS_AROUND), 0.5, _BESIDE / (1 + away / _HALF_AS_NEAR))
    return np.where(away == 0, 1.0, near)


def _on_side(times: Column, anchor: ResolvedAnchor) -> Column:
    """1 on the side that is meant; the talk that mentions the event counts for either."""
    beside = np.abs(times - anchor.time) <= APART_MS
    match anchor.side:
        case AnchorSide.BEFORE:
            return (beside | (times < anchor.time)).astype("f8")
        case AnchorSide.AFTER:
            return (beside | (times > anchor.time)).astype("f8")
        case AnchorSide.DURING:
            return beside.astype("f8")


def _within(days: Column, period: Period) -> Column:
    """1 where the day is within the period, or at most two days from it."""
    years = days.astype("M8[Y]").astype("i8") + 1970
    months = days.astype("M8[M]").astype("i8") % 12 + 1
    share = np.ones(len(days))
    if period.year:
        share = share * (years == period.year)
    if period.month:
        share = share * (months == period.month)
    if not period.day or not period.month:
        return share
    near = [
        np.abs((days - np.datetime64(day, "D")).astype("i8")) <= _DAYS_AROUND
        for day in _days_of(period, [period.year] if period.year else np.unique(years).tolist())
    ]
    return np.maximum.reduce([_SAME_MONTH * share, *near])


def _days_of(period: Period, years: Iterable[int]) -> list[date]:
    days: list[date] = []
    for year in years:
        try:
            days.append(date(year, period.month or 1, period.day or 1))
        except ValueError:  # the 29th of February in another year
            continue
    return days


def in_first_person(searched: SearchedDocuments, chosen: Column) -> Column:
    """1 where the document speaks of its speaker."""
    return holds_any(searched, _FIRST_PERSON, chosen)


def holds_any(searched: SearchedDocuments, terms: list[str], chosen: Column) -> Column:
    """1 where the document holds one of the terms."""
    is_held = np.zeros(len(chosen), bool)
    for term in terms:
        documents = searched.find(term).documents
        if len(documents):
            indices = np.minimum(np.searchsorted(documents, chosen), len(documents) - 1)
            is_held |= documents[indices] == chosen
    return is_held.astype("f8")
