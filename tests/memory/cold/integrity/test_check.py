"""Each kind of damage is found, and a whole store has none."""

import pytest

from memory.cold import ColdStore
from memory.cold.sql import run
from tests.memory.cold.drafts import said

DAMAGES = {
    "another text": ("UPDATE entries SET body = x'6869' WHERE seq = 1", "text", "SHA-256 differs"),
    "a frame that is none": ("UPDATE entries SET body = x'00', packed = 1 WHERE seq = 1", "text", "cannot be unpacked"),
    "a text that is none": ("UPDATE entries SET body = x'ff' WHERE seq = 1", "text", "not UTF-8"),
    "a wrong count": ("UPDATE entries SET chars = 99 WHERE seq = 1", "text", "its row says 99"),
    "a text let go to nowhere": (
        "UPDATE entries SET body = NULL WHERE seq = 1",
        "span",
        "but not all of it is on pages",
    ),
    "a parent that is not there": ("UPDATE entries SET parent = 77 WHERE seq = 2", "reference", "entries that is not"),
    "an answer left behind": ("INSERT INTO answers VALUES (2, 'w_gone')", "answer", "cut off by a crash"),
    "chunks left behind": (
        "INSERT INTO chunks (entry, n, body) VALUES (2, 0, x'00')",
        "chunks",
        "although it is finished",
    ),
    "no terms": ("DELETE FROM terms WHERE entry = 2", "terms", "cannot find it"),
    "a span past its page": (
        """INSERT INTO packs VALUES ('p.pages', 1, x'00', 1, 'warm');
           INSERT INTO archives (seq, label, created_ms, origin) VALUES (1, 'a', 1, 'file');
           INSERT INTO pages VALUES ('pg_1', 1, 1, 'base', 1, 1, 5, x'00', 'p.pages', 0, 1, 1, '8x16', '[]');
           INSERT INTO spans VALUES (1, 0, 5, 'pg_1', 3)""",
        "span",
        "outside of the page",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_and_named(cold: ColdStore, damage: str) -> None:
    conversation = cold.new_conversation()
    first = cold.append(said(conversation.seq, "hello"))
    cold.append(said(conversation.seq, "you", first.seq))
    assert cold.check() == []
    sql, what, message = DAMAGES[damage]

    cold.write(lambda db: run(db, f"PRAGMA defer_foreign_keys = ON; {sql}")) if "77" not in sql else unchecked(
        cold, sql
    )
    problems = cold.check()
    assert [problem.what for problem in problems] == [what]
    assert message in problems[0].message


def unchecked(cold: ColdStore, sql: str) -> None:
    """By another program, which does not look after references."""
    import apsw

    other = apsw.Connection(str(cold.database))
    run(other, sql)
    other.close()
