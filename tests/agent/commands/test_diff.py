"""/diff shows what tools changed in the conversation, /add-dir adds a folder for the session."""

import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.checkpoints.change import FileChange
from agent.commands import registry
from agent.commands.results import CommandFailed, OpenNamedScreen, Outcome, TextResult
from agent.permissions.action import Action
from agent.permissions.rules import Verdict
from agent.session import Session
from agent.tools.files.find_files import FindFiles
from agent.tools.port import ToolFailure
from foundation.paths import Workspace
from models.messages import ToolCall
from tests.agent.sessions import open_session


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path, project: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path, project=[project])
    yield opened
    await opened.close()


async def text_of(session: Session, line: str) -> str:
    outcome: Outcome = await registry.run(session, line)
    outcome = await outcome.printed() if isinstance(outcome, OpenNamedScreen) else outcome
    assert isinstance(outcome, TextResult), outcome
    return outcome.markdown


def call(session: Session, tool: str, arguments: dict[str, str]) -> Action:
    return session.toolbox.action(ToolCall("1", tool, json.dumps(arguments)))


async def test_the_changes_of_a_conversation_are_shown_by_file(session: Session, project: Path) -> None:
    assert "No tool has changed" in await text_of(session, "/diff")
    async for _ in session.send("hello"):
        pass
    for before, after in ((None, b"one\n"), (b"one\n", b"one\n```\n")):
        session.checkpoints.apply([FileChange(folder=project, path="a.md", expected=before, new=after)], "e_1")
    shown = await text_of(session, "/diff")
    assert "`a.md` +2 −0" in shown
    assert "+one\n+```\n" in shown
    assert "````diff" in shown, "the text in the file does not end the block"


async def test_an_added_folder_is_read_and_written_by_tools(session: Session, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("text\n")
    with pytest.raises(ToolFailure, match="/add-dir"):
        FindFiles(session.project).action({"path": str(other)})
    assert str(other) in await text_of(session, f"/add-dir {other}")
    action = call(session, "read_file", {"path": str(other / "a.txt")})
    assert session.permissions.decide(action).verdict is Verdict.ALLOW
    session.commands.run(f"touch {other}/made", 20, threading.Event(), print)
    assert (other / "made").exists()
    assert str(other) in await text_of(session, "/status")


@pytest.mark.parametrize("name", ["", "missing", "~", "/", "keys/.ssh", "state/.palimpsest"])
async def test_no_folder_with_keys_or_state_is_added(session: Session, tmp_path: Path, name: str) -> None:
    for folder in ("keys/.ssh", "state/.palimpsest"):
        (tmp_path / folder).mkdir(parents=True)
    path = f"/add-dir {tmp_path / name if '/.' in name or name == 'missing' else name}"
    assert isinstance(await registry.run(session, path), CommandFailed)
    assert len(session.project.folders) == 1


async def test_a_file_outside_asks_and_a_link_to_it_does_not(session: Session, tmp_path: Path, project: Path) -> None:
    (tmp_path / "outside.txt").write_text("text\n")
    (project / "link.txt").symlink_to(tmp_path / "outside.txt")
    action = call(session, "read_file", {"path": str(tmp_path / "outside.txt")})
    decision = session.permissions.decide(action)
    assert (decision.verdict, "outside the project" in decision.reason) == (Verdict.ASK, True)
    own = (f"{tmp_path}/.palimpsest/cold.db", "/proc/self/environ")
    for path in ("link.txt", str(project / "link.txt"), "../outside.txt", *own):
        with pytest.raises(ToolFailure, match=r"not in the project|own state"):
            call(session, "read_file", {"path": path})
    with pytest.raises(ToolFailure, match="not in the project"):
        call(session, "write_file", {"path": str(tmp_path / "outside.txt"), "content": "x"})
