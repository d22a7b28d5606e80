"""Trust belongs to a folder and the first entry of its store, not to a path."""

import json
import os
import shutil
from pathlib import Path

import apsw
import pytest

from foundation.paths import Workspace
from memory.cold.sql import run as execute
from memory.memory import Memory
from tests.agent.conftest import Run
from tests.agent.trust.cloned import conversation_of
from tests.hostile.flips import cells, flipped, put

pytestmark = pytest.mark.timeout(60)


def test_another_folder_at_the_same_path_is_not_trusted(run: Run, root: Path, tmp_path: Path) -> None:
    """S6.7: trust was of a path."""
    assert run("-p", "hello").status == 0
    other = tmp_path / "other"
    shutil.copytree(root, other, symlinks=True)
    root.rename(tmp_path / "moved-away")
    other.rename(root)
    done = run("remember", "that")
    assert done.status == 1
    assert done.err.count("is not the folder you trusted at this path") == 2, "the notice and the error say the same"
    assert "not made here" not in done.err


def test_another_store_in_the_same_folder_is_not_trusted(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    db = apsw.Connection(str(Workspace(root).database))
    execute(db, "UPDATE entries SET id = 'e_000000000000' WHERE seq = 1")
    execute(db, "PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    done = run("remember", "that")
    assert done.status == 1
    assert "has a different database than the" in done.err


def test_a_flipped_bit_in_the_first_id_says_so_and_a_repair_keeps_the_trust(run: Run, root: Path) -> None:
    """Damage looks as another store does; `check` tells them apart."""
    assert run("-p", "hello").status == 0
    flip_first_id(root)
    done = run("remember", "that")
    assert done.status == 1
    assert "or an id is damaged: run `palimpsest check`" in done.err
    checked = run("check")
    assert checked.status == 1
    assert "A bit flipped in its id" in checked.out
    assert run("trust").status == 0
    assert run("check", "--repair").status in {0, 1}
    assert run("remember", "that").status == 0, "the id that the repair put back is the trusted one"


def flip_first_id(root: Path) -> None:
    database = Workspace(root).database
    cell = next(cell for cell in cells(database) if cell.name == "entries.id" and ("seq", 1) in cell.key)
    put(database, cell, flipped(cell, 8 * (len(cell.value) - 1)), cell.value)
    db = apsw.Connection(str(database))
    execute(db, "PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def test_another_device_number_alone_does_not_end_the_trust(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    trusted = Path(os.environ["PALIMPSEST_CONFIG_DIR"]) / "trusted.json"
    store = json.loads(trusted.read_text())
    store["workspaces"][0]["device"] += 1
    trusted.write_text(json.dumps(store))
    assert run("remember", "that").status == 0
    store["workspaces"][0]["inode"] += 1
    trusted.write_text(json.dumps(store))
    assert run("remember", "that").status == 1


def test_a_list_of_paths_from_before_gets_its_identity_at_the_first_opening(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    trusted = Path(os.environ["PALIMPSEST_CONFIG_DIR"]) / "trusted.json"
    trusted.write_text(json.dumps([str(root)]))
    assert run("remember", "that").status == 0
    (record,) = json.loads(trusted.read_text())["workspaces"]
    assert record["inode"] == root.stat().st_ino
    assert len(record["first_entries"]) == 1


def test_deleting_the_first_conversation_keeps_the_trust(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    first = conversation_of(root)
    assert run("-p", "a second one").status == 0
    assert run("conversations", "delete", first, "--yes").status == 0
    assert run("remember", "that").status == 0


def test_a_kill_after_the_first_conversation_was_deleted_keeps_the_trust(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    assert run("-p", "a second one").status == 0
    memory = Memory.open(Workspace(root))
    memory.vault.delete_conversation(1)
    trusted = Path(os.environ["PALIMPSEST_CONFIG_DIR"]) / "trusted.json"
    as_killed = trusted.read_bytes()
    memory.close()
    trusted.write_bytes(as_killed)  # as if the process had ended before it closed
    assert run("remember", "that").status == 0
