"""Stores of every released schema open; newer ones are refused and left alone."""

from pathlib import Path

import apsw
import pytest

from foundation.privacy import Cleared
from memory.cold.integrity.header import put_right
from memory.cold.schema import APPLICATION_ID, Migration, migrate, released, schema_of
from memory.cold.sql import fetch, pragma, run
from memory.cold.untrusted_store import untouched as untouched_store
from memory.errors import CannotOpen, Damaged
from tests.memory.cold.drafts import open_store, said
from tests.memory.cold.released import SCHEMAS, load

NUMBERS = sorted(int(path.stem) for path in SCHEMAS.glob("*.sql"))
SECOND = Migration(2, "ALTER TABLE conversations ADD COLUMN mood TEXT; UPDATE conversations SET mood = 'calm';")
THIRD = Migration(3, "CREATE TABLE moods (name TEXT) STRICT; INSERT INTO moods SELECT mood FROM conversations;")


def shape(db: apsw.Connection) -> list[tuple[str, str]]:
    return [
        (name, sql)
        for name, sql in fetch(db, "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
    ]


def test_there_is_a_store_of_every_released_schema() -> None:
    assert [migration.number for migration in released()] == NUMBERS == list(range(1, len(NUMBERS) + 1))


@pytest.mark.parametrize("number", NUMBERS)
def test_a_store_of_a_released_schema_opens_with_its_words(database: Path, number: int) -> None:
    load(number, database)
    cold = open_store(database)
    (conversation,) = cold.conversations()
    assert (conversation.title, conversation.labels) == ("Trip \ud800", ("travel",))
    assert cold.find("e_question").text == "Where is the tent? \udc00"
    assert cold.find("e_answer").text == "In the cellar. " * 200
    (cut,) = cold.recover()
    assert (cut.text, cut.complete, cut.meta) == ("Half of it", False, {"cut_off": True})
    assert cold.check() == []
    cold.append(said(conversation.seq, "It goes on.", cut.seq))
    assert cold.statistics().models[0].prompt_tokens == 10
    cold.close()


@pytest.mark.parametrize("number", NUMBERS)
def test_a_migrated_store_has_the_shape_of_a_new_one(tmp_path: Path, number: int) -> None:
    load(number, tmp_path / "old" / "cold.db")
    stores = [open_store(tmp_path / name / "cold.db") for name in ("old", "new")]
    old, new = (store.read(shape) for store in stores)
    assert old == new
    for store in stores:
        store.close()


def test_migrations_that_are_due_run_in_order_and_once(database: Path) -> None:
    load(1, database)
    db = apsw.Connection(str(database))
    for _ in range(2):
        assert migrate(db, [*released()[:1], SECOND, THIRD]) == 3
    assert fetch(db, "SELECT name FROM moods") == [("calm",)]
    assert pragma(db, "user_version") == 3


def test_a_migration_that_fails_leaves_the_store_as_it_was(database: Path) -> None:
    load(1, database)
    db = apsw.Connection(str(database))
    before = shape(db)
    with pytest.raises(apsw.SQLError):
        migrate(db, [*released()[:1], SECOND, Migration(3, "CREATE TABLE x (y); SELEKT 1;")])
    assert shape(db) == before
    assert pragma(db, "user_version") == 1


def test_a_newer_store_is_refused_and_left_alone(database: Path) -> None:
    open_store(database).close()
    db = apsw.Connection(str(database))
    run(db, "CREATE TABLE moods (name TEXT) STRICT")
    run(db, "PRAGMA user_version = 99")
    db.close()
    with pytest.raises(
        CannotOpen, match=f"It has schema 99; this version supports schemas up to {released()[-1].number}"
    ):
        open_store(database)
    db = apsw.Connection(str(database))
    assert pragma(db, "user_version") == 99


def test_another_programs_database_is_refused_and_left_alone(database: Path) -> None:
    database.parent.mkdir()
    db = apsw.Connection(str(database))
    run(db, "CREATE TABLE recipes (name TEXT)")
    db.close()
    with pytest.raises(CannotOpen, match="another program"):
        open_store(database)
    db = apsw.Connection(str(database))
    assert shape(db) == [("recipes", "CREATE TABLE recipes (name TEXT)")]


def test_a_new_store_says_whose_it_is(database: Path) -> None:
    cold = open_store(database)
    assert cold.read(lambda db: pragma(db, "application_id")) == APPLICATION_ID
    cold.close()


# A header whose number is not that of the tables


@pytest.mark.parametrize("number", NUMBERS)
def test_a_released_store_is_known_by_its_tables(tmp_path: Path, number: int) -> None:
    load(number, tmp_path / "cold.db")
    db = apsw.Connection(str(tmp_path / "cold.db"))
    assert schema_of(db) == number, "each schema has other tables or columns than the one before"


def test_an_empty_store_and_another_programs_are_of_no_schema(tmp_path: Path) -> None:
    db = apsw.Connection(str(tmp_path / "cold.db"))
    assert schema_of(db) is None
    run(db, "CREATE TABLE recipes (name TEXT)")
    assert schema_of(db) is None


@pytest.mark.parametrize("number", [-5, 0, 1, 9, 12, 18, 999])
@pytest.mark.parametrize("untouched", [False, True])
def test_a_damaged_number_is_named_and_no_migration_runs(database: Path, number: int, untouched: bool) -> None:
    open_store(database).close()
    write_pragma(database, "user_version", number)
    before = database.read_bytes()
    with pytest.raises(Damaged) as raised:
        open_untouched(database) if untouched else open_store(database)
    assert f"schema {number}, and its tables are those of schema {released()[-1].number}" in raised.value.message
    assert "check --repair" in raised.value.hint
    assert database.read_bytes() == before


def test_a_damaged_mark_of_the_program_is_named(database: Path) -> None:
    open_store(database).close()
    write_pragma(database, "application_id", 7)
    with pytest.raises(Damaged, match="is not marked as a store of this program, and its tables are those"):
        open_store(database)


@pytest.mark.parametrize(("pragma_name", "number"), [("user_version", 9), ("user_version", 999), ("application_id", 0)])
def test_a_damaged_number_is_put_right_on_a_copy(database: Path, tmp_path: Path, pragma_name: str, number: int) -> None:
    cold = open_store(database)
    cold.new_conversation(Cleared("Trip"))
    cold.close()
    assert put_right(database, tmp_path / "kept") == ""
    write_pragma(database, pragma_name, number)
    damaged = database.read_bytes()
    assert f"schema {released()[-1].number}" in put_right(database, tmp_path / "kept")
    assert (tmp_path / "kept" / database.name).read_bytes() == damaged
    cold = open_store(database)
    assert [conversation.title for conversation in cold.conversations()] == ["Trip"]
    assert cold.check() == []
    cold.close()


def test_a_store_of_another_shape_whose_number_is_too_low_is_damaged(database: Path) -> None:
    open_store(database).close()
    db = apsw.Connection(str(database))
    run(db, "CREATE TABLE moods (name TEXT) STRICT")
    run(db, "PRAGMA user_version = 9")
    db.close()
    with pytest.raises(Damaged, match="cannot be migrated from schema 9"):
        open_store(database)
    assert put_right(database, database.parent / "kept") == ""


def write_pragma(database: Path, name: str, number: int) -> None:
    db = apsw.Connection(str(database))
    run(db, f"PRAGMA {name} = {number}")
    run(db, "PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def open_untouched(database: Path) -> None:
    scratch = database.parent.parent / "scratch"
    scratch.mkdir()
    connects = untouched_store(database, scratch)
    connects().close()
