"""Times as other programs write them."""

import math
from datetime import UTC, datetime
from typing import Any

FORMATS = ("%I:%M %p on %d %B, %Y", "%d %B %Y %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d")
FARTHEST = 1e18
MILLISECONDS_FROM = 1e11
"""Seconds since 1970 pass this in the year 5138; what is larger counts milliseconds."""


def moment(value: Any) -> datetime | None:
    """ISO 8601, seconds or milliseconds since 1970, or a common form; None where it is none of these.

    A time without a zone is taken as UTC, so that a file gives the same on every machine.
    """
    match value:
        case bool() | None:
            return None
        case int() | float():
            return _since_1970(float(value)) if abs(value) < FARTHEST else None
        case str():
            return _in_words(value.strip())
        case _:
            return None


def _since_1970(seconds: float) -> datetime | None:
    if not math.isfinite(seconds):
        return None
    if abs(seconds) >= MILLISECONDS_FROM:
        seconds /= 1000
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _in_words(words: str) -> datetime | None:
    try:
        return _aware(datetime.fromisoformat(words))
    except (ValueError, OverflowError):  # OverflowError: in UTC it would be before the year 1 or after 9999
        pass
    for form in FORMATS:
        try:
            return datetime.strptime(words, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        return _since_1970(float(words)) if words.replace(".", "", 1).isdigit() and len(words) >= 9 else None
    except ValueError:
        return None


def _aware(found: datetime) -> datetime:
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
