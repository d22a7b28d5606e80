"""A workspace that was trusted while its store was empty trusts no other store that takes its place."""

import json
import os
import shutil
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.workspace_trust import trust_store
from memory import archive_conversation
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)


def is_trusted(root: Path) -> bool:
    from memory.access import first_entry

    workspace = Workspace(root)
    return trust_store(os.environ).state(workspace, first_entry(workspace.database)).trusted


def test_a_store_that_is_put_in_place_of_an_empty_one_is_not_trusted(run: Run, root: Path, tmp_path: Path) -> None:
    run("remember", "Tea at four.")
    archive_conversation("Seven white ships.", "ships", tmp_path / "theirs")
    shutil.rmtree(root / ".palimpsest")
    shutil.copytree(tmp_path / "theirs" / ".palimpsest", root / ".palimpsest")
    assert not is_trusted(root)
    ran = run("-p", "hello")
    assert ran.status == 1
    assert "open read-only" in ran.err


def test_the_first_entry_is_known_as_soon_as_it_is_committed(run: Run, root: Path) -> None:
    run("remember", "Tea at four.")
    run("-p", "hello")
    record = trust_store(os.environ).records()[0]
    said = [json.loads(line)["id"] for line in run("export", "--to", "jsonl").out.splitlines()]
    assert record.first_entries == (said[0],)
    assert is_trusted(root)


def test_a_store_that_was_emptied_and_goes_on_stays_trusted(run: Run, root: Path) -> None:
    run("-p", "hello")
    (conversation,) = run("conversations", "list", "--json").json["conversations"]
    assert run("conversations", "delete", conversation["id"], "--yes").status == 0
    assert is_trusted(root)
    assert run("-p", "hello again").status == 0
    assert is_trusted(root)
    assert run("remember", "that").status == 0
