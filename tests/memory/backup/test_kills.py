"""Backups are killed at every operation and at random moments: earlier snapshots stay whole, the next goes on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import archived
from tests.paths import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="backups are forks of one process")


def kills_of(folder: Path, kills: int) -> subprocess.CompletedProcess[str]:
    script = str(Path(__file__).with_name("kill_backup.py"))
    return subprocess.run(
        [sys.executable, script, str(folder), str(kills), "1"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(8, marks=[pytest.mark.slow, pytest.mark.timeout(120)]),
        pytest.param(250, marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
def test_killed_anywhere_no_snapshot_is_lost_or_torn(tmp_path: Path, clock: FakeClock, kills: int) -> None:
    memory, _ = archived(tmp_path / "workspace", clock)
    memory.close()
    (tmp_path / "workspace" / "memory").mkdir(exist_ok=True)
    ran = kills_of(tmp_path, kills)
    assert ran.returncode == 0, ran.stderr
    landed = json.loads(ran.stdout)
    assert landed["at an operation"] >= min(kills, 10)
    assert landed["at a moment"] >= kills / 5
