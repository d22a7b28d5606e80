"""Timelines: entries around a moment, an entry, a page or a note, or in the conversation of the best hit, by time.

Date-only questions: `last March`, `what did we talk about two weeks ago?`, 上个月说了什么. No answer holds their words:
the entries of those days are the answer. A greeting of the day is no such question where a message is searched as it
stands, so there the days must be over.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from foundation.clock import to_ms
from foundation.errors import Misuse
from foundation.text.analysis import term_list
from foundation.text.dates.spans import DateSpan, local_day, question_spans, widened
from foundation.text.stopwords import is_weak
from memory.archive.rows.pages import first_entry, page_rows
from memory.cold import ColdStore
from memory.cold.entries import ambiguous_id
from memory.errors import AmbiguousReference, NotFound
from memory.hot import Note
from memory.pages.types import ArchiveRow
from memory.records import Entry
from memory.references import PageId, References
from memory.search.column import Column
from memory.search.query.query import Hit, Query
from memory.search.ranking.retrieve import NewestHits, SearchSource

_NEAR = timedelta(days=7)
_FIRST = int(timedelta(hours=1) / timedelta(milliseconds=1))
_WIDER = 16  # times as wide at each step: a few steps cover a store of any age


class TimelineAnchor(Struct, frozen=True):
    """A moment, in milliseconds since 1970; where the timeline is around an item, the number of its source, and its key
    there."""

    ms: int
    source: int = -1
    key: int = -1


def best_of(query: Query) -> Query:
    """The query whose first hit the timeline is around."""
    return replace(query, around=None, limit=1, page=1, newest=False)


def neighbours_query(query: Query) -> Query:
    """The query for the neighbours of an anchor: without the text and tags that found the anchor."""
    bare = {"text": "", "exact": False, "trust": None, "threshold": 0.0}
    marks = dict.fromkeys(("types", "concepts", "files", "entities"), ()) if query.text.strip() else {}
    return replace(query, limit=query.before + query.after + 1, page=1, each=0, **bare, **marks)


def near_moment(query: Query, moment: datetime) -> Query:
    """The query, limited to a week before and after a moment."""
    since, until = moment - _NEAR, moment + _NEAR
    return replace(
        query,
        around=None,
        since=max(query.since, since) if query.since else since,
        until=min(query.until, until) if query.until else until,
    )


def timeline(sources: tuple[SearchSource, ...], anchor: TimelineAnchor, before: int, after: int) -> NewestHits:
    """The last `before` items before the anchor, the anchor itself, and the first `after` after it; oldest first."""
    columns = [_columns(number, source) for number, source in enumerate(sources)]
    times, source_numbers, keys = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    width = _FIRST
    while True:
        near = np.flatnonzero(np.abs(times - anchor.ms) <= width)
        earlier = int(np.count_nonzero(times[near] < anchor.ms))
        if len(near) == len(times) or (earlier > before and len(near) - earlier > after + 1):
            break
        width *= _WIDER
    order = near[np.lexsort((keys[near], source_numbers[near], times[near]))]
    index = _anchor_index(times[order], source_numbers[order], keys[order], anchor)
    has_anchor = int(anchor.key >= 0 and index < len(order) and keys[order[index]] == anchor.key)
    chosen = order[max(0, index - before) : index + has_anchor + after]
    return NewestHits(source_numbers[chosen], keys[chosen])


def _columns(number: int, source: SearchSource) -> tuple[Column, Column, Column]:
    """Time, source number and key of each document that passes the filter and has a time."""
    documents = source.collection.documents
    rows = np.flatnonzero(documents["time"] > 0)
    rows = rows[source.allowed(documents, rows)]
    return documents["time"][rows], np.full(len(rows), number), documents["entry"][rows]


def _anchor_index(times: Column, source_numbers: Column, keys: Column, anchor: TimelineAnchor) -> int:
    """Index of the anchor among them, or the index where it would be inserted."""
    if anchor.key >= 0:
        matches = np.flatnonzero((source_numbers == anchor.source) & (keys == anchor.key))
        if len(matches):
            return int(matches[0])
        return int(np.count_nonzero((times < anchor.ms) | ((times == anchor.ms) & (keys < anchor.key))))
    return int(np.count_nonzero(times < anchor.ms))


def by_conversation(hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Regroups hits that are newest first: one conversation after the other, each in order of time."""
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.conversation, []).insert(0, hit)
    return tuple(hit for group in groups.values() for hit in group)


