"""Killed at any moment and at any call, in every kind of write, the program loses nothing that it acknowledged."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT
from tests.trust.writes import KINDS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forks of one process")


def kills(folder: Path, count: int, *words: str) -> dict[str, Any]:
    script = [sys.executable, "-m", "tests.trust.kill_writes", str(folder), str(count), "20261124", *words]
    ran = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout)


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(15, marks=[pytest.mark.slow, pytest.mark.timeout(240)]),
        pytest.param(1_000, marks=[pytest.mark.soak, pytest.mark.timeout(3600)]),
    ],
)
def test_no_kill_in_any_kind_of_write_loses_what_was_acknowledged(tmp_path: Path, count: int) -> None:
    outcomes = kills(tmp_path, count)
    print(json.dumps(outcomes))
    assert [line for outcome in outcomes.values() for line in outcome["lost"]] == []
    assert set(outcomes) == set(KINDS)
    landed = sum(outcome["landed"] for outcome in outcomes.values())
    assert landed >= count * 0.8, "kills did not land"
    assert sum(outcome["acknowledged"] for outcome in outcomes.values()) >= count / 2, "the writers wrote nothing"
    if count > len(KINDS):
        assert all(outcome["landed"] and outcome["acknowledged"] for outcome in outcomes.values())
        assert sum(outcome["at_a_call"] for outcome in outcomes.values()) >= count * 0.3


@pytest.mark.timeout(120)
def test_writers_that_acknowledge_too_early_are_found_out(tmp_path: Path) -> None:
    outcomes = kills(tmp_path, 9, "early")
    assert all(outcome["lost"] for outcome in outcomes.values())
