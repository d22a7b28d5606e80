"""Hard links out of a trusted workspace: nothing is written through them."""

import os
import sys
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.workspace_trust import trust_store
from tests.agent.conftest import Run
from tests.hostile.workspaces import fingerprint

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.skipif(sys.platform == "win32", reason="modes are compared"),
]


def every_file(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())


def test_no_command_writes_through_a_hard_link(run: Run, root: Path, tmp_path: Path) -> None:
    """Every file of a workspace has a second name outside, as after `cp -al`."""
    assert run("-p", "seven white ships").status == 0
    assert run("remember", "the lighthouse has 112 steps").status == 0
    outside = tmp_path / "outside"
    outside.mkdir()
    for number, path in enumerate(every_file(root)):
        os.link(path, outside / f"{number}-{path.name}")
    assert trust_store(os.environ).state(Workspace(root)).trusted
    before = fingerprint(outside)
    said = run("-p", "and now?")
    assert said.status == 1
    assert "cold.db has another hard link" in said.err
    assert "mv" in said.err
    for words in (
        ("remember", "that"),
        ("config", "set", "tools.most_calls", "9"),
        ("check", "--repair"),
        ("search", "x"),
    ):
        run(*words)
        assert fingerprint(outside) == before, words


def test_with_a_store_of_its_own_the_rest_is_replaced(run: Run, root: Path, tmp_path: Path) -> None:
    assert run("-p", "seven white ships").status == 0
    assert run("remember", "the lighthouse has 112 steps").status == 0
    outside = tmp_path / "outside"
    outside.mkdir()
    for number, path in enumerate(every_file(root)):
        if not path.name.startswith("cold.db"):
            os.link(path, outside / f"{number}-{path.name}")
    before = fingerprint(outside)
    conversation = next((root / "conversations").glob("*.md"))
    for words in (("-p", "and now?", "-r", conversation.stem), ("remember", "that"), ("archive", "--repack")):
        assert run(*words).status == 0, run(*words).err
        assert fingerprint(outside) == before, words
    assert "and now?" in conversation.read_text()
