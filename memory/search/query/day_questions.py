"""A question of days and of nothing else: `last March`, `what did we talk about two weeks ago?`, 上个月说了什么.

No answer holds its words: what was said on those days is the answer. A greeting of the day is no such question where a
message is taken as it stands, so for those the days must be over.
"""

from datetime import datetime, timedelta

from msgspec.structs import replace

from foundation.text.analysis import words
from foundation.text.dates.calendar import FIRST, LAST
from foundation.text.dates.spans import DateSpan, bounds, local_day, spans
from foundation.text.stopwords import is_weak
from memory.search.query.query import Query

_LONGEST = 120  # characters: who writes more asks for more
_OF_ANYTHING = frozenset(
    words("happen happened discuss discussed speak spoke chat chatted write wrote do new news", "")
) | frozenset(("发生", "生了", "聊天", "聊到", "聊聊", "谈论", "讨论", "谈到", "说到", "提到", "事情", "做过", "做什"))


def days_alone(query: Query, now: datetime) -> tuple[Query, ...]:
    """The queries for what was said on those days, to be tried in turn: as they were named, then with the days around
    them that may be meant. None where the question asks for something else too."""
    wording = query.wording
    if len(wording.question) > _LONGEST or wording.phrases or wording.without or query.exact or query.threshold:
        return ()
    span = _only(wording.question, now)
    if span is None or (query.as_it_stands and span.end > local_day(now, None)):
        return ()
    named = _within(query, span)
    if not span.soft or FIRST in (span.start, span.end) or LAST in (span.start, span.end):
        return (named,)
    soft = timedelta(days=span.soft)
    return named, _within(query, replace(span, start=span.start - soft, end=span.end + soft))


def _only(text: str, now: datetime) -> DateSpan | None:
    """The one span that the text names, where its other words say nothing."""
    found = spans(text, now)
    if len(found) != 1:
        return None
    rest = f"{text[: found[0].at]} {text[found[0].to :]}"
    return found[0] if all(is_weak(term) or term in _OF_ANYTHING for term in words(rest, "")) else None


def _within(query: Query, span: DateSpan) -> Query:
    start, end = bounds(span)
    return replace(
        query,
        since=max(query.since, start) if query.since else start,
        until=min(query.until, end) if query.until else end,
    )
