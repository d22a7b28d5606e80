"""What checks found, in sentences: for the chat, /status and `doctor`."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import structs

from foundation.clock import from_ms
from foundation.figures import counted
from foundation.paths import Workspace
from foundation.program import PROGRAM
from memory.records import IntegrityProblem
from memory.upkeep.state import MOST_FAULTS, SampleRecord, UpkeepState, change_state

REPAIR: Final = f"`{PROGRAM} check` shows details, `{PROGRAM} check --repair` repairs what can be repaired."


_OWN: Final = re.compile(r"(e|c|pg)_[0-9a-z]{12}|[0-9]+|[0-9A-Za-z_-]+\.(pages|manifest|parity)")
"""Names that this program makes. Any other may be a text: an imported id, a label."""

_NAMED: Final = 3  # faults that a sentence names


def fault_words(problem: IntegrityProblem) -> str:
    """What is damaged, without a word of what is stored: `entry e_4kx7m2p0q9ab`, `a label`."""
    what = "entry" if problem.what == "text" else problem.what
    return f"{what} {problem.where}" if _OWN.fullmatch(problem.where) else f"a{'n' * (what[0] in 'aeiou')} {what}"


def faults_sentence(faults: Sequence[str]) -> str:
    """The faults that checks found; "" where there are none."""
    if not faults:
        return ""
    more = len(faults) - _NAMED
    others = f" and {more:,} more" if more > 0 else ""
    return f"Stored data is damaged: {', '.join(faults[:_NAMED])}{others}."


def integrity_sentence(state: UpkeepState) -> str:
    """What the last checks found, with their days; "" before the first one."""
    if state.faults:
        return f"{faults_sentence(state.faults)} {REPAIR}"
    checks = [
        *([f"a full check on {_day(state.checked_ms)}"] if state.checked_ms else []),
        *([_sample_words(state.sample)] if state.sample else []),
    ]
    return f"{'; '.join(checks)}: no damage found" if checks else ""


def record_full_check(workspace: Workspace, problems: Sequence[IntegrityProblem], now_ms: int) -> None:
    """Notes what a full check found: earlier faults are forgotten. Raises OSError."""
    faults = tuple(dict.fromkeys(map(fault_words, problems)))[:MOST_FAULTS]
    change_state(workspace, lambda state: structs.replace(state, checked_ms=now_ms, faults=faults))


def _sample_words(sample: SampleRecord) -> str:
    entries = f"{sample.entries:,} entr{'y' if sample.entries == 1 else 'ies'}"
    parts = ", ".join([entries, counted(sample.packs, "pack"), counted(sample.versions, "version")])
    return f"a sample of {parts} on {_day(sample.time_ms)}"


def _day(time_ms: int) -> str:
    return f"{from_ms(time_ms).astimezone():%Y-%m-%d}"
