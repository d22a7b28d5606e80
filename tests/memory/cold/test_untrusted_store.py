"""A store of an older version that may be another person's: a copy is brought forward, and nothing of it runs."""

import shutil
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import apsw
import pytest

from foundation.clock import SystemClock
from memory.cold import ColdStore
from memory.cold.read_only import has_journal
from memory.cold.sql import run
from memory.errors import CannotOpen, Damaged, ReadOnly
from tests.agent.released.test_released_workspaces import FOLDER, RELEASES
from tests.hostile.workspaces import fingerprint


@pytest.fixture(params=[release for release in RELEASES if release < "0.3.1"])  # 0.3.1 wrote the present schema
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with tarfile.open(FOLDER / f"{request.param}.tar.xz") as tar:
        tar.extractall(tmp_path / "older", filter="data")
    return tmp_path / "older" / "workspace" / ".palimpsest" / "cold.db"


def opened(path: Path, scratch: Path) -> ColdStore:
    scratch.mkdir(exist_ok=True)
    refusal = ReadOnly("Not trusted", "Nothing is written.", "")
    return ColdStore.open_untouched(path, scratch, lambda: refusal, analyse=lambda *_: [], clock=SystemClock())


def test_it_is_read_twice_from_the_same_scratch_folder_and_not_written_to(older: Path, tmp_path: Path) -> None:
    before = fingerprint(older.parent)
    for _ in range(2):
        store = opened(older, tmp_path / "scratch")
        assert store.find("r1").text
        assert store.check() == []
        with pytest.raises(ReadOnly, match="Nothing is written"):
            store.new_conversation()
        store.close()
    assert fingerprint(older.parent) == before


def test_what_stands_in_its_journal_alone_is_read_too(older: Path, tmp_path: Path) -> None:
    db = apsw.Connection(str(older))
    run(db, "PRAGMA journal_mode = WAL")
    run(db, "UPDATE conversations SET created_ms = 86400000 WHERE seq = 1")
    there = tmp_path / "cut-off"
    shutil.copytree(older.parent, there)
    db.close()
    assert has_journal(there / "cold.db")
    store = opened(there / "cold.db", tmp_path / "scratch")
    assert store.conversation_at(1).created.timestamp() == 86_400
    store.close()


def test_a_foreign_trigger_in_it_is_refused_and_does_not_run(older: Path, tmp_path: Path) -> None:
    db = apsw.Connection(str(older))
    run(db, "CREATE TRIGGER evil AFTER UPDATE ON entries BEGIN DELETE FROM labels; END")
    run(db, "PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    with pytest.raises(Damaged, match="evil"):
        opened(older, tmp_path / "scratch")
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_store_for_whose_copy_there_is_no_room_is_told_as_that(
    older: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nearly_full(_: Any) -> Any:
        return SimpleNamespace(free=older.stat().st_size)

    monkeypatch.setattr("shutil.disk_usage", nearly_full)
    with pytest.raises(CannotOpen, match="bytes are needed there"):
        opened(older, tmp_path / "scratch")
