"""`archive --older-than` meets a damaged entry: it is named and stays, the others leave, and nothing is lost."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from foundation.paths import Workspace
from foundation.trust import Trust
from memory.cold.sql import fetch
from memory.cold.sql import run as execute
from memory.memory import Memory
from tests.agent.conftest import Run
from tests.hostile.flips import cells, flipped, put

pytestmark = pytest.mark.timeout(60)

IDS = ("h0", "h1", "h2", "i0")
OLD_MS = 1_578_218_400_000  # 2020-01-05


def words(name: str) -> str:
    return f"{name}: the ferry leaves at nine from quay {name}. " * 20


@pytest.fixture
def old(run: Run, root: Path, tmp_path: Path) -> Workspace:
    """Two conversations of long ago: three entries in one, one in the other."""
    lines = [
        {
            "id": name,
            "conversation": {"h": "harbour", "i": "island"}[name[0]],
            "role": "user",
            "text": words(name),
            "time": "2020-01-05T10:00:00Z",
            "speaker": "Ann",
        }
        for name in IDS
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run("import", str(tmp_path / "a.jsonl")).status == 0
    changed(Workspace(root), f"UPDATE conversations SET updated_ms = {OLD_MS}")
    return Workspace(root)


def changed(workspace: Workspace, sql: str, *values: bytes | str) -> None:
    """As a failing disk changes it: no trigger runs, and no seal is renewed."""
    db = apsw.Connection(str(workspace.database))
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    execute(db, sql, values)
    execute(db, "PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def in_the_store(workspace: Workspace) -> set[str]:
    db = apsw.Connection(str(workspace.database))
    found = fetch(db, "SELECT CAST(id AS BLOB) FROM entries WHERE body IS NOT NULL")
    db.close()
    return {row[0].decode("utf-8", "replace") for row in found}


def exact_texts(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """(id, text) of what comes back to the letter."""
    memory = Memory.open(workspace)
    for (seq,) in memory.cold.read(lambda db: fetch(db, "SELECT seq FROM entries")):
        entry = memory.cold.entry(seq)
        passage = memory.vault.entry_text(entry)
        if passage.trust is Trust.EXACT:
            yield entry.id, passage.text
    memory.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE entries SET body = CAST(replace(body, 'nine', 'nina') AS BLOB), packed = 0 WHERE id = 'h1'",
        "UPDATE entries SET speaker = 'Amn' WHERE id = 'h1'",
    ],
    ids=["text", "row"],
)
def test_a_damaged_entry_is_named_and_stays_and_the_others_leave(run: Run, old: Workspace, sql: str) -> None:
    changed(old, sql)
    tried = run("archive", "--growing", "--older-than", "30d", "--dry-run")
    assert (tried.status, in_the_store(old)) == (1, set(IDS))
    assert "h1 of “harbour” is damaged" in tried.err
    done = run("archive", "--growing", "--older-than", "30d")
    assert done.status == 1
    assert "h1 of “harbour” is damaged: not archived" in done.err
    assert "3 entries of 2 conversations left" in done.err
    assert in_the_store(old) == {"h1"}
    assert dict(exact_texts(old)) == {name: words(name) for name in IDS if name != "h1"}


def test_a_conversation_whose_row_is_damaged_stays_whole(run: Run, old: Workspace) -> None:
    changed(old, "UPDATE conversations SET created_ms = created_ms + 1 WHERE id = 'harbour'")
    done = run("archive", "--growing", "--older-than", "30d", "--json")
    assert done.status == 1
    assert "Conversation harbour is damaged and was not archived" in done.err
    assert in_the_store(old) == {"h0", "h1", "h2"}
    harbour = next(one for one in done.json["conversations"] if one["conversation"] == "harbour")
    assert harbour["spared"] == "its row is damaged"


def test_a_sound_store_ends_with_0(run: Run, old: Workspace) -> None:
    assert run("archive", "--growing", "--older-than", "30d").status == 0
    assert in_the_store(old) == set()


@pytest.mark.parametrize("seed", range(6))
def test_any_flipped_bit_of_an_entry_loses_nothing_of_the_others(run: Run, old: Workspace, seed: int) -> None:
    chance = random.Random(seed)
    cell = chance.choice([cell for cell in cells(old.database) if cell.table == "entries"])
    put(old.database, cell, flipped(cell, chance.randrange(len(cell.value) * 8)), cell.value)
    done = run("archive", "--growing", "--older-than", "30d")
    assert done.status == 1, (cell.name, done.err)
    exact = dict(exact_texts(old))
    assert len(exact) >= len(IDS) - 1, cell.name
    assert all(text in {words(name) for name in IDS} for text in exact.values())
    assert in_the_store(old), f"{cell.name}: the damaged entry left"
