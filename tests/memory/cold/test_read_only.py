"""A store that may not be written to is read, and says so to whoever wants to write."""

import os
import sys
from pathlib import Path

import pytest

from foundation.privacy import Cleared
from memory.cold import ColdStore
from memory.cold.read_only import read_only
from memory.errors import CannotOpen, ReadOnly
from tests.memory.cold.drafts import answered, open_store, said
from tests.memory.cold.released import load
from tests.read_only_folder import sealed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps rights in another way")

_BY_ROOT = pytest.mark.skipif(sys.platform != "win32" and os.geteuid() != 0, reason="only root can give files away")


def test_what_it_holds_is_read_and_nothing_is_written(cold: ColdStore, database: Path) -> None:
    conversation = cold.new_conversation(Cleared("Birds"))
    entry = cold.append(said(conversation.seq, "The heron stands in the reeds."))
    cold.close()
    with sealed(database.parent) as folder:
        before = sorted(folder.iterdir())
        found = open_store(folder / "cold.db")
        assert found.read_only
        assert found.entry(entry.seq).text == entry.text
        assert found.latest() == found.conversation("Birds")
        assert (found.data_version(), found.recover(), found.check()) == (found.data_version(), [], [])
        for writing in (
            lambda: found.append(said(conversation.seq, "more")),
            lambda: found.begin_answer(answered(conversation.seq, "")),
            found.empty_journal,
            lambda: found.delete_conversation(conversation.seq),
        ):
            with pytest.raises(ReadOnly, match="you can read and search it,"):
                writing()
        found.close()
        assert sorted(folder.iterdir()) == before


def test_a_journal_beside_it_is_read_with_it(cold: ColdStore, database: Path) -> None:
    entry = cold.append(said(cold.new_conversation().seq, "in the journal still"))
    assert database.with_name("cold.db-wal").stat().st_size
    with sealed(database.parent) as folder:
        found = open_store(folder / "cold.db")
        assert found.entry(entry.seq).text == entry.text
        found.close()


def test_a_journal_that_cannot_be_read_is_told_and_not_passed_over(cold: ColdStore, database: Path) -> None:
    cold.append(said(cold.new_conversation().seq, "in the journal still"))
    (database.parent / "cold.db-shm").rename(database.parent / "elsewhere")
    with sealed(database.parent) as folder, pytest.raises(CannotOpen, match="and its latest entries are in"):
        open_store(folder / "cold.db")


def test_an_older_store_is_told_as_that(database: Path) -> None:
    load(3, database)
    with sealed(database.parent) as folder, pytest.raises(CannotOpen, match="schema 3"):
        open_store(folder / "cold.db")


@_BY_ROOT
def test_who_may_not_write_to_a_store_leaves_nothing_beside_it(cold: ColdStore, database: Path) -> None:
    """Files of a visitor would lock the owner out: SQLite makes its journal and index in the visitor's name."""
    conversation = cold.new_conversation(Cleared("Trip"))
    cold.close()
    for path in (database.parent, *database.parent.iterdir()):
        os.chown(path, 65534, 65534)
    before = sorted(path.name for path in database.parent.iterdir())
    visitor = open_store(database)
    assert visitor.read_only
    assert visitor.conversations()[0].id == conversation.id
    assert sorted(path.name for path in database.parent.iterdir()) == before
    visitor.close()
    assert sorted(path.name for path in database.parent.iterdir()) == before


@_BY_ROOT
def test_a_file_of_another_user_beside_the_store_is_named(cold: ColdStore, database: Path) -> None:
    cold.close()
    left = database.with_name(f"{database.name}-shm")
    left.touch()
    os.chown(left, 65534, 65534)
    assert f"{left} belongs to another user (number 65534)" in read_only(database).message
