"""The dates that a text speaks of, as far as they were said: a year, a month, a day."""

import re

from msgspec import Struct

from foundation.text.dates.calendar import MONTH_NAMES

_MONTH = r"(?P<month>" + "|".join(f"{name}|{name[:3]}\\.?" for name in MONTH_NAMES) + r"|sept\.?)"
_WAYS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<year>\d{4})-(?P<number>\d{1,2})(?:-(?P<day>\d{1,2}))?\b",
        r"(?P<year>\d{4})\s{0,2}年(?:\s{0,2}(?P<number>\d{1,2})\s{0,2}月(?:\s{0,2}(?P<day>\d{1,2})\s{0,2}[日号號])?)?",
        r"(?P<number>\d{1,2})\s{0,2}月(?:\s{0,2}(?P<day>\d{1,2})\s{0,2}[日号號])?",
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH}(?![a-z])(?:,?\s+(?P<year>\d{{4}}))?",
        rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<year>\d{{4}}))?",
        rf"\b{_MONTH}(?![a-z]),?\s+(?P<year>\d{{4}})\b",
        rf"\b(?:in|of|since|during|last|this|by|early|late|mid)[\s-]+{_MONTH}(?![a-z])",
        r"\b(?:in|since|during|by)\s+(?P<year>(?:19|20)\d{2})\b",
    )
]


class Period(Struct, frozen=True):
    """A year, month or day, as far as it was said."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


class DateMention(Struct, frozen=True):
    """A date in a text, and where it stands."""

    period: Period
    start: int
    end: int


def periods(text: str) -> tuple[DateMention, ...]:
    """The dates that a text speaks of, with or without a year. `spans` resolves those that need today's date."""
    found: list[DateMention] = []
    taken = bytearray(len(text))
    for way in _WAYS:
        for match in way.finditer(text):
            start, end = match.span()
            if any(taken[start:end]) or not (period := _period(match.groupdict())):
                continue
            taken[start:end] = b"\1" * (end - start)
            found.append(DateMention(period, start, end))
    return tuple(found)


def _period(groups: dict[str, str | None]) -> Period | None:
    year, number, day = (int(groups.get(name) or 0) for name in ("year", "number", "day"))
    name = (groups.get("month") or "").lower()[:3]
    month = number or next((place for place, full in enumerate(MONTH_NAMES, 1) if name and full.startswith(name)), 0)
    if month > 12 or day > 31 or not (year or month):
        return None
    return Period(year or None, month or None, day or None)
