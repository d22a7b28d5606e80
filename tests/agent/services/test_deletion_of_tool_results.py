"""A conversation that is deleted is gone from what models searched for and recalled of it elsewhere."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.session import Session
from agent.tools.port import ToolSettings
from foundation.paths import Workspace
from memory.memory import Memory
from memory.records import EntryKind
from models.messages import RecalledSpan
from models.settings import ModelSettings
from tests.agent.conftest import Run
from tests.agent.sessions import calls, open_session
from tests.hostile.canaries import Canaries
from tests.loopback import Loopback, chat

pytestmark = pytest.mark.timeout(60)

WORDS: dict[str, str] = dict.fromkeys(("zqlighthouse", "zqkeeper", "zqpaintedit"), "its words")
TEXT = f"{' '.join(WORDS)} in the year of the gale. " * 30
STAYS = {"id": "i5", "conversation": "c5", "role": "user", "text": "The gale of another year took the pier."}
MODES = ("kept", "archived")


@pytest.fixture
async def talked(run: Run, root: Path, tmp_path: Path, server: Loopback) -> AsyncIterator[str]:
    """A conversation in which a model recalled and searched; gives its id."""
    lines = [{"id": "i4", "conversation": "c4", "role": "tool", "text": TEXT}, STAYS]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run("import", str(tmp_path / "in.jsonl")).status == 0
    session = _session(Workspace(root), tmp_path, server)
    server.plays(calls("recall", ref="i4"), chat("So."))
    await _turn(session, "What was that?")
    result = next(entry.id for entry in await session.branch.history() if entry.kind is EntryKind.TOOL_RESULT)
    server.plays(calls("recall", ref=result), calls("search_memory", query="the gale"), chat("Ah."))
    await _turn(session, "And the whole?")
    assert session.conversation is not None
    id_ = session.conversation.id
    await session.close()
    yield id_


def _session(workspace: Workspace, tmp_path: Path, server: Loopback) -> Session:
    return open_session(
        workspace,
        tmp_path,
        server,
        models=ModelSettings(tools=True, window=16_000),
        tools=ToolSettings(result_chars=300, most_calls=9),
    )


async def _turn(session: Session, text: str) -> None:
    async for _ in session.send(text):
        pass


def _results(root: Path) -> list[Any]:
    memory = Memory.open(Workspace(root))
    try:
        leaf = memory.cold.conversations()[0].leaf
        assert leaf is not None
        path = list(memory.cold.path(leaf))[::-1]
        assert not memory.cold.check()
        assert not [
            part for entry in path for part in entry.sent if isinstance(part, RecalledSpan) and "zq" in part.text
        ]
        return [entry for entry in path if entry.kind is EntryKind.TOOL_RESULT]
    finally:
        memory.close()


def _archive(root: Path) -> None:
    memory = Memory.open(Workspace(root))
    leaf = memory.cold.conversations()[0].leaf
    assert leaf is not None
    memory.vault.archive_entries(list(memory.cold.path(leaf))[::-1], label="Away")
    assert all(entry.text is None for entry in memory.cold.path(leaf))
    memory.close()


@pytest.mark.parametrize("where", MODES)
async def test_no_byte_of_its_words_stays_in_results_of_the_memory_tools(
    run: Run, root: Path, talked: str, where: str
) -> None:
    canaries = Canaries(0)
    canaries.doors.update(WORDS)
    assert run("search", "zqlighthouse").status == 0
    if where == "archived":
        _archive(root)
    assert talked in "".join(path.name for path in (root / "conversations").iterdir())
    said = run("conversations", "delete", "--yes", "c4")
    assert (said.status, "may hold" in said.err) == (0, False), said.err
    assert canaries.found_in(root) == {}
    assert "zqlighthouse" not in run("search", "zqlighthouse").out
    recalled, whole, searched = _results(root)
    assert json.loads(recalled.text) == {"cite": "i4", "text": "[deleted]"}
    assert json.loads(whole.text)["text"] == "[deleted]"
    assert recalled.meta["shown"] == recalled.text
    told = {one["ref"]: one["text"] for one in json.loads(searched.text)["passages"]}
    assert told["i4"] == "[deleted]"
    assert "took the pier" in told["i5"]
    assert "[deleted]" in next((root / "conversations").glob(f"*{talked}*")).read_text()
    assert run("check").status == 0


async def test_no_byte_of_a_file_that_is_forgotten_stays_in_them(
    run: Run, root: Path, tmp_path: Path, server: Loopback
) -> None:
    canaries = Canaries(0)
    canaries.doors.update(WORDS)
    (tmp_path / "guide.md").write_text(f"# Gale\n\n{TEXT}\n")
    assert run("knowledge", "add", str(tmp_path / "guide.md")).status == 0
    session = _session(Workspace(root), tmp_path, server)
    server.plays(calls("search_memory", query="the gale"), chat("So."))
    await _turn(session, "What was that?")
    (result,) = [entry for entry in await session.branch.history() if entry.kind is EntryKind.TOOL_RESULT]
    assert "zqlighthouse" in (result.text or "")
    await session.close()
    assert run("knowledge", "remove", "--yes", str(tmp_path / "guide.md")).status == 0
    assert canaries.found_in(root) == {}
    assert "[deleted]" in _results(root)[0].text


async def test_no_byte_of_it_stays_where_it_was_recalled_by_its_archive(
    run: Run, root: Path, tmp_path: Path, server: Loopback
) -> None:
    """By the label and the number, by the model and by a citation in a message."""
    canaries = Canaries(0)
    canaries.doors.update(WORDS)
    lines = [{"id": "i4", "conversation": "c4", "role": "tool", "text": TEXT}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run("import", str(tmp_path / "in.jsonl")).status == 0
    memory = Memory.open(Workspace(root))
    memory.vault.archive_entries([memory.cold.find("i4")], label="gale")
    memory.close()
    session = _session(Workspace(root), tmp_path, server)
    server.plays(calls("recall", ref="gale"), calls("recall", ref="#1"), chat("So."))
    await _turn(session, "What was that, in [gale · 1 page · #1]?")
    results = [entry.text or "" for entry in await session.branch.history() if entry.kind is EntryKind.TOOL_RESULT]
    assert ["zqlighthouse" in text for text in results] == [True, True]
    (asked,) = [entry for entry in await session.branch.history() if entry.sent]
    assert any(isinstance(part, RecalledSpan) and "zqlighthouse" in part.text for part in asked.sent)
    await session.close()
    assert run("conversations", "delete", "--yes", "c4").status == 0
    assert canaries.found_in(root) == {}
    assert [json.loads(entry.text) for entry in _results(root)] == [{"cite": "#1", "text": "[deleted]"}] * 2
