"""What a workspace that nobody trusts yet is asked before it is opened: its first entry, and how much it holds."""

import os
import shutil
import struct
import tempfile
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import apsw
import pytest

from memory.access import counts, first_entry
from memory.cold import untrusted_store
from memory.cold.read_only import has_journal
from memory.cold.sql import fetch, run
from tests.hostile.workspaces import fingerprint
from tests.memory.cold.drafts import open_store, said
from tests.memory.cold.test_processes import line, start

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A store whose process was killed over its first answer: all of it is in the journal."""
    database = tmp_path / "killed" / "cold.db"
    process = start("answer", str(database))
    assert line(process) == "begun"
    process.kill()
    process.communicate()
    assert has_journal(database)
    return database


def test_what_is_in_the_journal_alone_counts_and_nothing_beside_it_changes(killed: Path, scratch: Path) -> None:
    before = fingerprint(killed.parent)
    assert counts(killed) == (1, 1)
    assert first_entry(killed) == "e_underway"
    assert fingerprint(killed.parent) == before
    assert list(scratch.iterdir()) == []


def test_what_another_window_holds_open_counts_too(tmp_path: Path) -> None:
    database = tmp_path / "store" / "cold.db"
    window = start("answer", str(database))
    assert line(window) == "begun"
    assert (counts(database), first_entry(database)) == ((1, 1), "e_underway")
    assert window.poll() is None
    window.kill()
    window.communicate()


def test_no_store_and_one_that_was_just_made_hold_nothing(tmp_path: Path) -> None:
    assert counts(tmp_path / "cold.db") == (0, 0)
    (tmp_path / "cold.db").touch()
    assert counts(tmp_path / "cold.db") == (0, 0)
    assert first_entry(tmp_path / "cold.db") == ""


def torn(database: Path, _: pytest.MonkeyPatch) -> None:
    database.write_bytes(b"no database, and no journal's either" * 100)


def huge(database: Path, _: pytest.MonkeyPatch) -> None:
    os.truncate(database.with_name("cold.db-wal"), 2**40)  # a hole: it needs no room on the disk


def linked(database: Path, _: pytest.MonkeyPatch) -> None:
    journal = database.with_name("cold.db-wal")
    journal.rename(database.with_name("moved"))
    journal.symlink_to(database.with_name("moved"))


def piped(database: Path, _: pytest.MonkeyPatch) -> None:
    journal = database.with_name("cold.db-wal")
    journal.unlink()
    os.mkfifo(journal)


def full_disk(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=100))


def no_temporary_folder(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(Path(tempfile.gettempdir()) / "missing"))


@pytest.mark.parametrize("spoiled", [torn, huge, linked, full_disk, no_temporary_folder])
def test_what_cannot_be_counted_is_not_said_to_be_nothing(
    killed: Path,
    scratch: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoiled: Callable[[Path, pytest.MonkeyPatch], None],
) -> None:
    spoiled(killed, monkeypatch)
    assert counts(killed) is None
    assert first_entry(killed) == ""
    assert list(scratch.iterdir()) == []


def test_a_pipe_in_the_place_of_the_journal_is_not_waited_for(
    killed: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped(killed, monkeypatch)
    assert counts(killed) is None
    assert list(scratch.iterdir()) == []


def test_pages_that_refer_to_one_page_over_and_over_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(untrusted_store, "LONGEST", 0.2)
    database = tmp_path / "cold.db"
    bomb(database)
    with pytest.raises(apsw.InterruptError):
        untrusted_store.ask(database, lambda db: fetch(db, "SELECT count(*) FROM entries"))
    assert counts(database) is None


PAGE = 512
FAN_OUT = 50


def bomb(database: Path) -> None:
    """Counting the entries of this store takes 50 to the 8th looks at one page."""
    with closing(apsw.Connection(str(database))) as db:
        run(db, f"PRAGMA page_size = {PAGE}")
        run(db, "CREATE TABLE conversations (seq INTEGER PRIMARY KEY)")
        run(db, "CREATE TABLE entries (seq INTEGER PRIMARY KEY)")
        ((root,),) = fetch(db, "SELECT rootpage FROM sqlite_schema WHERE name = 'entries'")
        run(db, "CREATE TABLE filler (body BLOB)")
        run(db, "INSERT INTO filler VALUES (zeroblob(20000))")
    data = bytearray(database.read_bytes())
    levels = [int(root), *range(len(data) // PAGE - 8, len(data) // PAGE)]
    for page, below in pairwise(levels):
        data[(page - 1) * PAGE : page * PAGE] = interior(below)
    row = b"\x02\x01\x02\x00"  # rowid 1, and a record of one NULL
    leaf = struct.pack(">BHHHBH", 13, 0, 1, PAGE - len(row), 0, PAGE - len(row))
    data[(levels[-1] - 1) * PAGE : levels[-1] * PAGE] = leaf.ljust(PAGE - len(row), b"\0") + row
    database.write_bytes(data)


def interior(below: int) -> bytes:
    """A page of a table's tree, each of whose children is page `below`."""
    cells = b"".join(struct.pack(">IB", below, number + 1) for number in range(FAN_OUT))
    start = PAGE - len(cells)
    head = struct.pack(">BHHHBI", 5, 0, FAN_OUT, start, 0, below)
    pointers = b"".join(struct.pack(">H", start + 5 * number) for number in range(FAN_OUT))
    return (head + pointers).ljust(start, b"\0") + cells


def test_a_first_entry_in_the_file_of_the_store_is_read_without_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "copied" / "cold.db"
    with closing(open_store(tmp_path / "store" / "cold.db")) as store:
        entry = store.append(said(store.new_conversation().seq, "one"))
        store.empty_journal()
        store.append(said(store.new_conversation().seq, "two"))
        shutil.copytree(tmp_path / "store", copied.parent)
    assert has_journal(copied)
    no_temporary_folder(copied, monkeypatch)
    assert first_entry(copied) == entry.id
    assert counts(copied) is None
