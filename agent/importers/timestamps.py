"""Parser of the time formats of other programs."""

import math
from datetime import UTC, datetime
from typing import Any

FORMATS = ("%I:%M %p on %d %B, %Y", "%d %B %Y %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d")
MAX_SECONDS = 1e18
MIN_MILLISECONDS = 1e11
"""Larger numbers are milliseconds: seconds since 1970 reach this in the year 5138."""


def parse_time(value: Any) -> datetime | None:
    """Parses ISO 8601, seconds or milliseconds since 1970, or a common format; None for anything else.

    A time without a zone is UTC, so that a file gives the same on every machine.
    """
    match value:
        case bool() | None:
            return None
        case int() | float():
            return _since_1970(float(value)) if abs(value) < MAX_SECONDS else None
        case str():
            return _parse_text(value.strip())
        case _:
            return None


def _since_1970(seconds: float) -> datetime | None:
    if not math.isfinite(seconds):
        return None
    if abs(seconds) >= MIN_MILLISECONDS:
        seconds /= 1000
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _parse_text(text: str) -> datetime | None:
    try:
        return _in_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):  # OverflowError: before the year 1 or after 9999 in UTC
        pass
    for form in FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        return _since_1970(float(text)) if text.replace(".", "", 1).isdigit() and len(text) >= 9 else None
    except ValueError:
        return None


def _in_utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
