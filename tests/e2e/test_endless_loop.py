"""A model that never stops calling tools, on a real llama.cpp server: 1,000 calls unattended.

Which call comes next depends on what the newest result says, so that a lost or mangled result ends the loop. Every
fourth call is a command, and leaves a process behind in the background.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agent.config.workspaces import prepare_workspace
from foundation.paths import Workspace
from tests.paths import ROOT
from tests.servers import Scripted

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc"),
]

PAGES = 40
SLEEP = "3123.75"
WINDOW, WORKING_SET = 131_072, 36_000  # a token is a byte


def mark(number: int) -> str:
    return f"ledger page {number:02d} of {PAGES}"


def _call(name: str, **arguments: str) -> str:
    return f"Next: {name}. <tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def _opening(number: int) -> str:
    """The call that shows a page."""
    name = f"page_{number:02d}.txt"
    if number % 4 == 1:
        return _call("search_files", pattern=mark(number))
    if number % 4 == 3:
        return _call("run_command", command=f"(setsid sleep {SLEEP} >/dev/null 2>&1 &); cat {name}")
    return _call("read_file", path=name)


RULES = (
    ("not is_result", _opening(0)),
    *((f"'{mark(number)}' in result", _opening((number + 1) % PAGES)) for number in range(PAGES)),
    ("true", "The newest result names no page."),
)


@pytest.fixture(scope="module")
def spec(scripted_llama: Scripted) -> str:
    return scripted_llama(context=WINDOW, rules=RULES).spec


def _left_running() -> list[str]:
    listed = subprocess.run(["ps", "-axo", "stat=,args="], capture_output=True, text=True, check=True).stdout
    return [row for row in listed.splitlines() if f"sleep {SLEEP}" in row and not row.startswith("Z")]


def _run(tmp_path: Path, spec: str, calls: int, calls_a_turn: int) -> list[dict[str, Any]]:
    root = tmp_path / "ws"
    variables = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "user-config"), "PALIMPSEST_DETECT": "off"}
    prepare_workspace(Workspace(root), variables)
    for number in range(PAGES):
        lines = [mark(number), *(f"account {number * 97 + n}: {n * n * 31 % 9973}.{n:02d}" for n in range(40))]
        (root / f"page_{number:02d}.txt").write_text("\n".join(lines) + "\n")
    driver = [sys.executable, "-m", "tests.e2e.endless_driver", str(root), spec]
    done = subprocess.run(
        [*driver, str(calls), str(calls_a_turn), str(WINDOW), str(WORKING_SET)],
        cwd=ROOT,
        env={**os.environ, **variables, "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("calls", "calls_a_turn"),
    [
        pytest.param(30, 15, marks=pytest.mark.timeout(60)),
        pytest.param(1_000, 100, marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
def test_calls_without_end(tmp_path: Path, spec: str, calls: int, calls_a_turn: int) -> None:
    begun = time.monotonic()
    lines = _run(tmp_path, spec, calls, calls_a_turn)
    end = lines[-1]
    print(f"{time.monotonic() - begun:.0f} s", *map(json.dumps, lines), sep="\n")
    assert end["troubles"] == []
    assert calls <= end["calls"] <= calls + calls // calls_a_turn  # with those that the limit refused
    assert end["requests"] >= calls
    assert end["longest_prompt"] < WORKING_SET
    assert end["compactions"] >= calls // 30
    assert end["read_tokens"] < end["prompt_tokens"] / 3
    assert _left_running() == []
    if calls >= 1_000:
        assert (
            end["highest_mb"] < 1.6 * lines[0]["highest_mb"]
        )  # caches fill up to their bounds: 1.4 when last measured
