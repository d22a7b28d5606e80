"""A process that is killed while it records versions loses none that it acknowledged."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from foundation.clock import SystemClock
from memory.versions.cause import BY_HAND
from memory.versions.store import VersionStore

SCRIPT = "tests.memory.versions.kill_script"


def killed(folder: Path, seed: int, seconds: float) -> dict[int, str]:
    """What the process acknowledged before it was killed."""
    words = [sys.executable, "-u", "-m", SCRIPT, str(folder), str(seed)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        first = process.stdout.readline()
        time.sleep(seconds)
        process.kill()
        rest = process.stdout.read().split("\n")[:-1]  # what has no end was not told
    return {int(number): sha256 for number, sha256 in (line.split() for line in (first.strip(), *rest))}


@pytest.mark.parametrize("kills", [3, pytest.param(1000, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])])
def test_no_acknowledged_version_is_lost(tmp_path: Path, kills: int) -> None:
    dice, folder, told = random.Random(kills), tmp_path / "versions", dict[int, str]()
    for seed in range(kills):
        if seed % 50 == 49:
            folder, told = tmp_path / f"versions{seed}", {}
        new = killed(folder, seed, dice.random() * 0.15)
        assert new
        assert not new.keys() & told.keys()
        told |= new
        store = VersionStore(folder, SystemClock())
        assert store.check() == []
        kept = {version.number: version.sha256 for version in store.versions()}
        assert told.items() <= kept.items()
    assert store.record("MEMORY.md", b"after all of it", BY_HAND)
    with pytest.raises(AssertionError):  # the comparison can fail
        assert {**told, 10**9: ""}.items() <= kept.items()
