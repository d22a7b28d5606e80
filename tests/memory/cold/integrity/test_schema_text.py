"""A flipped bit in the text of the schema costs no row: the program knows that text."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.check import check, check_and_repair
from memory.cold.integrity.salvage import salvage_store
from tests.memory.cold.integrity.filled_store import TEXTS, filled, texts_of

pytestmark = pytest.mark.timeout(60)
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def flip(database: Path, word: bytes, offset: int) -> None:
    for ending in ("-wal", "-shm"):
        database.with_name(database.name + ending).unlink(missing_ok=True)
    raw = bytearray(database.read_bytes())
    at = raw.index(word) + offset
    raw[at] ^= 1
    database.write_bytes(raw)


@pytest.mark.parametrize(
    ("word", "offset"),
    [
        (b"CREATE TABLE entries", 7),
        (b"CREATE TABLE entries", 14),
        (b"tableentriesentries", 6),
        (b"CREATE TABLE conversations", 0),
        (b"CREATE INDEX", 8),
    ],
)
def test_a_repair_brings_every_row_back(tmp_path: Path, word: bytes, offset: int) -> None:
    workspace = filled(tmp_path / "ws")
    flip(workspace.database, word, offset)
    assert check(workspace).problems
    report = check_and_repair(workspace, NOW)
    assert (report.lost, report.problems) == ((), ())
    assert texts_of(workspace) == TEXTS
    assert check(workspace).problems == ()


def test_names_of_columns_are_known_too_and_the_kept_copy_stays_damaged(tmp_path: Path) -> None:
    workspace = filled(tmp_path / "ws")
    flip(workspace.database, b"body         BLOB,", 2)
    damaged = tmp_path / "damaged.db"
    shutil.copy(workspace.database, damaged)
    found = salvage_store(workspace.database, tmp_path / "kept")
    assert (found.rows > len(TEXTS), found.broken) == (True, ())
    assert texts_of(workspace) == TEXTS
    assert (tmp_path / "kept" / "cold.db").read_bytes() == damaged.read_bytes()
    assert not list(workspace.database.parent.glob("cold.db.*"))
