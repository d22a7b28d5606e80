"""What checks found, in sentences: for the chat, /status and `doctor`."""

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from foundation.clock import from_ms
from foundation.figures import counted
from foundation.paths import Workspace
from foundation.program import PROGRAM
from memory.records import IntegrityProblem
from memory.upkeep.state import MOST_FAULTS, SampleRecord, UpkeepState, change_state

REPAIR: Final = f"`{PROGRAM} check` says more, `{PROGRAM} check --repair` mends what can be mended."


def fault_words(problem: IntegrityProblem) -> str:
    """One fault: what, where, why."""
    return f"{problem.what} {problem.where}: {problem.message}"


def faults_sentence(faults: Sequence[str]) -> str:
    """The faults that checks found; "" where there are none."""
    if not faults:
        return ""
    more = len(faults) - 1
    others = f" And {counted(more, 'more fault')}." if more else ""
    return f"What is stored is damaged: {faults[0].rstrip('.')}.{others}"


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
