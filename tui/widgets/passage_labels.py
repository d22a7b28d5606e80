"""Labels that every list of passages shares: the colour of a trust level, the time of a passage."""

from datetime import datetime
from typing import Final

from foundation.clock import iso
from foundation.trust import Trust

TRUST_COLOURS: Final = {Trust.EXACT: "good-ink", Trust.VERIFIED: "good-ink", Trust.APPROXIMATE: "warning-ink"}
"""A variable of the theme for each trust level."""


def minute(time: datetime | None) -> str:
    """`2026-03-14 09:26`; "" where the time is unknown."""
    return iso(time)[:16].replace("T", " ") if time else ""


def day(time: datetime | None) -> str:
    """`2026-03-14`; "" where the time is unknown."""
    return iso(time)[:10] if time else ""
