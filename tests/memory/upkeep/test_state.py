"""The note of upkeep: changed by one process at a time, and harmless where somebody else wrote it."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec import structs

from foundation.paths import Workspace
from memory.memory import Memory
from memory.upkeep.retention import undo
from memory.upkeep.state import (
    MOST_UNSHOWN,
    UpkeepState,
    change_state,
    ranges_of,
    read_state,
    take_unshown,
    with_unshown,
)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b'{"unshown": ["\\ud800"]}',
        b"\xff",
        b'{"faults": 7}',
        b'{"runs": [{"ranges": [[1, 1e400]]}]}',
    ],
)
def test_a_note_that_cannot_be_read_counts_as_none(workspace: Workspace, body: bytes) -> None:
    workspace.state.mkdir()
    (workspace.state / "upkeep.json").write_bytes(body)
    assert read_state(workspace) == UpkeepState()
    change_state(workspace, lambda state: structs.replace(state, checked_ms=1))
    assert read_state(workspace).checked_ms == 1


def test_a_forged_archiving_takes_no_more_back_than_there_is(workspace: Workspace) -> None:
    memory = Memory.open(workspace)
    run = {"id": "x", "time_ms": 1, "conversations": 1, "entries": 1, "pages": 1, "cause": "a rule"}
    run["archived"] = [{"ranges": [[0, 2**62]], "archives": [1, 2**62]}]
    (workspace.state / "upkeep.json").write_text(json.dumps({"runs": [run]}))
    assert undo(memory).undone
    assert memory.cold.check() == []
    memory.close()


def test_changes_of_many_at_once_are_all_kept(workspace: Workspace) -> None:
    def add(number: int) -> None:
        change_state(workspace, lambda state: with_unshown(state, f"Sentence {number}. 句"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(MOST_UNSHOWN)))
    assert len(take_unshown(workspace)) == MOST_UNSHOWN
    assert take_unshown(workspace) == ()


def test_ranges_are_of_consecutive_numbers() -> None:
    assert ranges_of([5, 1, 2, 3, 9, 8]) == ((1, 3), (5, 5), (8, 9))
    assert ranges_of([]) == ()
