"""Free pages of the database go back to the disk where that is worth it, safe with kills and two processes."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from foundation.privacy import clear
from memory.cold import ColdStore
from memory.cold.shrink import LEAST_BYTES, free_room, freed_sentence, shrink, shrink_alone, size_on_disk, vacuum
from memory.errors import StoreBusy, StoreError, StoreFull
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.examples import SOAK
from tests.memory.cold.drafts import open_store
from tests.paths import ROOT

pytestmark = pytest.mark.timeout(120)

KILLS = 60 if SOAK else 4


def say(cold: ColdStore, conversation: int, text: str) -> int:
    draft = EntryDraft(conversation=conversation, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=clear(text))
    return cold.append(draft).seq


def fill(cold: ColdStore, megabytes: int) -> None:
    """Leaves so many megabytes of free pages, as deleted rows do."""
    with apsw.Connection(str(cold.database)) as other:
        other.set_busy_timeout(10_000)
        other.execute("CREATE TABLE passing (body BLOB)")
        for _ in range(megabytes):
            other.execute("INSERT INTO passing VALUES (randomblob(1048576))")
        other.execute("DROP TABLE passing")


@pytest.fixture
def cold(tmp_path: Path) -> Iterator[ColdStore]:
    store = open_store(tmp_path / "cold.db")
    yield store
    store.close()


def test_the_file_is_smaller_and_all_that_stays_is_there(cold: ColdStore) -> None:
    talk = cold.new_conversation()
    said = [say(cold, talk.seq, f"{number} stays") for number in range(50)]
    fill(cold, 28)
    before = size_on_disk(cold.database)
    assert free_room(cold).free > LEAST_BYTES
    freed = shrink(cold, copying_s=60)
    assert freed > LEAST_BYTES
    assert size_on_disk(cold.database) == before - freed
    assert free_room(cold).free == 0
    assert [cold.entry(seq).text for seq in said] == [f"{number} stays" for number in range(50)]
    assert cold.check() == []
    assert "smaller on disk" in freed_sentence(freed)
    assert shrink(cold) == 0


def test_little_room_and_a_small_share_are_left(cold: ColdStore) -> None:
    fill(cold, 4)
    assert 0 < free_room(cold).free < LEAST_BYTES
    assert shrink(cold, copying_s=60) == 0


def test_without_space_for_a_copy_nothing_is_done(cold: ColdStore) -> None:
    fill(cold, 28)
    size = size_on_disk(cold.database)
    assert shrink(cold, free_of=lambda _: 2**20, copying_s=60) == 0
    assert shrink(cold, free_of=lambda _: None, copying_s=60) == 0
    assert size_on_disk(cold.database) == size
    assert shrink(cold, copying_s=60) > 0


def test_it_gives_way_to_a_turn_and_to_the_clock(cold: ColdStore) -> None:
    talk = cold.new_conversation()
    for number in range(600):
        say(cold, talk.seq, f"{number} stays")
    fill(cold, 28)
    size = free_room(cold).size
    assert shrink(cold, should_stop=lambda: True, copying_s=60) == 0
    assert shrink(cold, copying_s=-1) == 0
    assert free_room(cold).size == size
    assert say(cold, talk.seq, "The next turn is written.")
    assert cold.check() == []
    assert shrink(cold, copying_s=60) > 0


def test_alone_it_has_no_limit_of_time_and_gives_all_back(tmp_path: Path) -> None:
    store = open_store(tmp_path / "cold.db")
    talk = store.new_conversation()
    said = [say(store, talk.seq, f"{number} stays") for number in range(50)]
    fill(store, 4)
    left = free_room(store).free
    assert 0 < left < LEAST_BYTES
    with pytest.raises(StoreBusy, match="open elsewhere"):
        shrink_alone(store.database)
    store.close()
    with pytest.raises(StoreFull, match="Nothing was changed"):
        shrink_alone(store.database, free_of=lambda _: 2**20)
    before, after = shrink_alone(store.database)
    page = 4_096  # the copy may divide a table into one page more
    assert (before - after >= left - page, after == size_on_disk(store.database)) == (True, True)
    assert shrink_alone(store.database) == (after, after)
    again = open_store(store.database)
    assert [again.entry(seq).text for seq in said] == [f"{number} stays" for number in range(50)]
    assert (free_room(again).free, again.check()) == (0, [])
    again.close()


def test_alone_it_keeps_others_out_and_an_interruption_leaves_all_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path / "cold.db")
    talk = store.new_conversation()
    kept, *_ = [say(store, talk.seq, f"{number} stays") for number in range(600)]
    fill(store, 4)
    store.close()
    before, refused = store.database.read_bytes(), list[str]()

    def interrupted(db: apsw.Connection, _stop: object, _seconds: float) -> None:
        with apsw.Connection(str(store.database)) as other, pytest.raises(apsw.BusyError) as error:
            other.execute("SELECT count(*) FROM entries").fetchall()
        refused.append(str(error.value))
        monkeypatch.undo()
        vacuum(db, lambda: True, 60)

    monkeypatch.setattr("memory.cold.shrink.vacuum", interrupted)
    with pytest.raises(StoreError):
        shrink_alone(store.database)
    assert (refused, store.database.read_bytes()) == (["database is locked"], before)
    again = open_store(store.database)
    assert (again.entry(kept).text, again.check()) == ("0 stays", [])
    again.close()


def started(*words: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.memory.cold.shrink_script", *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, bufsize=1)


def test_another_process_writes_on_and_loses_nothing(cold: ColdStore) -> None:
    other = started("write", str(cold.database))
    assert other.stdout is not None
    written = [int(other.stdout.readline())]
    freed = 0
    for _ in range(6 if SOAK else 2):
        fill(cold, 28)
        freed += shrink(cold)
        assert other.poll() is None, "the other process was not kept from writing"
    os.kill(other.pid, signal.SIGKILL)
    written += [int(line) for line in other.stdout.read().splitlines()[:-1]]
    other.wait()
    other.stdout.close()
    assert freed > 0
    assert len(written) > 2
    assert all(cold.entry(seq).text for seq in written)
    assert cold.check() == []


def test_a_kill_at_any_moment_harms_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cold.db"
    store = open_store(path)
    talk = store.new_conversation()
    said = [say(store, talk.seq, f"{number} stays" * 20) for number in range(500)]
    store.close()
    chance = random.Random("kills")
    for _ in range(KILLS):
        child = started("shrink", str(path))
        assert child.stdout is not None
        while child.stdout.readline() != "shrinking\n":
            pass
        time.sleep(chance.uniform(0, 0.3))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        store = open_store(path)
        assert store.check() == []
        assert [store.entry(seq).text for seq in said] == [f"{number} stays" * 20 for number in range(500)]
        store.close()
