"""Of a store whose end is cut off, what lies before the cut is kept, and the rest is named as lost."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.check import check, check_and_repair
from memory.cold.connection import open_store
from memory.cold.integrity.cut_off import with_its_own_length
from memory.cold.sql import fetch
from tests.memory.cold.integrity.filled_store import TEXTS, filled, texts_of

pytestmark = pytest.mark.timeout(60)
NOW = datetime(2026, 11, 1, tzinfo=UTC)
MANY = [f"{number}: " + " ".join(f"word{number * 7 + at}" for at in range(60)) for number in range(400)]


def rows_on_pages(database: Path, pages: int) -> int:
    """How many entries lie on the first so many pages."""
    db = open_store(database)
    try:
        sql = "SELECT sum(ncell) FROM dbstat WHERE name = 'entries' AND pagetype = 'leaf' AND pageno <= ?"
        return int(fetch(db, sql, (pages,))[0][0])
    finally:
        db.close()


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_repair_keeps_what_lies_before_the_cut(tmp_path: Path, share: float) -> None:
    workspace = filled(tmp_path / "ws", MANY)
    database = workspace.database
    length = round(database.stat().st_size * share)
    before_the_cut = rows_on_pages(database, length // 4096)
    os.truncate(database, length)
    assert check(workspace).problems
    report = check_and_repair(workspace, NOW)
    assert "entries" in "".join(report.lost)
    kept = texts_of(workspace)
    assert kept == [text for text in MANY if text in set(kept)]
    assert len(kept) == before_the_cut > 50
    assert check(workspace).problems == ()


def test_a_header_that_counts_too_many_pages_costs_nothing(tmp_path: Path) -> None:
    workspace = filled(tmp_path / "ws")
    raw = bytearray(workspace.database.read_bytes())
    raw[29] ^= 1
    workspace.database.write_bytes(raw)
    assert check(workspace).problems
    report = check_and_repair(workspace, NOW)
    assert (report.lost, report.problems) == ((), ())
    assert texts_of(workspace) == TEXTS


def test_whole_stores_and_what_is_none_stay_as_they_are(tmp_path: Path) -> None:
    whole = filled(tmp_path / "ws").database.read_bytes()
    for raw in (whole, b"", b"SQLite format 3\x00", b"x" * 4096, whole[:90]):
        assert with_its_own_length(raw) == raw
    cut = with_its_own_length(whole[: len(whole) // 2 + 17])
    assert int.from_bytes(cut[28:32]) == len(cut) // 4096
    assert len(cut) == len(whole) // 2 + 17
