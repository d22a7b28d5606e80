"""/import: finds files by their names, reads them once that is confirmed, and says what came."""

import json
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.imports import NONE_FOUND
from agent.commands.results import Choices, CommandFailed, Proposal, TextResult
from agent.services.found_conversations import find_conversations_on_disk
from agent.session import Session
from foundation.paths import Workspace
from tests.agent.importers.exports import CLAUDE
from tests.agent.importers.stored import lines
from tests.agent.importers.test_agent_sessions import CLAUDE_CODE, CODEX
from tests.agent.sessions import open_session


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setattr(Path, "home", lambda: folder)
    return folder


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path, home: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path)
    yield opened
    await opened.close()


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def fill(home: Path) -> None:
    put(home / ".claude/projects/-p/s-1.jsonl", b"".join(lines(*CLAUDE_CODE)))
    put(home / ".codex/sessions/2026/03/01/rollout-x.jsonl", b"".join(lines(*CODEX)))
    put(home / "Downloads/conversations.json", json.dumps([CLAUDE]).encode())
    put(home / "Downloads/holiday.zip", b"no export")


def test_only_names_are_looked_at(home: Path) -> None:
    fill(home)
    put(home / ".codex/sessions/2026/03/01/secret.jsonl", b"x").chmod(0)  # it could not be opened
    found = find_conversations_on_disk(home, {})
    assert [(source.form, len(source.files)) for source in found] == [("claude-code", 1), ("codex", 2), ("", 1)]
    assert found[2].files == (home / "Downloads" / "conversations.json",)
    assert find_conversations_on_disk(home, {"CODEX_HOME": str(home / "none")})[1].form == ""


async def test_nothing_found_says_where_it_was_looked_for(session: Session) -> None:
    assert await registry.run(session, "/import") == TextResult(NONE_FOUND)
    assert isinstance(await registry.run(session, "/import codex"), CommandFailed)


async def test_what_is_chosen_is_imported_once(session: Session, home: Path) -> None:
    fill(home)
    listed = await registry.run(session, "/import")
    assert isinstance(listed, Choices)
    assert all(" kB" in item.detail for item in listed.items), "the files are of a few hundred bytes"
    seen: list[int] = []
    texts: list[str] = []
    for item in listed.items:
        proposal = await registry.run(session, f"{listed.command} {item.id}")
        assert isinstance(proposal, Proposal)
        outcome = await registry.carry_out(proposal, seen.append)
        assert isinstance(outcome, TextResult) and "in 1 conversation imported" in outcome.markdown, outcome
        texts.append(outcome.markdown)
    assert "Not imported: 4 metadata (" in texts[0] and "1 reasoning (reasoning 1)" in texts[1]
    assert seen == [0, 0, 0]
    assert session.memory.conversations.find("s-1").title == "Why does the 锅炉 test fail?"
    assert session.memory.conversations.find("c-1").title == "Fix the pump"
    again = await registry.run(session, "/import codex")
    assert isinstance(again, Proposal)
    outcome = await registry.carry_out(again, seen.append)
    assert isinstance(outcome, TextResult) and "Not changed since they were imported: 1 file." in outcome.markdown


async def test_a_file_that_cannot_be_read_leaves_the_others(session: Session, home: Path) -> None:
    broken = put(home / "Downloads/conversations-2.json", b"{")
    proposal = await registry.run(session, f"/import {broken}")
    assert isinstance(proposal, Proposal)
    outcome = await registry.carry_out(proposal, lambda _: None)
    assert isinstance(outcome, TextResult) and "Files that could not be read: 1;" in outcome.markdown


async def test_knowledge_of_an_export_is_added_after_a_question(session: Session, home: Path) -> None:
    memories = {"conversations_memory": "She keeps bees on the east slope."}
    export = put(home / "Downloads/claude.zip", b"")
    with zipfile.ZipFile(export, "w") as archive:
        archive.writestr("conversations.json", json.dumps([CLAUDE]))
        archive.writestr("memories.json", json.dumps([memories]))
    for command, is_asked, says in (
        (f"/import {export}", False, f"`/import {export} knowledge` adds them to knowledge."),
        (f"/import {export} knowledge", True, "Added to knowledge: 1 text."),
    ):
        proposal = await registry.run(session, command)
        assert isinstance(proposal, Proposal)
        assert any(name == "knowledge" for name, _ in proposal.rows) == is_asked
        outcome = await registry.carry_out(proposal, lambda _: None)
        assert isinstance(outcome, TextResult) and says in outcome.markdown, outcome
    assert len(session.memory.knowledge.memories(1000)) == 1
