"""What a run without a screen may do, and how it ends."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from agent.permissions.mode import PermissionMode
from agent.permissions.rules import Rule
from agent.spending.budget import RunLimits

TEXT, JSON, STREAM_JSON = "text", "json", "stream-json"


class HeadlessOptions(Struct, frozen=True, kw_only=True):
    """The flags of `-p`. `seconds` is the most time of the whole run; `over_cap` goes on past the caps of a day."""

    form: str = TEXT
    driven: bool = False  # standard input holds a JSON line for each message and answer
    knowledge: bool = False
    mode: PermissionMode | None = None
    rules: tuple[Rule, ...] = ()
    limits: RunLimits = RunLimits()
    seconds: float | None = None
    over_cap: bool = False


class Ending(StrEnum):
    """How a turn ended."""

    ANSWERED = "answered"
    EMPTY = "empty"
    FAILED = "failed"
    DENIED = "denied"
    LIMIT = "limit"
    STOPPED = "stopped"


INTERRUPTED: Final = 130
EXIT_STATUS: Final = {
    Ending.ANSWERED: 0,
    Ending.EMPTY: 1,
    Ending.FAILED: 1,
    Ending.DENIED: 3,
    Ending.LIMIT: 4,
    Ending.STOPPED: INTERRUPTED,
}
SIGNALS: Final = 128  # added to the number of the signal that ended a run
