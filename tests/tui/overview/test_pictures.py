"""Pictures of the screens of models, permissions and MCP servers."""

# ruff: noqa: F811 - a fixture

import pytest
from msgspec import structs
from textual.pilot import Pilot

from agent.mcp.server_spec import ServerSource
from agent.mcp.server_state import ServerState
from agent.permissions.action import Access, Action
from agent.permissions.policy import Decision, Policy
from agent.permissions.rules import Rule, RuleSet, RuleSource, Verdict
from tests.tui.overview.ports import QWEN, GivenModels, GivenServers, status, tool
from tests.tui.test_snapshots import SIZES, Look, look, shown  # noqa: F401 - a fixture
from tui.app import PalimpsestApp
from tui.overview.models_screen import ModelsScreen
from tui.overview.permissions_screen import PermissionsScreen
from tui.overview.servers_screen import ServersScreen


@SIZES
def test_the_models(look: Look, size: tuple[int, int]) -> None:
    large = structs.replace(QWEN, spec="openai:通义千问-7b@http://127.0.0.1:8000/v1", tools=False, text_tools=True)

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.push_screen(ModelsScreen(GivenModels((QWEN, large))))
        await shown(app, pilot, ModelsScreen)

    assert look(act, size=size, new=False)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_without_a_model_it_says_how_to_get_one(look: Look, size: tuple[int, int]) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.push_screen(ModelsScreen(GivenModels()))
        await shown(app, pilot, ModelsScreen)

    assert look(act, size=size, new=False)


def test_a_line_that_cannot_be_taken_is_refused_in_a_sentence(look: Look) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.push_screen(ModelsScreen(GivenModels()))
        await shown(app, pilot, ModelsScreen)
        await pilot.press("a", *"qwen", "enter")
        await pilot.pause(0.1)

    assert look(act, new=False)


@SIZES
def test_the_permissions(look: Look, size: tuple[int, int]) -> None:
    policy = Policy(
        RuleSet(
            [
                Rule(Verdict.ALLOW, "run_command", "git status *", RuleSource.USER),
                Rule(Verdict.DENY, "edit_file", "文档/**", RuleSource.PROJECT),
                Rule(Verdict.ASK, "fetch_url"),
            ]
        )
    )
    push = Action(tool="run_command", access=Access.RUN, summary="git push 🚀", subject="git push 🚀")
    policy.note(push, Decision(Verdict.ASK, "No rule decides, and the mode ask asks."), "")

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.push_screen(PermissionsScreen(policy))
        await shown(app, pilot, PermissionsScreen)

    assert look(act, size=size, new=False)


@SIZES
def test_the_mcp_servers(look: Look, size: tuple[int, int]) -> None:
    tools = (
        tool("time__get_current_time", "Get the current time in a time zone. 时间 🕐"),
        tool("time__convert_time", "Convert"),
    )
    statuses = (
        status("issues", ServerState.FAILED, summary="https://example.org/mcp", error="answered: 401 Unauthorized"),
        status("own", ServerState.UNTRUSTED, source=ServerSource.PROJECT, summary="python3 tools/server.py"),
        status(
            "time",
            ServerState.READY,
            protocol="2026-07-28",
            tools=tuple(each.definition.name for each in tools),
            offered=tools,
            tokens=120,
            log="listening",
        ),
        status("旧的", ServerState.DISABLED),
    )

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.push_screen(ServersScreen(GivenServers(statuses)))
        await shown(app, pilot, ServersScreen)

    assert look(act, size=size, new=False)