ENTRIES, NOTES = 0, 1
"""Numbers of the sources."""


def resolve_anchor(around: datetime | str, references: References, cold: ColdStore) -> datetime | Entry | Note:
    """What the timeline is around. Of a page or an archive it is the first entry, of an archive of no entry its time.

    Raises NotFound for a reference to nothing, AmbiguousReference for an id that several entries have.
    """
    if isinstance(around, datetime):
        return around
    try:
        targets = references.find(around)
    except AmbiguousReference:
        raise
    except NotFound as error:
        raise _unknown_anchor(around) from error
    if len(entries := [target for target in targets if isinstance(target, Entry)]) > 1:
        raise ambiguous_id(around, entries)
    match targets:
        case (Entry() | Note() as target, *_):
            return target
        case (PageId(id=page), *_):
            entry = cold.read(lambda db: first_entry(db, page))
        case (ArchiveRow(seq=archive, created=created), *_):
            entry = cold.read(lambda db: first_entry(db, page_rows(db, archive)[0].id))
            if entry is None:
                return created
        case _:
            entry = None
    if entry is None:
        raise _unknown_anchor(around)
    return cold.entry(entry)


def moment_of(target: datetime | Entry | Note) -> datetime:
    """The time of an anchor. Raises Misuse for a note without a time."""
    if isinstance(target, datetime):
        return target
    if target.time is None:
        raise Misuse("No moment", f"The note {target.id} has no date.", "Search around a time instead.")
    return target.time


def timeline_anchor(target: datetime | Entry | Note, notes: Sequence[Note]) -> TimelineAnchor:
    """The anchor among the entries of the store and these notes. Raises Misuse for a note without a time."""
    ms = to_ms(moment_of(target))
    match target:
        case Entry():
            return TimelineAnchor(ms, ENTRIES, target.seq)
        case Note():
            return TimelineAnchor(ms, NOTES, next((n for n, note in enumerate(notes) if note.id == target.id), -1))
        case datetime():
            return TimelineAnchor(ms)


def _unknown_anchor(around: str) -> NotFound:
    return NotFound(
        "Around what?",
        f"“{around}” is not a time, an id of an entry, page or note, or an archive label.",
        "--around takes 2026-03-01, 2w, best, or a reference as for `recall`: an id, MEMORY.md:3, #3, an "
        "archive label.",
    )


_LONGEST = 120  # characters: a longer text asks for more than a date
_OF_ANYTHING = frozenset(
    term_list("happen happened discuss discussed speak spoke chat chatted write wrote do new news", "")
) | frozenset(
    ("发生", "生了", "聊天", "聊到", "聊聊", "谈论", "讨论", "谈到", "说到", "提到", "事情", "大事", "做过", "做什")
)


def date_only_spans(query: Query, now: datetime) -> tuple[DateSpan, ...]:
    """The days of a question that asks for nothing else, to be tried in turn: as named, then with the days around them
    that may be meant."""
    wording = query.wording
    if len(wording.question) > _LONGEST or wording.phrases or wording.without or query.exact or query.threshold:
        return ()
    span = _single_span(wording.question, now)
    if span is None or (query.as_it_stands and span.end > local_day(now, None)):
        return ()
    return (span, widened(span)) if span.soft else (span,)


def _single_span(text: str, now: datetime) -> DateSpan | None:
    """The single date span of a text whose other words are stop words."""
    date_spans = question_spans(text, now)
    if len(date_spans) != 1:
        return None
    rest = f"{text[: date_spans[0].at]} {text[date_spans[0].to :]}"
    return date_spans[0] if all(is_weak(term) or term in _OF_ANYTHING for term in term_list(rest, "")) else None
