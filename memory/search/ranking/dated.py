"""Restriction of a ranking to the dates that the question names.

An entry is of a date where it was written then, or where it speaks of it (`=day:` tags, dates/day_values.py). Tried in
turn: entries of exactly these days (`a month ago` is no exact day), entries of the days around them that may be meant,
too, and entries of any day, of which a bonus raises those of the date. Where none of these is about the question, any
of its words select entries of the days.
"""

from collections.abc import Callable

from msgspec.structs import replace

from foundation.clock import to_ms
from foundation.text.dates.spans import DateSpan, span_bounds, widened
from memory.search.column import Column
from memory.search.index.documents import Documents
from memory.search.ranking.bonuses import holds_any
from memory.search.ranking.question import Question
from memory.search.ranking.retrieve import RankedHits, SearchSource

FindHits = Callable[[Question, tuple[SearchSource, ...]], RankedHits]


def find_dated(question: Question, sources: tuple[SearchSource, ...], find: FindHits) -> RankedHits:
    """The hits of `find` among the entries of the days that the question names, where there are any."""
    if not question.dates or not question.uses("dates"):
        return find(question, sources)
    for dates in (tuple(map(_meant, question.dates)), tuple(map(widened, question.dates))):
        if len(hits := find(question, of_days(sources, question, dates))):
            return replace(hits, is_dated=True)
    if len(hits := find(question, sources)):
        return hits
    undated = tuple(replace(term, weak=False) for term in question.terms if not term.dated)
    return find(replace(question, terms=undated), of_days(sources, question, question.dates))


def _meant(span: DateSpan) -> DateSpan:
    """The span, with the days around it where they are more than its own."""
    return widened(span) if span.soft > span.days else span


def of_days(
    sources: tuple[SearchSource, ...], question: Question, dates: tuple[DateSpan, ...]
) -> tuple[SearchSource, ...]:
    """The sources, limited to entries that were written within the dates or speak of them."""
    bounds = [tuple(map(to_ms, span_bounds(span))) for span in dates]
    tags = sorted(question.day_tags(dates))

    def restricted(source: SearchSource) -> SearchSource:
        def allowed(documents: Documents, rows: Column) -> Column:
            times = documents["time"][rows]
            is_of_days = holds_any(source.collection, tags, rows) > 0
            for start, end in bounds:
                is_of_days |= (times >= start) & (times < end)
            return is_of_days & source.allowed(documents, rows)

        return replace(source, allowed=allowed)

    return tuple(map(restricted, sources))
