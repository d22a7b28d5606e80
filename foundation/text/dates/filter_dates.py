"""Moments as a person types them for a filter."""

import calendar
import re
from datetime import UTC, datetime, timedelta, tzinfo

from foundation.errors import Misuse

_AGO = re.compile(r"(\d{1,12})\s*(h|d|w|m|y|hours?|days?|weeks?|months?|years?)(?:\s+ago)?")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30, "y": 24 * 365}
_CALENDAR = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


def parse_moment(text: str, now: datetime, *, end: bool = False, zone: tzinfo | None = None) -> datetime:
    """What a person types for `--since` and `--until`, aware, in UTC.

    `2026`, `2026-03`, `2026-03-01`, `2026-03-01T09:00`, `30d`, `2w`, `today`, and words: `last March`, `two weeks ago`,
    去年三月. With `end`, a day, month or year is meant to its end. Days are the person's own: `zone`, or the machine's.
    Raises Misuse.
    """
    phrase = text.strip().casefold()
    if phrase == "now":
        return now.astimezone(UTC)
    if ago := _AGO.fullmatch(phrase):
        return _ago(text, now, int(ago[1]) * _HOURS[ago[2][0]])
    if match := _CALENDAR.fullmatch(phrase):
        return _utc(_calendar(phrase, match, zone, end=end), text)
    try:
        given = datetime.fromisoformat(text.strip())
    except ValueError as error:
        from foundation.text.dates.spans import parse_span, span_bounds  # dozens of patterns, for words alone

        if span := parse_span(text, now, zone):
            return span_bounds(span, zone)[end]
        raise _no_date(text) from error
    return _utc(given if given.tzinfo else given.replace(tzinfo=zone), text)


def _ago(text: str, now: datetime, hours: int) -> datetime:
    try:
        return (now - timedelta(hours=hours)).astimezone(UTC)
    except OverflowError as error:
        raise _no_date(text) from error


def _calendar(phrase: str, match: re.Match[str], zone: tzinfo | None, *, end: bool) -> datetime:
    """The first moment of a year, month or day, or with `end` the first after it."""
    year, month, day = (int(part) if part else 0 for part in match.groups())
    try:
        start = datetime(year, month or 1, day or 1, tzinfo=zone)
        days = 1 if day else calendar.monthrange(year, month)[1] if month else 366 if calendar.isleap(year) else 365
        return start + timedelta(days=days) if end else start
    except (ValueError, OverflowError) as error:
        raise _no_date(phrase) from error


def _utc(given: datetime, text: str) -> datetime:
    try:
        return given.astimezone(UTC)
    except (ValueError, OverflowError) as error:  # before the year 1 or after 9999 in UTC
        raise _no_date(text) from error


def _no_date(text: str) -> Misuse:
    return Misuse(
        "No such date",
        f"“{text}” is not a date.",
        "Write 2026-03-01, 2026-03, 30d, yesterday, last March, two weeks ago.",
    )
