"""The failure of a turn: as its last event, and out of its tasks."""

import asyncio
import errno
from typing import Final

from agent import events
from agent.turn.storage_notices import AnswerNotStored
from foundation.errors import PalimpsestError
from memory.errors import StoreFull

_LATER: Final = "Free some space and keep the program open: the answer is then stored. /retry tries again."
_NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


def turn_failure(error: PalimpsestError | OSError, *, is_message_stored: bool) -> events.TurnFailed:
    """The event for an error that ended the turn. On a full disk it says whether the message is kept."""
    is_full = isinstance(error, StoreFull) or (isinstance(error, OSError) and error.errno in _NO_SPACE)
    if is_full and is_message_stored:
        where = f" at {error.filename}" if isinstance(error, OSError) and error.filename else ""
        return events.TurnFailed(
            StoreFull.code,
            "No space is left",
            f"The disk is full{where}: your message is saved, but the answer is missing or incomplete.",
            _LATER if isinstance(error, AnswerNotStored) else "Free some space, then /retry tries again.",
        )
    if isinstance(error, PalimpsestError):
        return events.TurnFailed(error.code, error.title, error.message, error.hint)
    return events.TurnFailed(
        "disk",
        "Disk error",
        f"{error.strerror or error}: {error.filename or 'the store'}.",
        "Data stored before is safe. Free some space or check the folder's permissions, then send it again.",
    )


def reason_of(error: PalimpsestError | OSError) -> str:
    """The error as a sentence."""
    return error.message if isinstance(error, PalimpsestError) else f"{error.strerror or error}."


async def ended(task: asyncio.Task[None]) -> None:
    """Waits for the end of the task, and raises its error. A cancelled task raises nothing."""
    await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()):
        raise error
