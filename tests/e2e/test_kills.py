"""A session killed at random moments, again and again: nothing it said was stored is missing or there twice."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable

import pytest

from foundation.paths import Workspace
from memory.memory import Memory
from models.messages import Role
from tests.e2e.conftest import ROOT

KILLS = 20


forks = pytest.mark.skipif(sys.platform == "win32", reason="forks, and SIGKILL")


@forks
@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(KILLS, marks=[pytest.mark.slow, pytest.mark.timeout(300)]),
        pytest.param(2_000, marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
def test_every_message_whose_user_event_was_seen_is_there_once(
    workspace: Workspace, environment: dict[str, str], kills: int
) -> None:
    acknowledged = killed(workspace, environment, kills)
    assert len(acknowledged) > kills / 2, "the sessions died before they said anything: this proves nothing"
    memory = Memory.open(workspace)
    try:
        memory.cold.recover()
        stored = Counter(_user_texts(memory))
        assert [text for _, text in acknowledged if stored[text] != 1] == []
        assert max(stored.values()) == 1
        assert all(memory.recall(entry)[0].text == text for entry, text in acknowledged)
        assert memory.cold.check() == []
    finally:
        memory.close()


@forks
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_program_that_says_stored_too_early_is_found_out(workspace: Workspace, environment: dict[str, str]) -> None:
    acknowledged = killed(workspace, environment, 12, "too-early")
    memory = Memory.open(workspace)
    try:
        stored = Counter(_user_texts(memory))
        assert [text for _, text in acknowledged if stored[text] != 1] != []
    finally:
        memory.close()


def killed(workspace: Workspace, environment: dict[str, str], kills: int, *how: str) -> list[tuple[str, str]]:
    """Lets sessions talk and kills each at a random moment; what they acknowledged, as (entry, text)."""
    chance = random.Random(20260314)
    acknowledged: list[tuple[str, str]] = []
    landed = 0
    with subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.kill_driver", str(workspace.root), *how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        cwd=ROOT,
    ) as driver:
        assert driver.stdin
        assert driver.stdout
        assert json.loads(driver.stdout.readline()) == {"ready": True}
        for n in range(kills):
            driver.stdin.write(b"go\n")
            driver.stdin.flush()
            pid = json.loads(driver.stdout.readline())["pid"]
            # Two lives in three last until something is acknowledged; the third may end while the store opens.
            first = driver.stdout.readline() if n % 3 else b""
            time.sleep(chance.uniform(0.001, 0.2))
            os.kill(pid, signal.SIGKILL)
            said, status = _acknowledged(itertools.chain([first] if first else [], driver.stdout))
            assert status == -signal.SIGKILL, "it died before it was killed"
            landed += 1
            acknowledged += said
        driver.stdin.close()
    assert landed == kills
    return acknowledged


def _acknowledged(lines: Iterable[bytes]) -> tuple[list[tuple[str, str]], int]:
    """What the child said before it died, and how it ended. Its last line may be torn."""
    seen: list[tuple[str, str]] = []
    for line in lines:
        if b'{"gone"' in line:
            return seen, json.loads(line[line.index(b'{"gone"') :])["status"]
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
