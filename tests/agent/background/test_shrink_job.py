"""What is deleted leaves the disk, too: a command says how much, and the chat does it while nobody waits."""

import json
import os
from pathlib import Path

import pytest

from agent.background.shrink_job import ShrinkJob
from agent.background.upkeep_news import UpkeepNews
from foundation.clock import SystemClock
from foundation.paths import Workspace
from memory.cold import shrink
from memory.memory import Memory
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def large(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A conversation that is most of the database."""
    monkeypatch.setattr(shrink, "LEAST_BYTES", 2**17)
    monkeypatch.setattr(shrink, "MEGABYTE", 2**17)
    monkeypatch.setattr(shrink, "COPYING_S", 60.0)
    lines = (
        {"conversation": "big", "role": "user", "text": " ".join(os.urandom(9).hex() for _ in range(6000))}
        for _ in range(4)
    )
    (tmp_path / "big.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run("import", str(tmp_path / "big.jsonl")).status == 0
    return run


def test_the_receipt_of_a_deletion_says_how_much_smaller_the_database_is(large: Run, root: Path) -> None:
    before = shrink.size_on_disk(Workspace(root).database)
    deleted = large("conversations", "delete", "big", "--yes")
    assert deleted.status == 0
    assert "The database is " in deleted.err
    assert " smaller on disk." in deleted.err
    assert shrink.size_on_disk(Workspace(root).database) < before - 2**18
    assert large("check").status == 0


def test_the_chat_does_it_while_nobody_waits(large: Run, root: Path) -> None:
    memory = Memory.open(Workspace(root), SystemClock())
    job = ShrinkJob(memory, SystemClock(), UpkeepNews(memory.workspace))
    assert not job.due(), "nothing is deleted yet"
    memory.knowledge.delete_conversation(memory.conversations.find("big").seq)
    assert job.due()
    before = shrink.size_on_disk(memory.workspace.database)
    job.step(lambda: True)  # a turn begins
    assert shrink.size_on_disk(memory.workspace.database) == before
    again = ShrinkJob(memory, SystemClock(), UpkeepNews(memory.workspace))
    assert not again.step(lambda: False).more
    assert shrink.size_on_disk(memory.workspace.database) < before - 2**18
    (news,) = UpkeepNews(memory.workspace).take()
    assert "smaller on disk" in news
    assert not job.due()
    memory.close()


def test_a_receipt_that_leaves_room_names_the_command_that_gives_it_back(
    large: Run, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = ({"conversation": "other", "role": "user", "text": f"{number} stays"} for number in range(600))
    (tmp_path / "others.jsonl").write_text("".join(json.dumps(line) + "\n" for line in others))
    assert large("import", str(tmp_path / "others.jsonl")).status == 0
    monkeypatch.setattr(shrink, "COPYING_S", -1.0)
    deleted = large("conversations", "delete", "big", "--yes")
    assert "smaller on disk" not in deleted.err
    assert "are free for new rows; `palimpsest retention --shrink` returns them" in deleted.err
    assert "`palimpsest retention --shrink` returns them" in large("retention").err
    database = Workspace(root).database
    before = shrink.size_on_disk(database)
    memory = Memory.open(Workspace(root), SystemClock())
    busy = large("retention", "--shrink")
    memory.close()
    assert (busy.status, "Close other windows" in busy.err) == (1, True)
    done = large("retention", "--shrink", "--json").json
    assert (done["bytes_before"] <= before, done["bytes_after"]) == (True, shrink.size_on_disk(database))
    assert done["bytes_after"] < before - 2**18
    assert "there is no free space in it" in large("retention", "--shrink").out
    assert large("check").status == 0
    assert large("retention", "--shrink", "--yes").status == 2
