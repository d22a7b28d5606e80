"""The power goes: nothing acknowledged is lost with synchronous=FULL, and the same look sees losses with OFF."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from foundation.privacy import Cleared
from memory.cold import ColdStore
from memory.cold.sql import fetch
from memory.errors import MemoryFailure
from tests.memory.cold.drafts import answered, open_store, said
from tests.memory.cold.power import Acknowledged, Event, RecordingVFS, Sync, power_cuts

CUTS_A_SESSION = 300


def recorded(path: Path, synchronous: str) -> list[Event]:
    """A session on a recording file system."""
    vfs = RecordingVFS(f"recording-{synchronous}-{path.parent.name}")
    cold = open_store(path, synchronous=synchronous, vfs=vfs.name)
    cold.write(lambda db: db.wal_autocheckpoint(40))  # so that power goes in checkpoints too
    conversation = cold.new_conversation()
    vfs.events.append(Acknowledged("opened"))
    for number in range(40):
        entry = cold.append(said(conversation.seq, f"question {number} " * 100, id=f"q{number}"))
        vfs.events.append(Acknowledged(entry.id))
        answer = cold.begin_answer(answered(conversation.seq, "", entry.seq, id=f"a{number}"))
        answer.finish(Cleared(f"answer {number} " * 200))
        vfs.events.append(Acknowledged(answer.entry.id))
    cold.close()
    vfs.unregister()
    return vfs.events


def look(files: dict[str, bytes], folder: Path) -> tuple[set[str], bool]:
    """Which whole entries are found after the cut, and whether the store opened in one piece."""
    folder.mkdir()
    for name, content in files.items():
        if not name.endswith("-shm"):
            (folder / name).write_bytes(content)
    cold: ColdStore | None = None
    try:
        cold = open_store(folder / "cold.db", synchronous="off")
        problems = [problem for problem in cold.check() if problem.what != "answer"]
        found = {row[0] for row in cold.read(lambda db: fetch(db, "SELECT id FROM entries WHERE complete = 1"))}
        found |= {"opened"} if cold.latest() else set()
    except MemoryFailure:
        return set(), False
    finally:
        if cold is not None:
            cold.close()
    return found, problems == []


def outcome(tmp_path: Path, synchronous: str, cuts: int) -> Counter[str]:
    """Of so many power cuts: how many lost something acknowledged, and how many left a damaged store."""
    count: Counter[str] = Counter()
    for session in range(-(-cuts // CUTS_A_SESSION)):
        events = recorded(tmp_path / f"recorded-{session}" / "cold.db", synchronous)
        part = min(CUTS_A_SESSION, cuts - session * CUTS_A_SESSION)
        count["syncs"] += sum(isinstance(event, Sync) for event in events)
        for acknowledged, files in power_cuts(events, part, seed=7 + session):
            found, whole = look(files, tmp_path / "found")
            shutil.rmtree(tmp_path / "found")
            count["states"] += 1
            count["acknowledged"] += len(acknowledged)
            count["lost"] += bool(set(acknowledged) - found)
            count["damaged"] += not whole
    print(dict(count))
    return count


@pytest.mark.parametrize(
    "cuts",
    [
        pytest.param(100, marks=pytest.mark.timeout(60)),
        pytest.param(3_000, marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
def test_a_power_cut_loses_nothing_that_was_acknowledged(tmp_path: Path, cuts: int) -> None:
    count = outcome(tmp_path, "full", cuts)
    assert (count["states"], count["acknowledged"] > cuts) == (cuts, True)
    assert (count["lost"], count["damaged"]) == (0, 0)


@pytest.mark.timeout(60)
def test_the_same_look_sees_losses_where_nothing_is_synced(tmp_path: Path) -> None:
    count = outcome(tmp_path, "off", 60)
    assert count["lost"] > 6
