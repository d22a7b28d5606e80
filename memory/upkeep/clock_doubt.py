"""Whether the clock may be far ahead: what archives or deletes by age compares it with the times of what is stored."""

from datetime import datetime, timedelta
from typing import Final

from memory.memory import Memory

JUMP: Final = timedelta(days=30)
"""A clock that is further past the last known time than this is doubted."""

_TODAY: Final = timedelta(days=1)  # what is newer may have been stored under the clock in doubt


def last_stored_earlier(memory: Memory, now: datetime) -> datetime | None:
    """When a conversation was last written to earlier than today; None for never. Blocks."""
    return memory.conversations.last_touched(now - _TODAY)


def is_plausible(known: datetime | None, now: datetime) -> bool:
    """Whether the clock is not far past a time that is known. Where none is known, it is doubted."""
    return known is not None and now - known <= JUMP
