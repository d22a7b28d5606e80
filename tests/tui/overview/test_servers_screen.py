"""The MCP servers on screen, over real servers: state, tools, log, restart, off and on, added and removed."""

import json
import re
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agent.config.config import Config
from agent.config.workspaces import prepare_workspace
from agent.mcp.settings import McpSettings
from agent.services.mcp_servers import change_user_file, parse_server
from agent.session import Session
from foundation.errors import Misuse
from foundation.paths import Workspace
from tests.agent.mcp.conftest import ECHO, KIND
from tests.tui.conftest import Chat, Open
from tui.dialogs.confirm import ProposalScreen, YesScreen
from tui.dialogs.line import LineScreen
from tui.overview.servers_screen import ServersScreen
from tui.passages.text_screen import TextScreen

BAD = {"command": sys.executable, "args": ["-c", "import sys; print('no database 锅炉', file=sys.stderr); sys.exit(3)"]}
OpenSession = Callable[..., Session]


@pytest.fixture
async def opened(workspace: Workspace, tmp_path: Path) -> AsyncIterator[OpenSession]:
    """`opened({"kind": KIND}, project={…})`: a real session with servers of the user and of the project."""
    sessions: list[Session] = []

    def make(servers: dict[str, Any], project: dict[str, Any] | None = None) -> Session:
        folder, user = tmp_path / "project", tmp_path / "user-config"
        folder.mkdir()
        user.mkdir()
        if project is not None:
            (folder / ".mcp.json").write_text(json.dumps({"mcpServers": project}))
        (user / "mcp.json").write_text(json.dumps({"kept": 1, "mcpServers": servers}))
        environment = {"PALIMPSEST_CONFIG_DIR": str(user), "PALIMPSEST_DETECT": "off", "PATH": "/usr/bin:/bin"}
        prepare_workspace(workspace, environment)
        config = Config(environment=environment, mcp=McpSettings(start_seconds=20, wait_seconds=20))
        sessions.append(Session.open(workspace, config, project=(folder,)))
        return sessions[-1]

    yield make
    for session in sessions:
        await session.close()


async def servers(chat: Chat) -> ServersScreen:
    chat.screen.queue.add("/mcp")
    await chat.until(lambda: isinstance(chat.app.screen, ServersScreen) and chat.app.screen.is_read)
    screen = chat.app.screen
    assert isinstance(screen, ServersScreen)
    return screen


def words(chat: Chat) -> str:
    return " ".join(" ".join(chat.seen).split())


async def proposed(chat: Chat, text: str = "", key: str = "Enter confirms") -> None:
    """Until the question is displayed: Enter before that would go to the list."""
    await chat.until(lambda: isinstance(chat.app.screen, ProposalScreen) and key in words(chat) and text in words(chat))


def stored(tmp_path: Path) -> Any:
    return json.loads((tmp_path / "user-config" / "mcp.json").read_text(encoding="utf-8"))


async def test_each_server_says_its_state_its_tools_and_what_they_cost(open_chat: Open, opened: OpenSession) -> None:
    async with open_chat(session=opened({"kind": KIND, "bad": BAD}), size=(110, 44)) as chat:
        await servers(chat)
        await chat.until(lambda: "6 tools" in words(chat) and "failed" in words(chat))
        assert "1 of 2 running" in words(chat)
        assert "Its last output: no database 锅炉" in words(chat)
        await chat.press("l")
        await chat.until(lambda: isinstance(chat.app.screen, TextScreen) and "no database" in words(chat))
        await chat.press("escape", "down", "enter")
        await chat.until(lambda: isinstance(chat.app.screen, TextScreen) and "Add two numbers." in words(chat))


async def test_a_server_is_turned_off_and_on_and_restarted(open_chat: Open, opened: OpenSession) -> None:
    session = opened({"echo": ECHO})
    async with open_chat(session=session, size=(110, 44)) as chat:
        screen = await servers(chat)
        await chat.until(lambda: "running ·" in words(chat))
        await chat.press("o")
        await chat.until(lambda: "echo is off." in words(chat))
        await chat.press("o")
        await chat.until(lambda: "echo is running." in words(chat))
        screen.say("")  # it would say the same
        await chat.press("r")
        await chat.until(lambda: "echo is running." in words(chat))


