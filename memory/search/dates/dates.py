"""Dates: those that a question speaks of, and those that a person types for a filter."""

import calendar
import re
from datetime import UTC, datetime, timedelta, tzinfo

from msgspec import Struct

from foundation.errors import Misuse

_MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
_MONTH = r"(?P<month>" + "|".join(f"{name}|{name[:3]}\\.?" for name in _MONTHS) + r"|sept\.?)"
_WAYS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<year>\d{4})-(?P<number>\d{1,2})(?:-(?P<day>\d{1,2}))?\b",
        r"(?P<year>\d{4})\s*年(?:\s*(?P<number>\d{1,2})\s*月(?:\s*(?P<day>\d{1,2})\s*[日号])?)?",
        r"(?P<number>\d{1,2})\s*月(?:\s*(?P<day>\d{1,2})\s*[日号])?",
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH}(?![a-z])(?:,?\s+(?P<year>\d{{4}}))?",
        rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<year>\d{{4}}))?",
        rf"\b{_MONTH}(?![a-z]),?\s+(?P<year>\d{{4}})\b",
        rf"\b(?:in|of|since|during|last|this|by|early|late|mid)[\s-]+{_MONTH}(?![a-z])",
        r"\b(?:in|since|during|by)\s+(?P<year>(?:19|20)\d{2})\b",
    )
]
_AGO = re.compile(r"(\d+)\s*(h|d|w|m|y|hours?|days?|weeks?|months?|years?)(?:\s+ago)?")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30, "y": 24 * 365}
_CALENDAR = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_DAYS_BACK = {"today": 0, "yesterday": 1, "今天": 0, "昨天": 1, "前天": 2}


class Period(Struct, frozen=True):
    """A year, month or day, as far as it was said."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


class Dated(Struct, frozen=True):
    """A date in a text, and where it stands."""

    period: Period
    start: int
    end: int


def periods(text: str) -> tuple[Dated, ...]:
    """The dates that a text speaks of."""
    found: list[Dated] = []
    for way in _WAYS:
        for match in way.finditer(text):
            if any(match.start() < other.end and other.start < match.end() for other in found):
                continue
            if period := _period(match.groupdict()):
                found.append(Dated(period, *match.span()))
    return tuple(found)


def _period(groups: dict[str, str | None]) -> Period | None:
    year, number, day = (int(groups.get(name) or 0) for name in ("year", "number", "day"))
    name = (groups.get("month") or "").lower()[:3]
    month = number or next((place for place, full in enumerate(_MONTHS, 1) if name and full.startswith(name)), 0)
    if month > 12 or day > 31 or not (year or month):
        return None
    return Period(year or None, month or None, day or None)


def moment(text: str, now: datetime, *, end: bool = False, zone: tzinfo | None = None) -> datetime:
    """What a person types for `--since` and `--until`, aware, in UTC.

    `2026`, `2026-03`, `2026-03-01`, `2026-03-01T09:00`, `30d`, `2w`, `today`, `yesterday`. With `end`, a day, month or
    year is meant to its end. Days are the person's own: `zone`, or the machine's. Raises Misuse.
    """
    said = text.strip().casefold()
    local = now.astimezone(zone) if zone else now.astimezone().replace(tzinfo=None)  # naive: the machine's own zone
    if said == "now":
        return now.astimezone(UTC)
    if said in _DAYS_BACK:
        day = local.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=_DAYS_BACK[said])
        return _utc(day + timedelta(days=1) if end else day)
    if ago := _AGO.fullmatch(said):
        return _ago(text, now, int(ago[1]) * _HOURS[ago[2][0]])
    if found := _CALENDAR.fullmatch(said):
        return _utc(_calendar(said, found, zone, end=end))
    try:
        given = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise _no_date(text) from error
    return _utc(given if given.tzinfo else given.replace(tzinfo=zone))


def _ago(text: str, now: datetime, hours: int) -> datetime:
    try:
        return (now - timedelta(hours=hours)).astimezone(UTC)
    except OverflowError as error:
        raise _no_date(text) from error


def _calendar(said: str, found: re.Match[str], zone: tzinfo | None, *, end: bool) -> datetime:
    """The first moment of a year, month or day, or with `end` the first after it."""
    year, month, day = (int(part) if part else 0 for part in found.groups())
    try:
        start = datetime(year, month or 1, day or 1, tzinfo=zone)
        days = 1 if day else calendar.monthrange(year, month)[1] if month else 366 if calendar.isleap(year) else 365
        return start + timedelta(days=days) if end else start
    except (ValueError, OverflowError) as error:
        raise _no_date(said) from error


def _utc(given: datetime) -> datetime:
    return given.astimezone(UTC)


def _no_date(text: str) -> Misuse:
    return Misuse("No such date", f"“{text}” is no date.", "Write 2026-03-01, 2026-03, 30d, 2w, today or yesterday.")
