"""A person edits MEMORY.md in another program at the very moment that we write to it. Nothing of theirs is lost."""

import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from foundation.clock import SystemClock
from foundation.errors import TemporaryFailure
from foundation.files import write_atomically
from foundation.paths import Workspace
from foundation.privacy import as_given, clear
from memory.hot import HotMemory

EDITS = 200

REPLACES = """
import os, sys, time
path, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    while True:
        try:
            text = open(path, encoding="utf-8", newline="").read()
            break
        except OSError:
            pass
    beside = path + "~"
    with open(beside, "w", encoding="utf-8", newline="") as file:
        file.write(f"by hand {number:05}\\n" + text if number % 2 else text + f"by hand {number:05}\\n")
    while True:
        try:
            os.replace(beside, path)
            break
        except PermissionError:
            pass
    time.sleep(0.001)
"""

APPENDS = """
import sys, time
path, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    with open(path, "a", encoding="utf-8", newline="") as file:
        file.write(f"by hand {number:05}\\n")
    time.sleep(0.002)
"""


def race(script: str, path: Path, ours: Callable[[int], object], edits: int = EDITS) -> int:
    """Runs the person's editor in a process of its own and ours beside it; how often ours wrote."""
    path.write_text("# Memory\n", encoding="utf-8")
    wrote = 0
    with subprocess.Popen([sys.executable, "-c", script, str(path), str(edits)]) as editor:
        while editor.poll() is None:
            ours(wrote)
            wrote += 1
        assert editor.returncode == 0
    return wrote


def lost(text: str, edits: int = EDITS) -> int:
    found = set(re.findall(r"by hand (\d{5})", text))
    return edits - len(found)


@pytest.mark.parametrize(
    "script", [REPLACES, APPENDS], ids=["an editor that replaces the file", "one that appends in place"]
)
@pytest.mark.parametrize(
    "edits",
    [
        pytest.param(EDITS, marks=pytest.mark.timeout(60)),
        pytest.param(1_500, marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
def test_no_racing_edit_is_lost(workspace: Workspace, script: str, edits: int) -> None:
    hot = HotMemory(workspace, SystemClock())

    def remember(number: int) -> None:
        with suppress(
            TemporaryFailure
        ):  # a slow machine may not find a pause in ten seconds; nothing may be lost then either
            hot.remember(clear(f"ours {number}"))

    wrote = race(script, workspace.memory_md, remember, edits)
    time.sleep(0.1)
    hot.refresh()
    text = workspace.memory_md.read_text(encoding="utf-8")
    assert wrote >= 2, "both must have written for this to prove anything"
    print(f"{edits} edits by hand, {wrote} of ours")
    assert lost(text, edits) == 0
    assert not re.search("^(<<<<|>>>>|====)", text, re.MULTILINE)


@pytest.mark.timeout(60)
def test_control_a_blind_write_loses_racing_edits(workspace: Workspace) -> None:
    path = workspace.memory_md

    def blind(number: int) -> None:
        text = path.read_text(encoding="utf-8")
        write_atomically(path, as_given(text + f"ours {number}\n"))

    assert race(REPLACES, path, blind) >= 3
    assert lost(path.read_text(encoding="utf-8")) > 0
