"""How one hook is run: its time, what it starts, and what it prints."""

import os
import shutil
import time
from pathlib import Path

import pytest

from agent.hooks.run import HookResult, run_hook
from agent.hooks.settings import HookCommand


def test_a_late_hook_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    marker = tmp_path / "alive"
    command = f"(while true; do date > {marker}; sleep 0.05; done) & sleep 60"
    result = run_hook(HookCommand(command, timeout=0.5), {}, tmp_path, dict(os.environ))
    assert "0.5 s" in result.error
    marker.unlink(missing_ok=True)
    time.sleep(0.4)
    assert not marker.exists()


def test_what_a_hook_leaves_behind_is_ended(tmp_path: Path) -> None:
    marker = tmp_path / "alive"
    command = f"(while true; do date > {marker}; sleep 0.05; done) & echo Done"
    result = run_hook(HookCommand(command, timeout=30), {}, tmp_path, dict(os.environ))
    assert (result.exit, result.stdout, result.error) == (0, "Done", "")
    marker.unlink(missing_ok=True)
    time.sleep(0.4)
    assert not marker.exists()


@pytest.mark.skipif(shutil.which("setsid") is None, reason="needs setsid")
def test_what_a_hook_leaves_in_a_session_of_its_own_ends_with_it(tmp_path: Path) -> None:
    marker = tmp_path / "alive"
    loop = f"while true; do date > {marker}; sleep 0.05; done"
    left = f"setsid sh -c '{loop}' >/dev/null 2>&1 &"
    command = f"{left} while ! test -e {marker}; do sleep 0.01; done; cat; echo e >&2; exit 2"
    result = run_hook(HookCommand(command), {"a": 1}, tmp_path, dict(os.environ))
    assert result == HookResult(2, '{"a":1}', "e")
    marker.unlink(missing_ok=True)
    time.sleep(0.4)
    assert not marker.exists()


def test_a_hook_that_a_signal_ends_or_whose_folder_is_gone_is_reported(tmp_path: Path) -> None:
    assert run_hook(HookCommand("kill -9 $$"), {}, tmp_path, dict(os.environ)).exit == -9
    assert "could not be started" in run_hook(HookCommand("true"), {}, tmp_path / "gone", dict(os.environ)).error


def test_a_flood_and_a_hook_that_reads_nothing_do_no_harm(tmp_path: Path) -> None:
    flood = run_hook(HookCommand("head -c 20000000 /dev/zero; exit 0"), {"x": "y" * 10**7}, tmp_path, dict(os.environ))
    assert (flood.exit, flood.error) == (0, "") and len(flood.stdout) <= 256 * 1024


def test_a_stop_ends_a_hook(tmp_path: Path) -> None:
    assert "stopped" in run_hook(HookCommand("sleep 30"), {}, tmp_path, dict(os.environ), lambda: True).error
