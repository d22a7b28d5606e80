"""An archive's keeper is killed again and again, at work of every kind: nothing is lost, and nothing is there twice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="keepers are forks of one process")


def nursery(folder: Path, kills: int, seed: int = 1) -> subprocess.CompletedProcess[str]:
    root = ROOT
    script = str(Path(__file__).with_name("kill_archiver.py"))
    return subprocess.run(
        [sys.executable, script, str(folder), str(kills), str(seed)],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(6, marks=[pytest.mark.slow, pytest.mark.timeout(120)]),
        pytest.param(300, marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
def test_killed_anywhere_nothing_is_lost_and_nothing_is_doubled(tmp_path: Path, kills: int) -> None:
    ran = nursery(tmp_path, kills)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert sum(found["landed"].values()) > kills * 0.8
    assert min(found["landed"].values()) > kills * 0.3  # at a moment, and at a call
    assert found["told"]["archived"] > kills / 2
    if kills > 100:
        assert min(found["told"][what] for what in ("repacked", "deleted", "repaired", "file", "tagged")) >= 5


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_the_look_after_a_kill_finds_what_is_lost(tmp_path: Path) -> None:
    assert nursery(tmp_path, 1).returncode == 0
    with (tmp_path / "told").open("a") as told:
        told.write('["said", "c0x0e99"]\n')
    ran = nursery(tmp_path, 0)
    assert ran.returncode == 1
    assert "c0x0e99: lost" in ran.stderr


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(4, marks=[pytest.mark.slow, pytest.mark.timeout(90)]),
        pytest.param(150, marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
def test_a_repair_killed_anywhere_loses_nothing_and_is_done_by_the_next(tmp_path: Path, kills: int) -> None:
    root = ROOT
    script = str(Path(__file__).with_name("kill_repairs.py"))
    ran = subprocess.run(
        [sys.executable, script, str(tmp_path), str(kills)],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["calls"] > 100
    assert found["mended"] == kills, ran.stderr
    assert found["landed"] > 0.95 * kills, (
        ran.stderr
    )  # a repair makes some calls more or fewer: the last may not be made
