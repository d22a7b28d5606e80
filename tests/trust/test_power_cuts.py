"""The power goes in any kind of write, files beside the database too: nothing acknowledged is lost, nothing deleted is
back."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="descriptors are named by /proc")
FEW = ("versions", "notes", "checkpoints", "archive move")


def power_cuts(folder: Path, count: int, *words: str) -> dict[str, Any]:
    script = [sys.executable, "-m", "tests.trust.power_cuts", str(folder), str(count), "7", *words]
    ran = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout)


@pytest.mark.parametrize(
    ("count", "kinds"),
    [
        pytest.param(16, FEW, marks=[pytest.mark.slow, pytest.mark.timeout(120)], id="four kinds"),
        pytest.param(3_000, (), marks=[pytest.mark.soak, pytest.mark.timeout(3600)], id="all kinds"),
    ],
)
def test_no_power_cut_loses_what_was_acknowledged(tmp_path: Path, count: int, kinds: tuple[str, ...]) -> None:
    outcomes = power_cuts(tmp_path, count, *kinds)
    print(json.dumps({kind: [one["states"], one["acknowledged"], len(one["lost"])] for kind, one in outcomes.items()}))
    assert [line for outcome in outcomes.values() for line in outcome["lost"]] == []
    assert all(outcome["acknowledged"] > outcome["states"] for outcome in outcomes.values()), "nothing was acknowledged"


@pytest.mark.timeout(120)
def test_writes_that_are_never_synced_are_found_out(tmp_path: Path) -> None:
    """The control."""
    outcomes = power_cuts(tmp_path, 16, "unsynced", "versions", "drafts")
    assert all(outcome["lost"] for outcome in outcomes.values())
