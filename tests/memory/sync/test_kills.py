"""Syncs are killed while they write and while they read, and two processes sync one workspace: nothing is lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="syncs are forks of one process")


def ran(*words: str) -> str:
    script = str(Path(__file__).with_name("kill_sync.py"))
    done = subprocess.run(
        [sys.executable, script, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(4, marks=[pytest.mark.slow, pytest.mark.timeout(120)]),
        pytest.param(250, marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
def test_killed_anywhere_nothing_that_was_said_is_lost(tmp_path: Path, kills: int) -> None:
    landed = json.loads(ran(str(tmp_path), str(kills), "1"))
    assert landed["at an operation"] + landed["at a moment"] >= kills / 2, "most syncs had ended before"
    assert landed["said"] > kills


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_two_processes_sync_one_workspace(tmp_path: Path) -> None:
    ran("both", str(tmp_path), "3")
