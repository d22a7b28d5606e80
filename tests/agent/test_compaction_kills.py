"""A session killed anywhere in observing, auditing, compacting, undoing and editing its tree loses nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the lives are forks of one process")


def lives(folder: Path, kills: int, seed: int, *guard: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.agent.kill_compaction", str(folder), str(kills), str(seed), *guard],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        cwd=ROOT,
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
def test_killed_anywhere_receipts_are_true_and_undo_is_exact(tmp_path: Path, kills: int) -> None:
    ran = lives(tmp_path, kills, 20261123)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    print(found)
    assert sum(found["landed"].values()) == kills
    assert found["done"]["turn"] > kills / 3
    if kills > 100:
        assert min(found["done"][step] for step in ("observe", "audit", "compact", "undo", "label", "prune")) > 20
        assert found["interrupted"]["compact"] > 20


@pytest.mark.parametrize("guard", ["undo", "observing"])
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_two_transactions_in_place_of_one_are_found(tmp_path: Path, guard: str) -> None:
    ran = lives(tmp_path, 6, 3, guard)
    assert ran.returncode == 1
    expected = "is not the one from before" if guard == "undo" else "it would be observed again"
    assert expected in ran.stderr
