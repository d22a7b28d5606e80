"""A session killed at random moments, 200 times: nothing that it said was stored is missing, nothing is there twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import IO

import pytest

from foundation.paths import Workspace
from memory.workspace_memory import Memory
from models.messages import Role
from tests.e2e.conftest import ROOT

KILLS = 200


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.skipif(sys.platform == "win32", reason="forks, and SIGKILL")
def test_every_message_whose_user_event_was_seen_is_there_once(
    workspace: Workspace, environment: dict[str, str]
) -> None:
    chance = random.Random(20260314)
    acknowledged: list[tuple[str, str]] = []
    kills = 0
    with subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.kill_driver", str(workspace.root)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=ROOT,
    ) as driver:  # fmt: skip
        assert driver.stdin
        assert driver.stdout
        assert json.loads(driver.stdout.readline()) == {"ready": True}
        for _ in range(KILLS):
            driver.stdin.write(b"go\n")
            driver.stdin.flush()
            pid = json.loads(driver.stdout.readline())["pid"]
            time.sleep(chance.uniform(0.005, 0.3))
            os.kill(pid, signal.SIGKILL)
            kills += 1
            acknowledged += _acknowledged(driver.stdout)
        driver.stdin.close()

    assert kills == KILLS
    assert len(acknowledged) > KILLS / 2, "the sessions died before they said anything: this proves nothing"
    memory = Memory.open(workspace)
    try:
        memory.cold.recover()
        stored = Counter(_user_texts(memory))
        assert all(stored[text] == 1 for _, text in acknowledged)
        assert max(stored.values()) == 1
        assert all(memory.cold.find(entry).text == text for entry, text in acknowledged)
        assert memory.cold.check() == []
    finally:
        memory.close()


def _acknowledged(lines: IO[bytes]) -> list[tuple[str, str]]:
    """What the child said before it died. Its last line may be torn."""
    seen: list[tuple[str, str]] = []
    for line in lines:
        if b'{"gone"' in line:
            return seen
        try:
            said = json.loads(line)
        except json.JSONDecodeError:
            continue
        seen.append((said["entry"], said["text"]))
    raise AssertionError("the driver itself died")


def _user_texts(memory: Memory) -> list[str]:
    rows = memory.cold.read(
        lambda db: [seq for (seq,) in db.execute("SELECT seq FROM entries WHERE role = ?", (Role.USER.value,))]
    )
    return [memory.passage(memory.cold.entry(seq)).text for seq in rows]


def test_the_driver_and_the_count_would_see_a_loss(workspace: Workspace) -> None:
    """The control: one entry taken out by hand is missed."""
    memory = Memory.open(workspace)
    try:
        assert Counter(_user_texts(memory))["never said"] == 0
    finally:
        memory.close()
