"""A day's trace of 100 calls with a time server and a file server: how often it asks, and what never runs unasked."""

import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agent.commands import registry
from agent.commands.results import CommandFailed, TextResult
from agent.config.config import Config
from agent.config.workspaces import prepare_workspace
from agent.events import PermissionDenied, PermissionRequested, ToolFinished, ToolStarted
from agent.mcp.settings import McpSettings
from agent.permissions.action import PermissionAnswer, Scope
from agent.permissions.mode import PermissionMode
from agent.services.permission_question import PermissionQuestion
from agent.session import Session
from agent.tools.port import ToolSettings
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.mcp.conftest import SERVERS
from tests.agent.sessions import several_calls
from tests.loopback import Loopback, chat

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(os.name == "nt", reason="commands as POSIX has them"),
]

Call = tuple[str, dict[str, Any]]
Open = Callable[..., Session]
MOST_QUESTIONS = 5


def command(line: str) -> Call:
    return "run_command", {"command": line}


def trace() -> list[list[Call]]:
    """Ten answers of ten calls each: look around, read, edit, test, ask the servers."""
    answers: list[list[Call]] = []
    for number in range(10):
        answers.append(
            [
                command(f"ls -la src && git status --short | head -{number + 5}"),
                command(f"cat src/a.py | head -n {number + 1}"),
                command(f"rg -n total{number} src || grep -rn total src"),
                command(f"git log --oneline -n {number + 1}; git diff -- src/a.py"),
                ("read_file", {"path": "src/a.py", "offset": 1, "limit": number + 1}),
                ("edit_file", {"path": "src/a.py", "old": f"total = {number}\n", "new": f"total = {number + 1}\n"}),
                ("desk__read_text", {"path": "notes.txt"})
                if number % 2
                else ("desk__list_folder", {"path": f"{number}"}),
                ("clock__get_current_time", {"path": f"{number}"}),
                ("desk__search", {"path": f"{number}"})
                if number % 2
                else ("clock__convert_time", {"path": f"{number}"}),
                command(f"python3 -m unittest -q && echo {number}")
                if number == 5
                else command(f"sed -n '1,{number + 9}p' src/a.py"),
            ]
        )
    return answers


