"""The store opens in the one way that keeps what it acknowledged, or says why not."""

import sys
from pathlib import Path

import apsw
import pytest

from memory.cold import ColdStore, connection
from memory.cold.connection import connect, make_place, refuse_old_sqlite
from memory.cold.sql import fetch, pragma
from memory.errors import CannotOpen, Damaged, StoreError
from tests.memory.cold.drafts import open_store, said
from tests.paths import ROOT


@pytest.mark.parametrize("version", ["3.51.2", "3.9.0", "2.99.99"])
def test_an_old_sqlite_is_refused_with_a_sentence(version: str) -> None:
    with pytest.raises(CannotOpen, match=rf"SQLite {version} can damage the database; 3\.51\.3"):
        refuse_old_sqlite(version)


@pytest.mark.parametrize("version", ["3.51.3", "3.100.0", "4.0.0", apsw.sqlite_lib_version()])
def test_a_newer_sqlite_is_taken(version: str) -> None:
    refuse_old_sqlite(version)


def test_every_pragma_reads_back_as_it_was_set(database: Path) -> None:
    make_place(database)
    db = connect(database)
    assert fetch(db, "PRAGMA journal_mode") == [("wal",)]
    wanted = {"synchronous": 2, "secure_delete": 1, "foreign_keys": 1, "busy_timeout": connection.BUSY_MS}
    assert {name: pragma(db, name) for name in wanted} == wanted
    if sys.platform == "darwin":
        assert (pragma(db, "fullfsync"), pragma(db, "checkpoint_fullfsync")) == (1, 1)
    db.close()


def test_a_pragma_that_is_not_taken_is_an_error(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_pragmas", lambda *_, **__: [("no_such_pragma", 1)])
    with pytest.raises(StoreError, match="no_such_pragma was set to 1 and reads"):
        open_store(database)


def test_a_journal_that_is_not_written_ahead_is_an_error() -> None:
    with pytest.raises(StoreError, match="journal_mode"):
        connect(Path(":memory:"))


def test_a_file_of_another_kind_is_refused(database: Path) -> None:
    database.parent.mkdir()
    database.write_bytes(b"My diary, not a database. " * 200)
    with pytest.raises(Damaged, match=r"cold\.db is not an intact SQLite database"):
        open_store(database)
    assert database.read_bytes().startswith(b"My diary")


def test_a_damaged_store_is_told_as_damaged(database: Path) -> None:
    cold = open_store(database)
    cold.append_many([said(cold.new_conversation().seq, f"words {n}") for n in range(4000)])
    cold.close()
    raw = bytearray(database.read_bytes())
    half = len(raw) // 2  # the schema stands in the first pages, the entries in the last
    raw[half:] = b"\xa5" * (len(raw) - half)
    database.write_bytes(raw)
    cold = open_store(database)
    problems = cold.check()
    assert problems
    assert {problem.what for problem in problems} == {"file"}
    with pytest.raises(Damaged, match="not an intact SQLite database"):
        cold.entries(range(1, 4000))
    cold.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps rights in another way")
def test_a_store_that_was_open_to_others_is_closed_to_them(database: Path) -> None:
    open_store(database).close()
    database.chmod(0o644)
    database.parent.chmod(0o755)
    open_store(database).close()
    assert (database.stat().st_mode & 0o777, database.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_folder_in_the_place_of_the_store_is_told(database: Path) -> None:
    database.mkdir(parents=True)
    with pytest.raises(CannotOpen, match=r"cold\.db"):
        open_store(database)


def test_the_store_needs_no_search_room_to_open() -> None:
    import subprocess

    rooms = ("memory.search", "memory.archive", "numpy", "textual", "zstandard", "filelock")
    code = f"import sys, memory.cold; sys.exit(any(module.startswith({rooms}) for module in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0
    assert ColdStore.__doc__
