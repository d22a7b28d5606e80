"""A date within a text, before it is known which year, or what part of it, is meant."""

from collections.abc import Callable
from datetime import date
from typing import NamedTuple

from foundation.text.dates.calendar import LAST, Days, OfYear


class PartialDate(NamedTuple):
    """Either `days`, or what recurs each year (`of`). `needs`: it is a date only beside a word that says so (`May`)."""

    days: Days | None = None
    of: OfYear | None = None
    soft: int = 0  # days around it that may be meant as well
    needs: bool = False


class DateMatch(NamedTuple):
    """A partial date and its span in the text."""

    part: PartialDate
    at: int
    to: int


YearChooser = Callable[[OfYear, date], Days | None]
"""Which one of what recurs is meant, as seen from a day."""


def _around(of: OfYear, today: date) -> list[Days]:
    candidates = [of(year) for year in range(today.year - 2, today.year + 3) if 1 <= year <= LAST.year]
    return [days for days in candidates if days]


def latest(of: OfYear, today: date) -> Days | None:
    """The one that has begun last."""
    return max((days for days in _around(of, today) if days[0] <= today), default=None)


def last(of: OfYear, today: date) -> Days | None:
    """The one that has ended last."""
    return max((days for days in _around(of, today) if days[1] <= today), default=None)


def this(of: OfYear, today: date) -> Days | None:
    """That of this year, which for a winter is the one that is, or that comes."""
    holding = [days for days in _around(of, today) if days[0] <= today < days[1]]
    return holding[0] if holding else of(today.year)


def coming(of: OfYear, today: date) -> Days | None:
    """The first that is still to begin."""
    return min((days for days in _around(of, today) if days[0] > today), default=None)


def nearest(of: OfYear, today: date) -> Days | None:
    """The one that begins least far from the day."""
    return min(_around(of, today), key=lambda days: abs((days[0] - today).days), default=None)


WHICH: dict[str, YearChooser] = {
    "last": last,
    "past": last,
    "previous": last,
    "this": this,
    "next": coming,
    "coming": coming,
}


def resolve_partial(part: PartialDate, today: date, which: YearChooser = latest) -> Days | None:
    """Its days."""
    return part.days or (which(part.of, today) if part.of else None)
