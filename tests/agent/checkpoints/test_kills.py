"""Killed at any moment, each file is its old or its new version, and undo works afterwards."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from threading import Timer
from typing import IO

import pytest

from agent.checkpoints.change import CheckpointRecord
from agent.checkpoints.history import unfinished
from agent.checkpoints.journal import Begun, Ended
from memory.versions.objects import content_name
from tests.agent.checkpoints.conftest import ProjectWithTools
from tests.agent.checkpoints.kill_script import is_whole
from tests.paths import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither fork nor SIGKILL")


def killed_processes(project: ProjectWithTools, kills: int, seed: int) -> Iterator[int]:
    """Kills so many processes in the middle of their changes; gives each exit status."""
    chance = random.Random(seed)
    script = [sys.executable, "-m", "tests.agent.checkpoints.kill_script", str(project.folder), str(project.state)]
    with subprocess.Popen(
        script, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as warm:
        assert warm.stdin is not None
        assert warm.stdout is not None
        for number in range(kills):
            warm.stdin.write(f"{seed + number}\n")
            warm.stdin.flush()
            words = chance.choice((1, 3, 5, 7, chance.randrange(8)))  # odd: a change has begun
            yield one_process(warm.stdout, words, chance.uniform(0, 0.004))
        warm.stdin.close()


def one_process(lines: IO[str], changes: int, delay: float) -> int:
    """Kills the process `delay` seconds after so many begins and ends of changes; gives its exit status."""
    timer: Timer | None = None
    process = 0
    for line in lines:
        word, value = line.split()
        if word == "ended":
            assert timer is not None
            timer.cancel()
            return int(value)
        if word == "started":
            process = int(value)
        else:
            changes -= 1
        if process and changes <= 0 and timer is None:
            timer = Timer(delay, os.kill, (process, signal.SIGKILL))
            timer.start()
    raise AssertionError("the parent of the processes ended")


def possible_contents(project: ProjectWithTools) -> dict[str, set[str]]:
    """What each file may hold by the journal: the new version, and the old one where a change has not ended."""
    possible: dict[str, set[str]] = {}
    lines = project.checkpoints.journal.lines()
    ends = {line.id: line.changed for line in lines if isinstance(line, Ended)}
    for line in lines:
        if not isinstance(line, Begun):
            continue
        for index, file in enumerate(line.record.files):
            if line.record.id not in ends:
                possible[file.path] = {file.before, file.after}
            elif (changed := ends[line.record.id]) is None or index in changed:
                possible[file.path] = {file.after}
    return possible


def project_files(project: ProjectWithTools) -> dict[str, bytes]:
    return {path: body for path, body in project.files().items() if ".checkpoint" not in path}


def oldest_contents(records: tuple[CheckpointRecord, ...]) -> dict[str, str]:
    """What the files held before the records, by path."""
    oldest: dict[str, str] = {}
    for record in records:
        for file in record.files:
            oldest.setdefault(file.path, file.before)
    return oldest


def check_after_kill(project: ProjectWithTools) -> list[str]:
    """Asserts the promises; gives the kinds of the changes that were interrupted."""
    kinds = [record.kind.value for record in unfinished(project.checkpoints.journal.lines())]
    files = project_files(project)
    assert [name for name, body in files.items() if not is_whole(name, body)] == []
    for path, possible in possible_contents(project).items():
        assert (content_name(files[path]) if path in files else "") in possible, path
    assert len(project.checkpoints.take_notices()) == len(kinds)
    assert project.files() == files, "clearing up changes no file, and leaves nothing beside"
    if records := project.checkpoints.history("c_1").last_turn():
        restored = project.undo()
        assert restored.plan.conflicts == ()
        now = project.files()
        for path, before in oldest_contents(records).items():
            assert (content_name(now[path]) if path in now else "") == before
        project.redo()
        assert project.files() == files
    return kinds


SOAKED = [
    pytest.param(100, seed, marks=[pytest.mark.soak, pytest.mark.timeout(600)])
    for seed in range(20_260_000, 20_262_000, 100)
]  # 2,000 kills, in journals of their own: each kill reads its journal whole


@pytest.mark.parametrize(
    ("kills", "seed"),
    [pytest.param(40, 20261123, marks=[pytest.mark.slow, pytest.mark.timeout(300)]), *SOAKED],
)
def test_each_file_is_the_old_or_the_new_version_and_undo_works(
    project: ProjectWithTools, kills: int, seed: int
) -> None:
    interrupted: Counter[str] = Counter()
    for status in killed_processes(project, kills, seed):
        assert os.WIFSIGNALED(status)
        assert os.WTERMSIG(status) == signal.SIGKILL
        interrupted.update(check_after_kill(project))
    print(dict(interrupted))
    assert interrupted.total() > kills // 5, "the processes were killed between their changes"
    assert {"tool", "undo"} <= set(interrupted)
