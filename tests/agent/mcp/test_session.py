"""A session with MCP servers: what the model is offered, what asks, what is kept, and what ends with it."""

import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agent.commands import registry
from agent.commands.results import CommandFailed, OpenNamedScreen, Proposal, TextResult
from agent.config.config import Config
from agent.config.workspaces import prepare_workspace
from agent.events import EpochChanged, Notice, PermissionRequested, SessionEvent, ToolFinished
from agent.mcp.settings import McpSettings
from agent.permissions.action import PermissionAnswer
from agent.permissions.rules import RuleSet, Verdict, parse_rule
from agent.session import Session
from agent.tools.port import ToolSettings
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.mcp.conftest import ECHO, KIND, SERVERS
from tests.agent.sessions import calls
from tests.loopback import Loopback, chat

pytestmark = pytest.mark.timeout(60)


def raw(behaviour: str, state: Path) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-S", str(SERVERS / "raw_server.py"), behaviour, str(state)]}


Open = Callable[..., Session]


@pytest.fixture
async def opened(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Open]:
    """`opened({"kind": KIND}, project={…})`: a session with servers of the user and of the project."""
    sessions: list[Session] = []

    def make(servers: dict[str, Any], project: dict[str, Any] | None = None, model: str = "") -> Session:
        folder = tmp_path / "project"
        folder.mkdir(exist_ok=True)
        if project is not None:
            (folder / ".mcp.json").write_text(json.dumps({"mcpServers": project}))
        user = tmp_path / "user-config"
        user.mkdir(exist_ok=True)
        (user / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        environment = {"PALIMPSEST_CONFIG_DIR": str(user), "PALIMPSEST_DETECT": "off", "PATH": "/usr/bin:/bin"}
        prepare_workspace(workspace, environment)
        config = Config(
            model=model or f"openai:m@{server.address}/v1",
            environment=environment,
            models=ModelSettings(tools=True, window=32_000),
            tools=ToolSettings(result_chars=2_000),
            mcp=McpSettings(start_seconds=20, wait_seconds=20, call_seconds=10),
        )
        sessions.append(Session.open(workspace, config, project=(folder,)))
        return sessions[-1]

    yield make
    for session in sessions:
        await session.close()


async def turn(session: Session, text: str, *answers: PermissionAnswer) -> list[Any]:
    seen: list[SessionEvent] = []
    waiting = list(answers)
    async for event in session.send(text):
        seen.append(event)
        if isinstance(event, PermissionRequested):
            event.answer.set_result(waiting.pop(0))
    return seen


def offered(server: Loopback, request: int = -1) -> list[str]:
    return [tool["function"]["name"] for tool in sent(server)[request]["tools"]]


def sent(server: Loopback) -> list[Any]:
    """The requests to the model."""
    return [request.json for request in server.posts if request.path.endswith("/chat/completions")]


YES = PermissionAnswer(granted=True)


async def test_the_model_calls_a_tool_and_gets_a_bounded_piece_of_a_large_output(
    opened: Open, server: Loopback
) -> None:
    session = opened({"kind": KIND})
    server.plays(calls("kind__large", lines=10_000), chat("Done."))
    events = await turn(session, "List it.", YES)
    assert offered(server, 0) == sorted(offered(server, 0))
    assert "kind__large" in offered(server, 0)
    [finished] = [event for event in events if isinstance(event, ToolFinished)]
    assert finished.chars == 298_893
    stored = session.memory.conversations.find_entry(finished.entry)
    assert stored.text is not None
    assert len(stored.text) == 298_893
    [result] = [message for message in sent(server)[-1]["messages"] if message["role"] == "tool"]
    assert len(result["content"]) < 3_000
    assert "10,000 lines" in result["content"].splitlines()[0]
    assert finished.entry in result["content"][:400]
    assert "line 10000 of the large output" in result["content"]


async def test_a_long_failure_is_bounded_too(opened: Open, server: Loopback, tmp_path: Path) -> None:
    session = opened({"bad": raw("is_error", tmp_path / "s")})
    server.plays(calls("bad__echo"), chat("Done."))
    [finished] = [event for event in await turn(session, "Go.", YES) if isinstance(event, ToolFinished)]
    assert finished.failed
    assert finished.chars > 290_000
    assert len(finished.shown) < 3_000


async def test_a_second_call_in_a_turn_asks_again_because_the_first_read_foreign_text(
    opened: Open, server: Loopback
) -> None:
    session = opened({"echo": ECHO})
    server.plays(calls("echo__echo", text="1"), calls("echo__echo", text="2"), chat("Done."))
    session.permissions.rules = RuleSet([parse_rule(Verdict.ALLOW, "echo__*")])
    asked = [event for event in await turn(session, "Echo.", YES) if isinstance(event, PermissionRequested)]
    assert len(asked) == 1
    assert "untrusted" in asked[0].reason


async def test_tools_that_change_are_told_at_the_next_turn(opened: Open, server: Loopback, tmp_path: Path) -> None:
    session = opened({"bad": raw("changes_at_restart", tmp_path / "s")})
    server.plays(chat("One."))
    await turn(session, "First.")
    before = sent(server)[-1]["tools"]
    session.permissions.rules.add(parse_rule(Verdict.ALLOW, "bad__echo"))
    outcome = await registry.run(session, "/mcp restart bad")
    assert isinstance(outcome, TextResult)
    server.plays(chat("Two."))
    events = await turn(session, "Second.")
    assert any(isinstance(event, Notice) and "changed: bad__echo" in event.text for event in events)
    assert not session.permissions.rules.rules, "its permission no longer holds"
    assert any(isinstance(event, EpochChanged) for event in events)
    assert sent(server)[-1]["tools"] != before
    server.plays(chat("Three."))
    assert not any(isinstance(event, EpochChanged) for event in await turn(session, "Third."))


async def test_a_project_server_runs_only_when_its_owner_trusts_this_very_line(
    opened: Open, server: Loopback, tmp_path: Path
) -> None:
    mark = tmp_path / "it-ran"
    project = {"own": {**raw("changes_at_restart", mark), "env": {"A_KEY": "secret-value"}}}
    session = opened({"mine": raw("good", tmp_path / "s")}, project)
    server.plays(chat("One."))
    assert any(
        "own is not trusted" in event.text for event in await turn(session, "First.") if isinstance(event, Notice)
    )
    assert not mark.exists()
    [asked] = session.servers.unanswered
    assert asked.facts[0].startswith("It runs: ")
    assert "raw_server.py changes_at_restart" in asked.facts[0]
    assert "secret-value" not in "".join(asked.facts)
    assert isinstance(await registry.run(session, "/mcp enable own"), CommandFailed)
    proposal = await registry.run(session, "/mcp trust own")
    assert isinstance(proposal, Proposal)
    await registry.carry_out(proposal, lambda _page: None)
    server.plays(chat("Two."))
    await turn(session, "Second.")
    assert "own__echo" in offered(server)
    assert mark.exists()

    again = opened({}, project)
    assert again.servers.unanswered == ()
    project["own"]["args"].append("--more")
    changed = opened({}, project)
    [asked] = changed.servers.unanswered
    assert changed.servers.is_changed(asked)


async def test_consent_before_the_start_starts_the_others_too(opened: Open, server: Loopback, tmp_path: Path) -> None:
    session = opened({"mine": raw("good", tmp_path / "s")}, {"own": raw("good", tmp_path / "t")})
    session.servers.answer("own", allowed=True)
    session.begin_background()
    server.plays(chat("One."))
    await turn(session, "First.")
    assert {"own__echo", "mine__echo"} <= {*offered(server)}


async def test_a_declined_project_server_is_not_asked_about_again(opened: Open, tmp_path: Path) -> None:
    project = {"own": raw("good", tmp_path / "s")}
    session = opened({}, project)
    session.servers.answer("own", allowed=False)
    assert opened({}, project).servers.unanswered == ()


async def test_a_project_replaces_no_server_of_the_user(opened: Open, tmp_path: Path) -> None:
    session = opened({"one": raw("good", tmp_path / "s")}, {"one": {"command": "evil"}})
    [status] = session.servers.statuses()
    assert "raw_server.py good" in status.summary
    assert "configured twice" in session.servers.problems[0]


async def test_the_command_lists_disables_and_enables(opened: Open, server: Loopback, tmp_path: Path) -> None:
    session = opened({"good": raw("good", tmp_path / "s"), "bad": raw("exits_with_words", tmp_path / "s")})
    opening = await registry.run(session, "/mcp")
    assert isinstance(opening, OpenNamedScreen)
    listing = await opening.printed()
    assert isinstance(listing, TextResult)
    assert "| good | ready, 2025-11-25 | 1 |" in listing.markdown
    [failure] = [line for line in listing.markdown.splitlines() if "cannot find the database" in line]
    assert failure.startswith("- bad: exited with status")
    assert isinstance(await registry.run(session, "/mcp disable good"), TextResult)
    server.plays(chat("One."))
    await turn(session, "First.")
    assert not any(name.startswith("good__") for name in offered(server))
    await registry.run(session, "/mcp enable good")
    server.plays(chat("Two."))
    await turn(session, "Second.")
    assert "good__echo" in offered(server)
    for line in ("/mcp restart nobody", "/mcp dance good", "/mcp trust good"):
        assert isinstance(await registry.run(session, line), CommandFailed)


async def test_without_a_model_no_server_starts(opened: Open, tmp_path: Path) -> None:
    mark = tmp_path / "it-ran"
    session = opened({"own": raw("changes_at_restart", mark)}, model="offline")
    session.begin_background()
    await turn(session, "Hello.")
    assert not mark.exists()
