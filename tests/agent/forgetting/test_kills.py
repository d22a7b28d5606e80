"""Forgetting that is killed by SIGKILL at any point is finished by the next start, and no byte is left.

A kill comes at a random moment after a random step has begun; the control is test_canaries.py, where a step that does
not run leaves words.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from foundation.paths import Workspace
from memory.forgotten.journal import ForgetJournal
from tests.agent.forgetting.entrances import MARK, fill, go_on
from tests.agent.forgetting.test_canaries import copied, left
from tests.examples import SOAK
from tests.memory.forget.bytes_of import places_of

KILLS = int(os.environ.get("PALIMPSEST_KILLS", 0)) or (300 if SOAK else 2)
STEPS = 19  # lines that the process prints: the steps, and the scan

pytestmark = [pytest.mark.timeout(3600 if SOAK else 180)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("filled") / "ws"
    root.mkdir()
    fill(Workspace(root), 1)
    yield root


def killed(space: Workspace, dice: random.Random) -> bool:
    """Kills a process that forgets; whether the kill came before it was done."""
    command = [sys.executable, "-m", "tests.agent.forgetting.forget_and_wait", str(space.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(1 + dice.randrange(STEPS))]
        time.sleep(dice.random() * 0.02)
        process.send_signal(signal.SIGKILL)
    assert said[0] == "begun\n", "it died before there was anything to finish"
    return process.returncode == -signal.SIGKILL and bool(ForgetJournal(space.forgotten).open_ids())


def test_no_byte_is_left_after_a_kill_and_the_next_start(filled: Path, tmp_path: Path) -> None:
    dice, landed = random.Random(7), 0
    for number in range(KILLS):
        space = copied(filled, tmp_path / str(number))
        landed += killed(space, dice)
        assert b"canary" not in b"".join(path.read_bytes() for path in space.forgotten.glob("*.json"))
        for _ in range(dice.randrange(2)):  # and killed again
            if ForgetJournal(space.forgotten).open_ids():
                go_on(space)
        go_on(space)
        assert left(space) == {}, f"kill {number}"
        assert ForgetJournal(space.forgotten).open_ids() == []
    assert landed >= KILLS // 3, "the kills came too late"


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="a minute long")
def test_five_hundred_canaries_through_every_entrance(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    space = Workspace(tmp_path / "ws")
    assert fill(space, 20) >= 500
    assert places_of(space.root, [MARK])
    from tests.agent.forgetting.entrances import forget_all

    assert forget_all(space) == ()
    assert left(space) == {}
