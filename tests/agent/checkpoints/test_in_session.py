"""Checkpoints in a session: a model's tool call, the event, undo, and rewind across a compaction."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.checkpoints.change import CheckpointKind
from agent.commands import registry
from agent.commands.results import Proposal, SessionSwitched, TextResult
from agent.events import CheckpointMade, PermissionRequested, ToolFinished, UserStored
from agent.permissions.mode import PermissionMode
from agent.session import Session
from agent.tools.port import ToolSettings
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import calls, only, open_session, turn
from tests.agent.turn.event_order import assert_in_order
from tests.loopback import Loopback, chat

LONG = "The boiler in the cellar was repaired, and the roof is next. " * 60


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    project = tmp_path / "project"
    project.mkdir()
    opened = open_session(
        workspace,
        tmp_path,
        server,
        models=ModelSettings(tools=True, window=8_000, retries=0),
        tools=ToolSettings(sandbox=False),
        project=(project,),
    )
    yield opened
    await opened.close()


def allow(_request: PermissionRequested) -> bool:
    return True


async def test_a_tool_that_writes_a_file_makes_a_checkpoint_that_undo_takes_back(
    session: Session, server: Loopback
) -> None:
    (session.project.root / "a.txt").write_text("old\n")
    server.plays(calls("write_file", path="new.txt", content="made\n"), chat("Done."))
    seen = await turn(session, "Write new.txt.", allow)
    assert_in_order(seen)
    made = only(seen, CheckpointMade)
    assert made.as_json()["entry"] == only(seen, ToolFinished).entry
    assert [(file["path"], file["change"]) for file in made.as_json()["files"]] == [("new.txt", "created")]
    assert made.record.message == only(seen, UserStored).entry
    assert made.record.label == "write_file"
    assert isinstance(await registry.run(session, "/undo"), TextResult)
    assert [path.name for path in session.project.root.iterdir()] == ["a.txt"]


async def test_a_command_that_changes_such_a_file_is_undone_with_it(session: Session, server: Loopback) -> None:
    server.plays(calls("write_file", path="a.txt", content="x=1\n"), chat("Done."))
    await turn(session, "Write it.", allow)
    server.plays(calls("run_command", command="echo 'x = 1' > a.txt"), chat("Done."))
    seen = await turn(session, "Format it.", allow)
    assert only(seen, CheckpointMade).record.kind is CheckpointKind.COMMAND
    await registry.run(session, "/undo")
    assert (session.project.root / "a.txt").read_text() == "x=1\n"


async def test_undo_after_commands_that_changed_nothing_says_which_ran(session: Session, server: Loopback) -> None:
    for command in ("echo 一", "echo `two`", "echo three", "rm -f other.txt"):
        server.plays(calls("run_command", command=command), chat("Done."))
        await turn(session, "Run it.", allow)
    server.plays(calls("run_command", command="echo declined"), chat("Well."))
    await turn(session, "Run it.", lambda _: False)
    outcome = await registry.run(session, "/undo")
    assert isinstance(outcome, TextResult)
    assert "commands ran" in outcome.markdown and "changed no file" in outcome.markdown
    listed = [line for line in outcome.markdown.splitlines() if line.startswith("- ")]
    assert listed == ["- `` echo `two` ``", "- `echo three`", "- `rm -f other.txt`"]


async def test_in_auto_a_command_that_deletes_runs_unasked_and_is_undone(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    """What a hostile test lost for good: the file went to the sandbox's own temporary folder."""
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "notes.txt").write_text("mine\n")
    (project / "src" / "a.py").write_text("a = 1\n")
    opened = open_session(
        workspace,
        tmp_path,
        server,
        models=ModelSettings(tools=True, window=8_000, retries=0),
        tools=ToolSettings(mode=PermissionMode.AUTO),
        project=(project,),
    )
    if not await asyncio.to_thread(lambda: opened.commands.sandbox.state.holds):
        await opened.close()
        pytest.skip("there is no sandbox here")
    server.plays(calls("run_command", command="mv notes.txt /tmp/ && rm -rf src"), chat("Done."))
    seen = await turn(opened, "Tidy up.")
    assert list(project.iterdir()) == []
    assert {file.path for file in only(seen, CheckpointMade).record.files} == {"notes.txt", "src/a.py"}
    await registry.run(opened, "/undo")
    assert (project / "notes.txt").read_text() == "mine\n"
    assert (project / "src" / "a.py").read_text() == "a = 1\n"
    await opened.close()


async def test_what_a_background_command_removes_is_undone_after_a_question(session: Session, server: Loopback) -> None:
    (session.project.root / "a.txt").write_text("mine\n")
    (session.project.root / "b.txt").write_text("mine\n")
    server.plays(
        calls("run_command", command="rm a.txt; touch made; sleep 60", background=True),
        calls("write_file", path="c.txt", content="made\n"),
        chat("Done."),
    )
    await turn(session, "Start it.", allow)
    async with asyncio.timeout(8):
        while (session.project.root / "a.txt").exists():
            await asyncio.sleep(0.05)
    outcome = await registry.run(session, "/undo")
    assert isinstance(outcome, Proposal)
    assert sorted(row[1].split(":")[0] for row in outcome.rows) == ["a.txt", "c.txt"]
    await outcome.run(lambda _: None)
    assert sorted(path.name for path in session.project.root.iterdir()) == ["a.txt", "b.txt", "made"]


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_rewind_goes_back_to_a_message_before_a_compaction(session: Session, server: Loopback) -> None:
    server.plays(calls("write_file", path="a.txt", content="one\n"), chat("Done."))
    first = only(await turn(session, "First, write one.", allow), UserStored).entry
    for number in range(4):
        server.plays(chat(LONG))
        await turn(session, f"{number}: {LONG}")
    assert await session.compaction.run() is not None
    outcome = await registry.run(session, f"/rewind {first} both")
    assert isinstance(outcome, SessionSwitched), outcome
    assert outcome.prompt == "First, write one."
    assert list(session.project.root.iterdir()) == []
    assert await session.branch.own_messages(9) == []
