"""Of a damaged table, every row is read that lies on a page that can be read."""

from pathlib import Path
from random import Random

import apsw
import pytest

from memory.cold.connection import connect, open_store
from memory.cold.integrity.readable_rows import ReadableRows
from memory.cold.sql import fetch, run, run_many

PAGE = 4096
ROWS = 20_000
LEAF = 13  # the first byte of a page with rows of a table: https://sqlite.org/fileformat2.html#b_tree_pages


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "cold.db"
    path.touch(0o600)
    db = connect(path)
    try:
        run(db, "CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")
        run(db, "CREATE TABLE names (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT")
        run(db, "CREATE TABLE parts (entry INTEGER, n INTEGER, PRIMARY KEY (entry, n)) STRICT, WITHOUT ROWID")
        run(db, "BEGIN")
        numbers = range(1, ROWS + 1)
        run_many(db, "INSERT INTO rows VALUES (?, ?)", [(number, f"the text of {number}") for number in numbers])
        run_many(db, "INSERT INTO names VALUES (?, ?)", [(f"n{number}", "x" * 20) for number in numbers])
        run_many(db, "INSERT INTO parts VALUES (?, ?)", [(number // 3, number % 3) for number in numbers])
        run(db, "COMMIT")
    finally:
        db.close()
    return path


def read(store: Path, table: str, *columns: str) -> tuple[set[tuple[object, ...]], bool]:
    db = open_store(store)
    try:
        rows = ReadableRows(db, table, columns)
        return set(rows), rows.is_whole
    finally:
        db.close()


def leaves(store: Path, table: str, kind: int = LEAF) -> list[int]:
    """The table's pages with rows, in their order."""
    db = open_store(store)
    try:
        where = "WHERE name = ? AND pagetype = 'leaf'"
        found = [row[0] for row in fetch(db, f"SELECT pageno FROM dbstat {where} ORDER BY path", (table,))]
    finally:
        db.close()
    raw = store.read_bytes()
    assert all(raw[(page - 1) * PAGE] == kind for page in found)
    return found


def spoil(store: Path, pages: list[int]) -> int:
    """Overwrites the pages; gives the number of rows that lay on them."""
    raw, lost = bytearray(store.read_bytes()), 0
    for page in pages:
        start = (page - 1) * PAGE
        lost += int.from_bytes(raw[start + 3 : start + 5])
        raw[start : start + PAGE] = b"\xff" * PAGE
    store.write_bytes(raw)
    return lost


def test_a_whole_table_is_read_once(store: Path) -> None:
    rows, is_whole = read(store, "rows", "number", "text")
    assert is_whole
    assert rows == {(number, f"the text of {number}") for number in range(1, ROWS + 1)}


@pytest.mark.parametrize("table", ["rows", "names"])
@pytest.mark.parametrize("seed", range(8))
def test_only_the_rows_of_damaged_pages_are_lost(store: Path, table: str, seed: int) -> None:
    random = Random(seed)
    inner = leaves(store, table)[:-1]
    lost = spoil(store, random.sample(inner, random.randint(1, 12)))
    rows, is_whole = read(store, table, "text", "rowid")
    assert not is_whole
    assert len(rows) == ROWS - lost


def test_behind_a_last_page_that_is_damaged_too(store: Path) -> None:
    pages = leaves(store, "rows")
    lost = spoil(store, [pages[20], pages[50], pages[-1]])
    assert len(read(store, "rows", "number")[0]) == ROWS - lost


def test_the_first_page_of_all(store: Path) -> None:
    pages = leaves(store, "rows")
    lost = spoil(store, pages[:1])
    assert len(read(store, "rows", "number")[0]) == ROWS - lost


def test_a_table_in_the_order_of_its_key_is_read_between_two_damaged_pages(store: Path) -> None:
    pages = leaves(store, "parts", kind=10)
    lost = spoil(store, [pages[3], pages[-4]])
    assert len(read(store, "parts", "entry", "n")[0]) == ROWS - lost


def test_a_table_without_any_readable_page_gives_nothing(store: Path) -> None:
    spoil(store, leaves(store, "rows"))
    assert read(store, "rows", "number") == (set(), False)


def test_no_database_gives_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cold.db"
    path.touch(0o600)
    path.write_bytes(b"no database at all" * 1000)
    db = open_store(path)
    try:
        with pytest.raises(apsw.NotADBError):
            fetch(db, "PRAGMA integrity_check")
        rows = ReadableRows(db, "rows", ["number"])
        assert (list(rows), rows.is_whole) == ([], False)
    finally:
        db.close()
