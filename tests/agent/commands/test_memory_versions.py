"""`/memory log` and `/memory undo` on a real session: the table, one file, taking back, and what is refused."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.memory import MAX_VERSIONS
from agent.commands.results import CommandFailed, TextResult
from agent.headless.commands import run_command
from agent.session import Session
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.versions.cause import Author, caused_by
from tests.agent.sessions import open_session


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path)
    yield opened
    await opened.close()


async def said(session: Session, line: str) -> str:
    outcome = await registry.run(session, line)
    assert isinstance(outcome, TextResult), outcome
    return outcome.markdown


def by_model(session: Session, text: str) -> None:
    with caused_by(Author.MODEL, "tool remember in c_1"):
        session.memory.hot.remember(clear(text), heading=None, conversation=None)


async def test_the_log_lists_all_files_the_newest_first(session: Session, workspace: Workspace) -> None:
    workspace.memory_md.write_text("- by hand 锅炉 🙂\n", encoding="utf-8")
    workspace.agents_md.write_text("Be brief.\n", encoding="utf-8")
    await said(session, "/memory log")
    by_model(session, "The valve cost 12.50.")
    first, *others = (await said(session, "/memory log")).splitlines()[2:]
    assert "a model" in first and "MEMORY.md" in first and "tool remember in c" in first
    assert any("AGENTS.md" in line and "you" in line and "+1 −0" in line for line in others)
    of_one = await said(session, "/memory log AGENTS.md")
    assert "AGENTS.md" in of_one and "MEMORY.md" not in of_one


async def test_a_log_of_many_versions_says_where_the_older_ones_are(session: Session) -> None:
    for number in range(MAX_VERSIONS + 2):
        by_model(session, f"note {number}")
    text = await said(session, "/memory log MEMORY.md")
    assert text.count("a model") == MAX_VERSIONS
    assert "memory log`" in text


async def test_the_last_change_of_a_model_is_taken_back(session: Session, workspace: Workspace) -> None:
    workspace.memory_md.write_text("- by hand\n", encoding="utf-8")
    by_model(session, "The valve cost 12.50.")
    assert "is taken back" in await said(session, "/memory undo")
    assert workspace.memory_md.read_text(encoding="utf-8") == "- by hand\n"
    again = await registry.run(session, "/memory undo")
    assert isinstance(again, TextResult)
    assert again.failed and "No changes by a model are left to undo" in again.markdown
    by_model(session, "One.")
    by_model(session, "Two.")
    number = session.memory.versions.store.versions()[-2].number
    assert f"version {number} " in await said(session, f"/memory undo {number}")
    assert "Two." in workspace.memory_md.read_text(encoding="utf-8")
    assert "One." not in workspace.memory_md.read_text(encoding="utf-8")
    assert isinstance(await registry.run(session, "/memory undo it"), CommandFailed)


async def test_a_change_in_the_same_lines_is_refused_with_a_sentence(session: Session, workspace: Workspace) -> None:
    by_model(session, "The valve cost 12.50.")
    text = workspace.memory_md.read_text(encoding="utf-8").replace("12.50", "13.00")
    workspace.memory_md.write_text(text, encoding="utf-8")
    refused = await registry.run(session, "/memory undo")
    assert isinstance(refused, CommandFailed)
    assert "in the same lines" in refused.error.message
    assert workspace.memory_md.read_text(encoding="utf-8") == text


async def test_without_a_screen_the_table_is_printed(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    by_model(session, "The valve cost 12.50.")
    assert await run_command(session, "/memory log", "text") == 0
    assert "tool remember in c" in capsys.readouterr().out


async def test_what_memory_cannot_do_is_a_sentence(session: Session) -> None:
    by_model(session, "one")
    for line in ("/memory forget", "/memory undo all", "/memory log nothing.md"):
        assert isinstance(await registry.run(session, line), CommandFailed), line
