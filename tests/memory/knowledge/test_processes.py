"""Killed in the middle, and two at once: what was added stays, nothing twice."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from foundation.paths import Workspace
from memory.cold.sql import fetch
from memory.memory import Memory
from tests.fakes import FakeClock
from tests.paths import ROOT

FILES = 24


@pytest.fixture
def many(tmp_path: Path) -> Path:
    folder = tmp_path / "many"
    folder.mkdir()
    for n in range(FILES):
        (folder / f"note{n:02}.txt").write_text(f"Note {n} speaks of harbour {n * 7919} and its pilots.\n" * 5)
    return folder


def started(workspace: Workspace, folder: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.memory.knowledge.adder", str(workspace.root), str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def whole(workspace: Workspace, folder: Path, clock: FakeClock) -> None:
    """Every file is known once, comes back to the byte, and the archive is sound."""
    memory = Memory.open(workspace, clock)
    try:
        known = [one.known for one in memory.knowledge.memories(400)]
        assert sorted(one.name for one in known) == sorted(f"many/{path.name}" for path in folder.iterdir())
        for one in known:
            assert memory.knowledge.text(one).text == Path(one.source).read_text()
        rows = memory.cold.read(lambda db: fetch(db, "SELECT count(*) FROM conversations WHERE kind = 'knowledge'"))
        assert rows == [(FILES,)]
        assert [one for one in memory.vault.check() if one.what != "stranger"] == []
    finally:
        memory.close()


@pytest.mark.slow
@pytest.mark.timeout(90)
def test_killed_anywhere_it_goes_on_and_nothing_is_lost_or_doubled(
    workspace: Workspace, many: Path, clock: FakeClock
) -> None:
    for stop_at in (2, 9, 17):
        adding = started(workspace, many)
        assert adding.stdout is not None
        for line in adding.stdout:
            if line.strip().isdigit() and int(line) >= stop_at:
                break
        adding.kill()
        adding.wait()
        adding.stdout.close()
    with started(workspace, many) as last:
        said, _ = last.communicate(timeout=60)
    assert last.returncode == 0
    assert f"unchanged {FILES}" not in said
    assert int(said.split("unchanged ")[1].split()[0]) >= 17
    whole(workspace, many, clock)


@pytest.mark.slow
@pytest.mark.timeout(90)
def test_two_at_once_add_each_file_once(workspace: Workspace, many: Path, clock: FakeClock) -> None:
    both = [started(workspace, many) for _ in range(2)]
    said = [process.communicate(timeout=60)[0].split("added ")[1].split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    added, unchanged = sum(int(words[0]) for words in said), sum(int(words[2]) for words in said)
    assert (added, unchanged) == (FILES, FILES)
    whole(workspace, many, clock)
