"""What an earlier version kept of titles and labels that others took the place of goes with the migration."""

from pathlib import Path

import apsw

from memory.cold.schema import migrate
from memory.cold.sql import fetch, run
from tests.memory.cold.released import load

VALUE = """INSERT INTO sync_values (conversation, field, value, clock, device, own, segment)
    VALUES (1, ?, ?, ?, ?, ?, ?)"""
WRITTEN = "INSERT INTO sync_written (location, name, number, size) VALUES ('there', ?, ?, 1)"


def migrated(tmp_path: Path, mirror: bytes) -> apsw.Connection:
    load(13, tmp_path / "cold.db")
    db = apsw.Connection(str(tmp_path / "cold.db"))
    run(db, "DELETE FROM sync_values")
    run(db, VALUE, ("", b"Old words", 1, "d_here", 1, 1))
    run(db, VALUE, ("", b"Trip \xed\xa0\x80", 3, "d_there", 0, None))
    run(db, VALUE, ("", b"Later, and earlier by its clock", 2, "d_here", 1, 2))
    run(db, VALUE, ("travel", b"", 4, "d_here", 1, 2))
    run(db, VALUE, ("gone", b"", 5, "d_here", 1, 3))
    run(db, VALUE, ("gone", None, 6, "d_here", 1, 3))
    for number in (1, 2, 3, 4):
        run(db, WRITTEN, (f"segment {number}", number))
    run(
        db,
        "INSERT OR REPLACE INTO mirrors (conversation, leaf, head, bytes, sha256) VALUES (1, 1, ?, 1, x'00')",
        (mirror,),
    )
    migrate(db)
    return db


def test_only_the_titles_and_labels_that_hold_are_kept_and_segments_are_written_anew(tmp_path: Path) -> None:
    db = migrated(tmp_path, b"title: Old words")
    values = fetch(db, "SELECT field, value FROM sync_values ORDER BY clock")
    assert values == [("", b"Trip \xed\xa0\x80"), ("travel", b""), ("gone", None)]
    stale = fetch(db, "SELECT number FROM sync_written WHERE stale = 1 ORDER BY number")
    assert stale == [(1,), (2,), (3,)]
    assert fetch(db, "SELECT head FROM mirrors") == [(b"",)], "it names another title, and is written anew"


def test_a_readable_copy_with_the_title_that_holds_stays(tmp_path: Path) -> None:
    db = migrated(tmp_path, b"title: Trip \xed\xa0\x80")
    assert fetch(db, "SELECT head FROM mirrors") == [(b"title: Trip \xed\xa0\x80",)]
