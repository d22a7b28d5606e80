"""Rows that name a file outside are not followed: `check` lists them and changes nothing, repair takes them out."""

from pathlib import Path

import apsw
import pytest

from foundation.paths import Workspace
from memory.cold.sql import fetch
from memory.cold.sql import run as execute
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)

COMMANDS = [
    ("-p", "hello"),
    ("search", "hello"),
    ("recall", "hello"),
    ("remember", "that"),
    ("context",),
    ("stats",),
    ("archive", "--repack"),
    ("archive", "--growing", "--older-than", "1d"),
    ("check",),
    ("check", "--repair"),
]
DELETION = (
    "INSERT INTO deletions (token, name, conversation, deleted_ms, pages, finished) VALUES ('aa','bb',99999,1,'[]',0)"
)


@pytest.fixture
def begun(run: Run, tmp_path: Path) -> Path:
    """A workspace with a conversation."""
    assert run("-p", "hello").status == 0
    (root,) = [path.parent.parent for path in tmp_path.rglob("cold.db")]
    return root


def put(root: Path, *statements: str) -> None:
    db = apsw.Connection(str(Workspace(root).database))
    for sql in statements:
        execute(db, sql)
    db.close()


def rows(root: Path, sql: str) -> list[tuple[object, ...]]:
    db = apsw.Connection(str(Workspace(root).database))
    try:
        return fetch(db, sql)
    finally:
        db.close()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("how", ["absolute", "relative"])
def test_a_row_of_leaving_deletes_no_file_outside(
    begun: Path, run: Run, tmp_path: Path, command: tuple[str, ...], how: str
) -> None:
    thesis = tmp_path / "thesis.pdf"
    thesis.write_text("years of work")
    packs = Workspace(begun).packs
    packs.mkdir(exist_ok=True)
    name = str(thesis) if how == "absolute" else "../" * (len(packs.relative_to(tmp_path).parts)) + "thesis.pdf"
    assert (packs / name).resolve() == thesis
    put(begun, f"INSERT INTO leaving VALUES ('{name}', '')", DELETION)
    run(*command)
    assert thesis.read_text() == "years of work"


@pytest.mark.parametrize("command", COMMANDS)
def test_an_owner_of_an_answer_deletes_and_empties_no_file_outside(
    begun: Path, run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    project = begun / "proj"
    project.mkdir()
    lock = project / "Cargo.lock"
    lock.write_text("[[package]]")
    Workspace(begun).database.with_name("cold.db-writers").mkdir(exist_ok=True)
    put(begun, "INSERT INTO answers VALUES (1, '../../proj/Cargo')")
    done = run(*command)
    assert lock.read_text() == "[[package]]"
    if command in {("-p", "hello"), ("search", "hello"), ("remember", "that")}:
        assert done.status == 1
        assert "table answers" in done.err.lower()
        assert "palimpsest check" in done.err


def test_check_lists_every_forged_row_and_changes_nothing(begun: Path, run: Run) -> None:
    put(
        begun,
        "INSERT INTO leaving VALUES ('../../../thesis.pdf', '../x')",
        "INSERT INTO answers VALUES (1, '/etc/passwd')",
        DELETION,
        "UPDATE deletions SET pages = '[\"../a\"]'",
        "INSERT INTO unsealed VALUES ('../../y.pages')",
    )
    done = run("check", "--json")
    told = [one for one in done.json["problems"] if one["what"] == "name"]
    assert sorted(one["where"].split()[0] for one in told) == [
        "answers",
        "deletions",
        "deletions",
        "leaving",
        "leaving",
        "unsealed",
    ]
    assert rows(begun, "SELECT count(*) FROM leaving") == [(1,)]
    assert rows(begun, "SELECT owner FROM answers") == [("/etc/passwd",)]


def test_repair_takes_forged_rows_out_and_the_workspace_can_be_written_again(begun: Path, run: Run) -> None:
    put(
        begun,
        "INSERT INTO leaving VALUES ('../../../thesis.pdf', '')",
        "INSERT INTO answers VALUES (1, '/etc/passwd')",
        DELETION,
    )
    done = run("check", "--repair")
    assert done.status == 0, done.err + done.out
    assert rows(begun, "SELECT count(*) FROM leaving") == [(0,)]
    assert rows(begun, "SELECT count(*) FROM deletions") == [(0,)]
    assert run("remember", "that").status == 0
    assert run("check").status == 0


def test_a_picture_of_knowledge_that_is_a_path_is_not_deleted(begun: Path, run: Run, tmp_path: Path) -> None:
    note = tmp_path / "letter.md"
    note.write_text("# A letter\n\nThe lighthouse keeper wrote of seven white ships.\n")
    assert run("knowledge", "add", str(note)).status == 0
    victim = begun / "keep.png"
    victim.write_bytes(b"mine")
    put(begun, "UPDATE knowledge_views SET picture = '../../keep.png'")
    (knowledge,) = [row[0] for row in rows(begun, "SELECT id FROM conversations WHERE kind = 'knowledge'")]
    run("conversations", "delete", str(knowledge), "--yes")
    assert victim.read_bytes() == b"mine"
