"""What checks found and the room that memory takes are said by check, doctor, stats and /status."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import TextResult
from foundation.paths import Workspace
from memory.settings import DiskSettings
from memory.upkeep.state import UpkeepState, read_state
from tests.agent.conftest import Run
from tests.agent.sessions import open_session

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


@pytest.fixture
def filled(run: Run, root: Path, tmp_path: Path) -> Run:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": "a1", "role": "user", "text": "The ferry leaves at nine. 渡轮 🙂"}) + "\n")
    assert run("import", str(path)).status == 0
    return run


def damage(root: Path, *, undo: bool = False) -> None:
    with closing(sqlite3.connect(root / ".palimpsest" / "cold.db")) as db:
        db.execute(f"UPDATE entries SET time_ms = time_ms {'-' if undo else '+'} 1")
        db.commit()


def findings(run: Run, topic: str) -> list[tuple[str, str]]:
    found = run("doctor", "--json").json["findings"]
    return [(each["state"], each["sentence"]) for each in found if each["topic"] == topic]


def test_a_full_check_is_recorded_and_a_later_sound_one_forgets_the_faults(filled: Run, root: Path) -> None:
    assert findings(filled, "integrity") == []
    damage(root)
    assert filled("check").status == 1
    ((state, sentence),) = findings(filled, "integrity")
    assert state == "wrong"
    assert sentence == "Stored data is damaged: an entry."
    assert b"a1" not in (root / ".palimpsest" / "upkeep.json").read_bytes(), "an imported id may be a text"
    damage(root, undo=True)
    assert filled("check").status == 0
    ((state, sentence),) = findings(filled, "integrity")
    assert state == "ok"
    assert sentence.startswith("A full check on ")


def test_a_workspace_that_is_not_trusted_is_checked_and_not_written_to(filled: Run, root: Path) -> None:
    assert filled("trust", "--remove").status == 0
    before = sorted(path.name for path in (root / ".palimpsest").iterdir())
    assert filled("check").status == 0
    assert sorted(path.name for path in (root / ".palimpsest").iterdir()) == before
    assert read_state(Workspace(root)) == UpkeepState()


def test_stats_and_doctor_say_what_takes_the_room(filled: Run, root: Path) -> None:
    disk = filled("stats", "--json").json["disk"]
    assert disk["bytes"] == sum(part["bytes"] for part in disk["parts"])
    assert "database" in {part["name"] for part in disk["parts"]}
    assert "on disk" in filled("stats").out
    assert findings(filled, "disk")[0][0] == "ok"
    (root / ".palimpsest" / "packs").mkdir(exist_ok=True)
    (root / ".palimpsest" / "packs" / "a.pages").write_bytes(b"x" * 2**20)
    assert filled("config", "set", "disk.budget_mb", "1").status == 0
    ((state, sentence),) = findings(filled, "disk")
    assert state == "missing"
    assert sentence.startswith("Memory is over its budget")
    assert filled("config", "set", "disk.free_mb", str(10**9)).status == 0
    assert findings(filled, "disk")[0][0] == "wrong"


async def test_status_says_what_checks_found_and_warns_of_the_room(workspace: Workspace, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path, disk=DiskSettings(budget_mb=0, free_mb=10**9))
    status = await registry.run(session, "/status")
    assert isinstance(status, TextResult)
    assert "- room: Only " in status.markdown
    assert "- integrity: " not in status.markdown
    await session.close()
