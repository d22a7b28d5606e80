"""The program: keys, palette, settings, themes, models, permissions and MCP servers."""

import asyncio

from msgspec import structs
from textual.pilot import Pilot

from agent.config.settings import all_settings
from agent.mcp.server_spec import ServerSource
from agent.mcp.server_state import ServerState
from agent.permissions.action import Access, Action
from agent.permissions.policy import Decision, Policy
from agent.permissions.rules import Rule, RuleSet, RuleSource, Verdict
from agent.services.live_settings import holds
from agent.services.settings import SettingRow
from tests.tui.overview.ports import QWEN, GivenModels, GivenServers, status, tool
from tests.tui.pictures.acts import pressing, pushing
from tests.tui.pictures.conftest import Picture
from tui.app import PalimpsestApp
from tui.dialogs.choices import ChoicesScreen
from tui.dialogs.theme import theme_items
from tui.overview.models_screen import ModelsScreen
from tui.overview.permissions_screen import PermissionsScreen
from tui.overview.servers_screen import ServersScreen
from tui.palette.screen import PaletteScreen
from tui.settings.screen import SettingsScreen


class ThreeSettings:
    """A switch that was changed, a number that is being changed, and a choice."""

    async def rows(self) -> list[SettingRow]:
        names = {"context.use_memory": ("false", "config.yaml, line 2"), "models.window": ("8192", "default")}
        names["screen.pictures"] = ("auto", "default")
        return [
            SettingRow(
                setting=all_settings()[name],
                written=value,
                origin=origin,
                of_workspace=False,
                is_secret=False,
                holds=holds(name),
            )
            for name, (value, origin) in names.items()
        ]

    async def change(self, name: str, text: str | None, *, user: bool) -> str:
        raise AssertionError(name, text, user)


async def test_the_palette(picture: Picture) -> None:
    await picture(pressing("ctrl+p", opens=PaletteScreen))


async def test_the_keys_of_the_place_and_the_commands(picture: Picture) -> None:
    await picture(pressing("f1", opens=PaletteScreen))


async def test_a_question_mark_in_an_empty_prompt_shows_the_keys(picture: Picture) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.chat.prompt.clear()
        await pressing("question_mark", opens=PaletteScreen)(app, pilot)

    await picture(act)


async def test_the_settings_with_who_set_them(picture: Picture) -> None:
    await picture(pushing(lambda: SettingsScreen(ThreeSettings()), "down", "enter"))


async def test_the_themes(picture: Picture) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        items = theme_items(app.available_themes, is_dark=None)
        await pushing(lambda: ChoicesScreen("Theme", items))(app, pilot)

    await picture(act)


async def test_the_models(picture: Picture) -> None:
    large = structs.replace(QWEN, spec="openai:通义千问-7b@http://127.0.0.1:8000/v1", tools=False, text_tools=True)
    await picture(pushing(lambda: ModelsScreen(GivenModels((QWEN, large)))))


async def test_without_a_model_it_says_how_to_get_one(picture: Picture) -> None:
    await picture(pushing(lambda: ModelsScreen(GivenModels())))


async def test_a_line_that_cannot_be_taken_is_refused_in_a_sentence(picture: Picture) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await pushing(lambda: ModelsScreen(GivenModels()), "a", *"qwen", "enter")(app, pilot)
        await asyncio.sleep(0.1)

    await picture(act)


async def test_the_permissions(picture: Picture) -> None:
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
    policy.note(push, Decision(Verdict.ASK, "No rule matches. Mode “ask” needs your confirmation."), "")
    await picture(pushing(lambda: PermissionsScreen(policy)))


async def test_the_mcp_servers(picture: Picture) -> None:
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
    await picture(pushing(lambda: ServersScreen(GivenServers(statuses))))
