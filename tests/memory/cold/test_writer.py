"""One thread writes; each function given to it is a transaction of its own."""

import threading
from collections.abc import Iterator
from concurrent.futures import wait
from pathlib import Path

import apsw
import pytest

from memory.cold.connection import ReaderPool, connect, make_place
from memory.cold.sql import fetch, run
from memory.cold.writer import Writer
from memory.errors import StoreClosed


@pytest.fixture
def writer(database: Path) -> Iterator[Writer]:
    make_place(database)
    writer = Writer(lambda: connect(database))
    writer.run(lambda db: run(db, "CREATE TABLE t (x)"))
    yield writer
    writer.close()


def add(value: int) -> object:
    return lambda db: run(db, "INSERT INTO t VALUES (?)", (value,))


def values(writer: Writer) -> list[int]:
    return [x for (x,) in writer.run(lambda db: fetch(db, "SELECT x FROM t ORDER BY rowid"))]


def test_what_is_due_runs_in_order_and_what_is_late_runs_late(writer: Writer) -> None:
    late = writer.later(add(3), 0.05)
    now = [writer.later(add(n), 0) for n in (1, 2)]
    wait([late, *now])
    assert values(writer) == [1, 2, 3]


def test_all_transactions_run_on_the_one_thread(writer: Writer) -> None:
    seen: set[int] = set()
    threads = [threading.Thread(target=writer.run, args=(lambda _: seen.add(threading.get_ident()),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 1
    assert threading.get_ident() not in seen


def test_what_a_function_raises_comes_back_and_its_work_does_not_stay(writer: Writer) -> None:
    def fails(db: apsw.Connection) -> None:
        run(db, "INSERT INTO t VALUES (1)")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        writer.run(fails)
    assert values(writer) == []


def test_it_is_committed_when_run_returns(writer: Writer, database: Path) -> None:
    writer.run(add(1))
    other = apsw.Connection(str(database))
    assert fetch(other, "SELECT x FROM t") == [(1,)]
    other.close()


def test_closing_runs_what_was_planned_for_later(database: Path) -> None:
    make_place(database)
    writer = Writer(lambda: connect(database))
    writer.run(lambda db: run(db, "CREATE TABLE t (x)"))
    writer.later(add(1), 60)
    writer.close()
    other = apsw.Connection(str(database))
    assert fetch(other, "SELECT x FROM t") == [(1,)]
    other.close()
    with pytest.raises(StoreClosed):
        writer.run(add(2))


class FakeConnection:
    """Stands for one whose disk fails while it commits."""

    in_transaction = False

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def execute(self, sql: str, _values: object) -> "FakeConnection":
        self.log.append(sql)
        if sql == "COMMIT" and self.log.count("COMMIT") == 1:
            raise apsw.IOError("the disk does not answer")
        return self

    def fetchall(self) -> list[object]:
        return []

    def changes(self) -> int:
        return 0

    def close(self) -> None:
        self.log.append("closed")


def test_after_a_failed_sync_the_store_is_opened_anew() -> None:
    log: list[str] = []

    def opens() -> apsw.Connection:
        log.append("opened")
        return FakeConnection(log)

    writer = Writer(opens)
    with pytest.raises(apsw.IOError):
        writer.run(lambda _: None)
    writer.run(lambda _: None)
    writer.close()
    assert log == ["opened", "BEGIN IMMEDIATE", "COMMIT", "closed", "opened", "BEGIN IMMEDIATE", "COMMIT", "closed"]


def test_readers_lend_one_connection_to_one_at_a_time(writer: Writer, database: Path) -> None:
    writer.run(add(1))
    opened: list[apsw.Connection] = []

    def opens() -> apsw.Connection:
        opened.append(connect(database, writes=False))
        return opened[-1]

    readers = ReaderPool(opens)
    for _ in range(5):
        readers.run(lambda db: fetch(db, "SELECT * FROM t"))
    assert len(opened) == 1
    assert readers.run(lambda db: readers.run(lambda other: db is not other))
    assert len(opened) == 2
    with pytest.raises(ZeroDivisionError):
        readers.run(lambda _: 1 / 0)
    assert len(opened) == 2
    readers.close()
    with pytest.raises(StoreClosed):
        readers.run(lambda _: None)


def test_the_data_version_moves_with_every_commit_and_no_read(writer: Writer, database: Path) -> None:
    readers = ReaderPool(lambda: connect(database, writes=False))
    first = readers.data_version()
    readers.run(lambda db: fetch(db, "SELECT * FROM t"))
    assert readers.data_version() == first
    writer.run(add(1))
    assert readers.data_version() != first
    readers.close()