@pytest.fixture
async def opened(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Open]:
    """`opened(trust=True)`: a session in mode edit with both servers, of the user or (`project`) of the project."""
    sessions: list[Session] = []

    def make(*, trust: bool, project: bool = False) -> Session:
        folder, user, home = tmp_path / "project", tmp_path / "user-config", tmp_path / "home"
        for path in (folder / "src", user, home):
            path.mkdir(parents=True)
        (folder / "src" / "a.py").write_text("total = 0\n")
        (tmp_path / "notes.txt").write_text("Seeds: order kale.\n")
        names = {"clock": ["time"], "desk": ["files", str(tmp_path)]}
        servers = {
            name: {"command": sys.executable, "args": ["-S", str(SERVERS / "desk_server.py"), *words], "trust": trust}
            for name, words in names.items()
        }
        (folder / ".mcp.json" if project else user / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        environment = {
            "PALIMPSEST_CONFIG_DIR": str(user), "PALIMPSEST_DETECT": "off",
            "PATH": os.environ["PATH"], "HOME": str(home),
        }  # fmt: skip
        prepare_workspace(workspace, environment)
        config = Config(
            model=f"openai:m@{server.address}/v1",
            environment=environment,
            models=ModelSettings(tools=True, window=200_000),
            mcp=McpSettings(start_seconds=20, wait_seconds=20, call_seconds=10),
            tools=ToolSettings(mode=PermissionMode.EDIT, offer="all"),
        )
        sessions.append(session := Session.open(workspace, config, project=(folder,)))
        if not session.commands.sandbox.state.holds:
            pytest.skip("no sandbox here")
        return session

    yield make
    for session in sessions:
        await session.close()


def for_the_session(asked: PermissionRequested) -> PermissionAnswer:
    """The widest answer for this session, as the dialog offers it; once where it offers none."""
    question = PermissionQuestion.of(asked.action, asked.reason, once_only=asked.once_only, offers=asked.offers)
    wide = [answer for _, answer in question.answers if answer.granted and answer.scope is Scope.SESSION]
    return wide[-1] if wide else PermissionAnswer(True)


async def play(session: Session, server: Loopback, answers: list[list[Call]]) -> tuple[list[str], int]:
    """What asked, and how many calls ran."""
    server.plays(*(several_calls(*calls) for calls in answers), chat("Done."))
    await session.servers.wait()
    assert all(status.state == "ready" for status in session.servers.statuses()), session.servers.statuses()
    questions, finished = list[str](), 0
    async for event in session.send("Work."):
        if isinstance(event, PermissionRequested):
            questions.append(f"{event.action.summary}: {event.reason}")
            event.answer.set_result(for_the_session(event))
        assert not isinstance(event, PermissionDenied), event
        if isinstance(event, ToolFinished):
            finished += 1
            assert not event.failed, event.shown
    return questions, finished


async def test_a_day_of_a_hundred_calls_asks_at_most_five_times(opened: Open, server: Loopback) -> None:
    session = opened(trust=True)
    questions, finished = await play(session, server, trace())
    print(json.dumps({"calls": finished, "questions": len(questions), "asked": questions}, ensure_ascii=False))
    assert finished == 100
    assert 0 < len(questions) <= MOST_QUESTIONS


async def test_servers_that_nobody_marked_leave_the_commands_alone(opened: Open, server: Loopback) -> None:
    """The control: their text is untrusted, so each further call of them asks, and no command does."""
    session = opened(trust=False)
    questions, finished = await play(session, server, trace()[:2])
    assert finished == 20
    assert len(questions) > MOST_QUESTIONS and all("__" in asked.partition(":")[0] for asked in questions)


async def test_a_project_cannot_mark_its_own_servers(opened: Open, server: Loopback) -> None:
    session = opened(trust=True, project=True)
    for name in ("clock", "desk"):
        session.servers.answer(name, allowed=True)
        assert not session.servers.find(name).is_trusted
        marked = await registry.run(session, f"/mcp harmless {name}")
        assert isinstance(marked, CommandFailed) and "the project's .mcp.json" in str(marked)
    questions, _ = await play(session, server, trace()[:2])
    assert len(questions) > MOST_QUESTIONS


async def test_a_server_is_marked_and_unmarked_by_command(opened: Open, server: Loopback, tmp_path: Path) -> None:
    session = opened(trust=False)
    for trusted in (True, False):
        outcome = await registry.run(session, "/mcp harmless clock")
        assert isinstance(outcome, TextResult)
        stored = json.loads((tmp_path / "user-config" / "mcp.json").read_text())["mcpServers"]
        assert stored["clock"]["trust"] is trusted and stored["desk"]["trust"] is False
        assert session.servers.find("clock").is_trusted is trusted


async def test_text_of_a_server_guards_what_leaves_and_what_is_remembered(opened: Open, server: Loopback) -> None:
    session = opened(trust=False)
    session.permissions.set_mode(PermissionMode.AUTO)
    server.plays(
        several_calls(("clock__get_current_time", {})),
        several_calls(
            command("python3 -c 'print(1)'"),
            command("echo x >> AGENTS.md"),
            ("run_command", {"command": "ls", "sandbox": False}),
            ("remember", {"note": "canary"}),
            ("clock__get_current_time", {}),
        ),
        chat("Done."),
    )
    asked, ran = list[str](), list[str]()
    async for event in session.send("Work."):
        if isinstance(event, PermissionRequested):
            asked.append(event.action.summary)
            event.answer.set_result(
                PermissionAnswer(event.action.tool == "clock__get_current_time" and len(asked) == 1)
            )
        if isinstance(event, ToolStarted):
            ran.append(event.call.name)
    assert [summary.partition(" {")[0] for summary in asked] == [
        "clock__get_current_time",
        "run echo x >> AGENTS.md",
        "run ls",
        *(summary for summary in asked[3:4]),
        "clock__get_current_time",
    ]
    assert "canary" not in session.workspace.memory_md.read_text()
