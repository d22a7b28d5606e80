"""What upkeep did in a workspace, and when: `upkeep.json`, changed under a lock, read without one.

A file that cannot be read counts as none: the next sampled check begins anew, and nothing is proposed twice a day.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct, structs

from foundation.files import FileLock, make_private_folder, read_bytes, write_atomically
from foundation.paths import Workspace
from foundation.typed_json import decode_json

_FILE: Final = "upkeep.json"
_LOCK: Final = "upkeep.lock"
_MOST: Final = 2**24  # bytes
_LOCK_S: Final = 5.0
MOST_RUNS: Final = 5
MOST_FAULTS: Final = 20
MOST_UNSHOWN: Final = 20


Seq = Annotated[int, Meta(ge=0, le=2**62)]


class Round(Struct, frozen=True):
    """A pass over all items of a kind in random order, which a `seed` makes; items up to `position` are done."""

    seed: str = ""
    position: str = ""


class SampleRecord(Struct, frozen=True, kw_only=True):
    """A sampled check: when, how much of each kind was read, and the faults that it found, in sentences."""

    time_ms: int
    entries: int = 0
    packs: int = 0
    versions: int = 0
    bytes: int = 0
    seconds: float = 0.0


class ArchivedEntries(Struct, frozen=True):
    """What was archived of one conversation: first and last seqs of ranges of its entries, and the archives (seqs)."""

    ranges: tuple[tuple[Seq, Seq], ...]
    archives: tuple[Seq, ...]


class ArchivingRun(Struct, frozen=True, kw_only=True):
    """Conversations that were archived by rules or from a proposal, with what is needed to take it back."""

    id: str
    time_ms: int
    conversations: int
    entries: int
    pages: int
    archived: tuple[ArchivedEntries, ...]
    cause: str  # "a rule", "your consent"
    undone: bool = False


def ranges_of(seqs: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """First and last of each run of consecutive numbers."""
    ranges: list[tuple[int, int]] = []
    for seq in sorted(seqs):
        if ranges and ranges[-1][1] == seq - 1:
            ranges[-1] = (ranges[-1][0], seq)
        else:
            ranges.append((seq, seq))
    return tuple(ranges)


class UpkeepState(Struct, frozen=True, kw_only=True):
    """Everything that is kept of upkeep. Times are in milliseconds; 0 stands for never."""

    sample: SampleRecord | None = None
    rounds: dict[str, Round] = {}
    faults: tuple[str, ...] = ()  # of sampled checks, until a full check finds nothing
    checked_ms: int = 0  # the last full check
    runs: tuple[ArchivingRun, ...] = ()  # oldest first
    ruled_ms: int = 0  # the last run of the rules in the background
    proposed_ms: int = 0  # the last time that the chat proposed to archive
    not_before_ms: int = 0  # "not now": until then nothing is proposed
    warned_ms: int = 0  # the last warning of the room that memory takes
    unshown: tuple[str, ...] = ()  # sentences that no face has shown yet


def read_state(workspace: Workspace) -> UpkeepState:
    """The state; an empty one where there is none, or it cannot be read. Blocks."""
    with suppress(OSError, msgspec.MsgspecError):
        return decode_json(read_bytes(workspace.own / _FILE, most=_MOST, owned=True), UpkeepState)
    return UpkeepState()


def change_state(workspace: Workspace, change: Callable[[UpkeepState], UpkeepState]) -> UpkeepState:
    """Changes the state, one process at a time. Blocks. Raises OSError, LockTimeout."""
    make_private_folder(workspace.own)
    with FileLock(workspace.own / _LOCK, timeout=_LOCK_S):
        before = read_state(workspace)
        changed = change(before)
        if changed != before:
            write_atomically(workspace.own / _FILE, msgspec.json.encode(changed))
    return changed


def with_unshown(state: UpkeepState, *sentences: str) -> UpkeepState:
    """The state with sentences for a face to show."""
    return structs.replace(state, unshown=(*state.unshown, *filter(None, sentences))[-MOST_UNSHOWN:])


def take_unshown(workspace: Workspace) -> tuple[str, ...]:
    """The sentences that no face has shown yet, each given once. Blocks. Raises OSError, LockTimeout."""
    if not read_state(workspace).unshown:
        return ()
    taken: tuple[str, ...] = ()

    def change(state: UpkeepState) -> UpkeepState:
        nonlocal taken
        taken = state.unshown
        return structs.replace(state, unshown=())

    change_state(workspace, change)
    return taken