async def test_a_server_is_added_kept_and_started(open_chat: Open, opened: OpenSession, tmp_path: Path) -> None:
    session = opened({})
    async with open_chat(session=session, size=(110, 44)) as chat:
        await servers(chat)
        await chat.until(lambda: "No MCP server is configured" in words(chat))
        await chat.press("a")
        await chat.until(lambda: isinstance(chat.app.screen, LineScreen))
        await chat.type("echo")
        await chat.press("enter")
        await chat.until(lambda: "or a name and an address" in words(chat))
        chat.app.screen.query_one("#filter").insert_text_at_cursor(f" {sys.executable} {' '.join(ECHO['args'])}")  # type: ignore[attr-defined]  # an Input
        await chat.press("enter")
        await chat.until(lambda: "1 tool" in words(chat))
        assert stored(tmp_path) == {"kept": 1, "mcpServers": {"echo": ECHO}}
        changes = session.servers.take_tools()
        assert "echo__echo" in [tool.definition.name for tool in changes.tools]


async def test_a_server_is_removed_once_that_is_confirmed(open_chat: Open, opened: OpenSession, tmp_path: Path) -> None:
    session = opened({"bad": BAD, "echo": ECHO})
    async with open_chat(session=session, size=(110, 44)) as chat:
        await servers(chat)
        await chat.until(lambda: "failed" in words(chat))
        await chat.press("d")
        await proposed(chat)
        await chat.press("enter")
        await chat.until(lambda: "bad removed." in words(chat))
        assert list(stored(tmp_path)["mcpServers"]) == ["echo"]
        assert [status.name for status in session.servers.statuses()] == ["echo"]
        assert list((tmp_path / "user-config" / "versions").glob("mcp-*.json"))


async def test_a_server_of_the_project_waits_for_trust_and_shows_what_it_runs(
    open_chat: Open, opened: OpenSession
) -> None:
    session = opened({}, {"own": ECHO})
    async with open_chat(session=session, size=(110, 44)) as chat:
        await chat.press("escape")
        await servers(chat)
        await chat.until(lambda: "not trusted yet" in words(chat))
        await chat.press("d")
        await proposed(chat)
        await chat.press("enter")
        await chat.until(lambda: "configured in the project's .mcp.json" in words(chat))
        await chat.press("y")
        await proposed(chat, "raw_server.py", "y confirms")
        await chat.press("enter")  # grants nothing
        assert isinstance(chat.app.screen, YesScreen)
        await chat.press("y")
        await chat.until(lambda: "1 tool" in words(chat))


async def test_a_key_in_an_argument_is_not_shown(open_chat: Open, opened: OpenSession) -> None:
    key = "ghp_" + "a1B2" * 9
    session = opened({"bad": {"command": "/no/such/program", "args": ["--token", key]}})
    async with open_chat(session=session, size=(110, 44)) as chat:
        await servers(chat)
        await chat.until(lambda: "/no/such/program" in words(chat) and "failed" in words(chat))
        assert key[:12] not in words(chat)


@pytest.mark.parametrize(
    ("line", "raw"),
    [
        ("time uvx mcp-server-time", {"command": "uvx", "args": ["mcp-server-time"]}),
        ("x 'a b' \"c 好\"", {"command": "a b", "args": ["c 好"]}),
        ("issues https://example.org/mcp", {"type": "http", "url": "https://example.org/mcp"}),
        (
            'x {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}',
            {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        ),
    ],
)
def test_a_line_is_a_definition(line: str, raw: dict[str, Any]) -> None:
    assert parse_server(line) == (line.split(maxsplit=1)[0], raw)


@pytest.mark.parametrize(
    "line",
    ["", "time", "x 'unclosed", "x {", "x {}", "x https://u:pw@example.org", f"x run ghp_{'a1B2' * 9}"],
)
def test_what_is_no_definition_or_holds_a_key_is_refused(line: str) -> None:
    with pytest.raises(Misuse):
        parse_server(line)


def test_a_file_that_cannot_be_read_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text("{broken")
    with pytest.raises(Misuse, match=re.escape("mcp.json: it is not JSON")):
        change_user_file(path, lambda servers: servers)
    assert path.read_text() == "{broken"


async def test_the_missing_extra_is_told_before_anything_is_typed(
    open_chat: Open, opened: OpenSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = 'python3 -m pip install "palimpsest-shell[mcp]"'
    monkeypatch.setattr("tui.overview.servers_screen.missing_extra", lambda *_: command)
    async with open_chat(session=opened({}), size=(110, 44)) as chat:
        await servers(chat)
        await chat.until(lambda: "The extra mcp is not installed" in words(chat) and command in words(chat))
        await chat.press("a")
        await chat.until(lambda: isinstance(chat.app.screen, LineScreen))
        assert "The extra mcp is not installed" in words(chat)
        assert command in words(chat)


async def test_nothing_is_told_of_an_extra_that_is_there(open_chat: Open, opened: OpenSession) -> None:
    async with open_chat(session=opened({}), size=(110, 44)) as chat:
        await servers(chat)
        assert "not installed" not in words(chat)
