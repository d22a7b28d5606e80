"""Two programs on one store; one that dies; a disk that is full."""

import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from memory.cold import ColdStore, connection
from memory.cold.sql import fetch, run
from memory.errors import StoreBusy
from tests.memory.cold.drafts import open_store
from tests.paths import ROOT


def start(*words: str) -> "subprocess.Popen[str]":
    script = [sys.executable, "-m", "tests.memory.cold.process_script", *words]
    return subprocess.Popen(script, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def written_at_once(database: Path, writes: int, *mode: str) -> int:
    """Has four processes write so many entries together, at once; how many were acknowledged."""
    each = str(writes // (2 * len(NAMES)))
    writers = [start("write", str(database), name, each, *mode) for name in NAMES]
    assert [line(writer) for writer in writers] == ["ready"] * len(NAMES)
    with ThreadPoolExecutor(len(NAMES)) as pool:
        told = list(pool.map(lambda writer: writer.communicate("go\n")[0], writers))
    assert [writer.returncode for writer in writers] == [0] * len(NAMES)
    return sum(map(int, told))


NAMES = ("north", "east", "south", "west")


@pytest.mark.parametrize(
    "writes",
    [
        pytest.param(160, marks=pytest.mark.timeout(60)),
        pytest.param(50_000, marks=[pytest.mark.soak, pytest.mark.timeout(3600)]),
    ],
)
def test_four_processes_write_to_one_store_at_once(cold: ColdStore, database: Path, writes: int) -> None:
    cold.new_conversation(id="shared")
    seen, version = cold.last_change(), cold.data_version()
    assert written_at_once(database, writes) == writes
    assert cold.data_version() != version
    changes = cold.changes(seen, writes + 1)
    assert len(changes) == cold.statistics().entries == writes
    assert len({change.entry for change in changes}) == len(changes)
    each = writes // (2 * len(NAMES))
    rows = cold.read(
        lambda db: fetch(db, "SELECT c.id, e.id FROM entries e JOIN conversations c ON c.seq = e.conversation")
    )
    assert sorted(rows) == sorted(
        row for name in NAMES for number in range(each) for row in ((name, f"{number}"), ("shared", f"{name}-{number}"))
    )
    assert cold.check() == []


@pytest.mark.timeout(60)
def test_writers_that_do_not_wait_for_each_other_are_found_out(cold: ColdStore, database: Path) -> None:
    """The control: a refusal that is taken for an acknowledgement."""
    cold.new_conversation(id="shared")
    assert written_at_once(database, 800, "careless") == 800
    assert cold.statistics().entries < 800


@pytest.mark.timeout(30)
def test_an_answer_of_a_living_process_is_left_alone_and_of_a_dead_one_recovered(
    cold: ColdStore, database: Path
) -> None:
    other = start("answer", str(database))
    assert line(other) == "begun"
    while not cold.read(lambda db: fetch(db, "SELECT 1 FROM chunks")):
        time.sleep(0.005)
    assert cold.recover() == []
    assert [problem.what for problem in cold.check()] == []
    other.kill()
    other.communicate()
    assert [problem.what for problem in cold.check()] == ["answer"]
    (entry,) = cold.recover()
    assert (entry.id, entry.text, entry.complete, entry.meta) == ("e_underway", "So far ", False, {"cut_off": True})
    assert cold.recover() == []
    assert cold.check() == []
    assert [p.name for p in database.parent.iterdir() if p.is_dir() for p in p.iterdir()] == []


def test_a_store_that_stays_locked_is_told_in_a_sentence(
    cold: ColdStore, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "BUSY_MS", 50)
    busy = open_store(database)
    other = apsw.Connection(str(database))
    run(other, "BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match=r"kept .* locked for too long"):
        busy.new_conversation()
    run(other, "ROLLBACK")
    other.close()
    busy.new_conversation()
    busy.close()


MOUNT = """
mkdir -p "$1" && mount -t tmpfs -o size=2m none "$1" && head -c 600000 /dev/zero > "$1/ballast" && shift && exec "$@"
"""


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-Urm", "true"], check=False, capture_output=True).returncode == 0


def on_a_small_disk(disk: Path, *words: str) -> list[str]:
    """What the script said, run with a disk of two megabytes mounted at `disk`."""
    script = [sys.executable, "-m", "tests.memory.cold.process_script", *words]
    shell = ["unshare", "-Urm", "sh", "-c", MOUNT, "sh", str(disk), *script]
    done = subprocess.run(shell, check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


small_disk = pytest.mark.skipif(not can_mount(), reason="needs Linux and the right to mount a disk of one's own")


@small_disk
@pytest.mark.timeout(30)
def test_a_full_disk_is_told_and_the_store_goes_on_when_there_is_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    full, problems = on_a_small_disk(disk, "fill", str(disk / "cold.db"), str(disk / "ballast"))
    assert "the disk is full" in full
    assert int(full.split()[2].rstrip(":")) > 10
    assert problems == "problems 0"


@small_disk
@pytest.mark.timeout(30)
def test_a_disk_that_is_full_when_the_store_opens_is_told(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    full, problems = on_a_small_disk(disk, "reopen", str(disk / "cold.db"))
    assert "the disk is full" in full
    assert problems == "problems 0"
