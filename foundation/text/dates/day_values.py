"""Days as values that an index can hold: `2025-03-14`, `2025-03`, `2025`.

An entry has the values of the dates that it speaks of, each with the month and the year around it; a query looks up the
largest ones that its days consist of. “Last March”, said in December 2025, gives 2025-03 and 2025.
"""

from collections.abc import Iterable
from datetime import date, datetime, timedelta, tzinfo

from foundation.text.dates.calendar import FIRST, LAST, Days, months
from foundation.text.dates.spans import DateSpan, entry_spans

_MOST_BLOCKS = 40  # values of one date of an entry: of more days that are no whole months, the months are enough
_FAR = timedelta(days=365 * 60)  # from today: as far as an open end of a question reaches


def entry_day_values(text: str, at: datetime, zone: tzinfo | None = None) -> frozenset[str]:
    """The values of the dates that an entry of that moment speaks of. A date with an open end has none."""
    values = set[str]()
    for span in entry_spans(text, at, zone):
        if FIRST not in (span.start, span.end) and LAST not in (span.start, span.end):
            blocks = span_values(span.start, span.end)
            parts = {value[:length] for value in blocks for length in (4, 7)}
            values |= parts if len(blocks) > _MOST_BLOCKS else parts.union(blocks)
    return frozenset(values)


def question_day_values(spans: Iterable[DateSpan], today: date) -> frozenset[str]:
    """The values of which an entry needs one, to speak of a day within the spans."""
    return frozenset(
        value for span in spans for value in span_values(max(span.start, today - _FAR), min(span.end, today + _FAR))
    )


def span_values(start: date, end: date) -> tuple[str, ...]:
    """The whole years, the whole months and the days of which the days from `start` to before `end` consist."""
    values: list[str] = []
    while start < end:
        for written, block in _blocks(start):
            if block and block[0] == start and block[1] <= end:
                values.append(written)
                start = block[1]
                break
    return tuple(values)


def _blocks(first: date) -> tuple[tuple[str, Days | None], ...]:
    day = first.isoformat()
    return (
        (day[:4], months(first.year, 1, 12)),
        (day[:7], months(first.year, first.month)),
        (day, (first, first + timedelta(days=1))),
    )
