"""A disk that is full or refuses, at every call of every kind of write: nothing is acknowledged that is not there, all
that came before is readable, and the next write is made."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT
from tests.trust.writes import KINDS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forks of one process")
SAMPLED = [pytest.mark.slow, pytest.mark.timeout(120)]
WHOLE = [pytest.mark.soak, pytest.mark.timeout(3600)]


def failures(folder: Path, error: str, every: int, *kinds: str) -> dict[str, Any]:
    script = [sys.executable, "-m", "tests.trust.fail_writes", str(folder), error, str(every), *kinds]
    ran = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout)


@pytest.mark.parametrize(
    ("error", "every", "kinds"),
    [
        pytest.param("ENOSPC", 9, ("entries", "prompt history"), marks=SAMPLED, id="no room at some calls"),
        pytest.param("EIO", 13, ("notes", "versions"), marks=SAMPLED, id="an error at some calls"),
        pytest.param("ENOSPC", 1, tuple(KINDS), marks=WHOLE, id="no room at every call"),
        pytest.param("EIO", 1, tuple(KINDS), marks=WHOLE, id="an error at every call"),
    ],
)
def test_no_failing_call_is_acknowledged_or_loses_anything(
    tmp_path: Path, error: str, every: int, kinds: tuple[str, ...]
) -> None:
    outcomes = failures(tmp_path, error, every, *kinds)
    print(json.dumps({kind: [outcome["failed"], outcome["acknowledged"]] for kind, outcome in outcomes.items()}))
    assert [line for outcome in outcomes.values() for line in outcome["wrong"]] == []
    assert all(outcome["failed"] for outcome in outcomes.values()), "no call failed"
    assert not [kind for kind, outcome in outcomes.items() if "SQLite's sync" in outcome["acknowledged"]]
    refused = {kind: outcome["failed"] - sum(outcome["acknowledged"].values()) for kind, outcome in outcomes.items()}
    assert all(refused.values()), refused


@pytest.mark.timeout(60)
def test_a_write_that_swallows_its_failure_is_found_out(tmp_path: Path) -> None:
    """The control: a draft that says it is saved whatever the disk says."""
    outcomes = failures(tmp_path, "ENOSPC", 1, "drafts", "careless")
    assert outcomes["drafts"]["wrong"]


MOUNT = 'mkdir -p "$1" && mount -t tmpfs -o size=6m none "$1" && shift && exec "$@"'


def can_mount() -> bool:
    return (
        bool(shutil.which("unshare"))
        and not subprocess.run(["unshare", "-Urm", "true"], check=False, capture_output=True).returncode
    )


def on_a_small_disk(module: str, disk: Path, *words: str) -> dict[str, Any]:
    """What the module prints, run with a disk of 6 MB at that folder, which goes with the process."""
    ran = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", MOUNT, "sh", str(disk), sys.executable, "-m", module, str(disk), *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout)


ON_A_SMALL_DISK = pytest.mark.skipif(not can_mount(), reason="needs Linux and the right to mount a disk of one's own")


@ON_A_SMALL_DISK
@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param(("packs",), marks=SAMPLED, id="one"),
        pytest.param(tuple(KINDS), marks=WHOLE, id="all"),
    ],
)
def test_a_real_disk_that_fills_up_loses_nothing_that_was_acknowledged(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    disk = tmp_path / "disk"
    outcomes = on_a_small_disk("tests.trust.fill_disk", disk, *kinds)
    print(json.dumps(outcomes))
    assert [line for outcome in outcomes.values() for line in outcome["wrong"]] == []
    assert all(outcome["refused"] and outcome["after"] for outcome in outcomes.values()), outcomes


@ON_A_SMALL_DISK
@pytest.mark.timeout(300)
def test_on_a_disk_without_a_free_byte_all_can_be_read_and_a_refusal_is_true(tmp_path: Path) -> None:
    outcomes = on_a_small_disk("tests.trust.full_disk_commands", tmp_path / "disk")
    for command, words in {
        "search teapot": "the teapot is blue",
        "memory list": "the teapot is blue",
        "memory log": "MEMORY.md",
        "check": "",
        "export": "exported/c_",
        "forget teapot --dry-run": "where is the teapot?",
    }.items():
        status, out, err = outcomes[command]
        assert (status, words in out) == (0, True), (command, out, err)
        assert f"The disk of {tmp_path / 'disk' / 'workspace'} is full: the workspace is open read-only." in err, (
            command
        )
    for command, words in {
        "forget teapot --yes": "Nothing was forgotten",
        "remember": "Nothing was written;",
        "memory edit": "Nothing was written;",
        "config set": ".palimpsest/config.yaml",
        "-p": "Nothing was written;",
    }.items():
        status, out, err = outcomes[command]
        assert (status, words in err, "Free some space" in err) == (1, True, True), (command, out, err)
    assert outcomes["after"][0] == 0, outcomes["after"]
    assert "Forgotten: 2 entries" in outcomes["forgotten after"][1]


@ON_A_SMALL_DISK
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("state", "why"), [("full", "The disk of {} is full"), ("read-only", "{} cannot be written to")]
)
def test_the_chat_opens_to_be_read_and_sends_once_it_can_write_again(state: str, why: str) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # a short name: each sentence stays on its line
        disk = Path(folder) / "disk"
        seen = on_a_small_disk("tests.trust.full_disk_chat", disk, state)
    assert "failed" not in seen, (list(seen), seen["failed"])
    assert f"{why.format(disk / 'workspace')}: you can read, /search and /recall" in seen["opened"]
    assert "read-only · " in seen["opened"]
    assert "where is the teapot?" in seen["opened"]
    for command in ("search", "recall"):
        assert "2 found" in seen[command]
    assert f"{why.format(disk / 'workspace')}. Nothing was written;" in seen["refused"]
    assert "could not be" not in seen["refused"], "nothing is said twice"
    prompt = seen["refused"].partition("not sent: back in the prompt")[2]
    assert "❯ what has no room" in prompt, "the draft is in the prompt again"
    assert "not sent: back in the prompt" in seen["refused"]
    assert ("you can read" in seen["sent again"], "read-only" in seen["sent again"]) == (False, False)
    assert seen["status"] == "0"
    assert seen["stored"].count("what has no room") == 1


@ON_A_SMALL_DISK
@pytest.mark.timeout(300)
def test_an_answer_on_a_disk_that_fills_up_says_so_and_is_stored_once_there_is_room() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        seen = on_a_small_disk("tests.trust.full_disk_answer", Path(folder) / "disk")
    assert "failed" not in seen, (list(seen), seen["failed"])
    assert "The disk is full: this answer is not saved until there is free space." in seen["full"]
    assert "on the screen only" not in seen["room"].splitlines()[-1]
    assert "your message is saved," in seen["ended"]
    assert "the answer is then stored" in seen["ended"]
    assert "not sent: back in the prompt" not in seen["ended"]
    assert seen["status"] == "0"
    for name, screen in (("alpha", seen["room"]), ("beta", seen["stored"])):
        numbers = [int(number) for number in re.findall(rf"{name}(\d+),", screen)]
        assert " ".join(f"{name}{number}," for number in range(max(numbers) + 1)) in seen["export"]
