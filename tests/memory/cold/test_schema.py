"""Stores of every released schema open; newer ones are refused and left alone."""

from pathlib import Path

import apsw
import pytest

from memory.cold.schema import APPLICATION_ID, Migration, migrate, released
from memory.cold.sql import fetch, pragma, run
from memory.errors import CannotOpen
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
    run(db, "PRAGMA user_version = 99")
    db.close()
    with pytest.raises(CannotOpen, match=f"It has schema 99; this program knows schemas up to {released()[-1].number}"):
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
