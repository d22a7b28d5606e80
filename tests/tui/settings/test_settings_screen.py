"""The settings screen over real files: what is shown, changed, taken back and refused."""

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from agent.config.config import Config, user_config
from agent.config.workspaces import prepare_workspace
from foundation.paths import Workspace
from tests.tui.conftest import Chat, Open
from tests.tui.fakes import FakeSession, answer
from tui.dialogs.choices import ChoicesScreen
from tui.settings.screen import SettingsScreen


@pytest.fixture
def session(workspace: Workspace, tmp_path: Path) -> Any:
    environment = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "config")}
    prepare_workspace(workspace, environment)
    fake: Any = FakeSession(answer)
    fake.workspace, fake.config = workspace, Config(environment=environment)
    return fake


def fake_settings(session: Any) -> Any:
    """The settings of the next request."""
    return session.context.settings


async def opened(chat: Chat, query: str = "") -> SettingsScreen:
    chat.screen.queue.add(f"/settings {query}".strip())
    await chat.until(lambda: isinstance(chat.app.screen, SettingsScreen) and chat.app.screen.chosen)
    screen = chat.app.screen
    assert isinstance(screen, SettingsScreen)
    return screen


def seen(chat: Chat) -> str:
    return "\n".join(chat.seen)


async def test_enter_turns_a_switch_about_and_says_when_it_holds(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        await opened(chat, "context.use_memory")
        assert "[x] context.use_memory" in seen(chat)
        await chat.press("enter")
        await chat.until(lambda: "[ ] context.use_memory" in seen(chat))
        assert "It holds from the next request; /switches overrides it." in " ".join(seen(chat).split())
        assert fake_settings(session).use_memory is False
        text = user_config(session.config.environment).read_text(encoding="utf-8")
        assert text == "context:\n  use_memory: false\n"
        await chat.press("ctrl+r")
        await chat.until(lambda: "[x] context.use_memory" in seen(chat))
        assert "0 changed" in seen(chat)


async def test_the_common_settings_come_first_and_the_others_behind_one_line(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session, size=(140, 40)) as chat:
        screen = await opened(chat)
        assert "Permission mode" in seen(chat) and "What tools may do" in seen(chat)
        assert "models.retries" not in seen(chat)
        await chat.press(*["down"] * 20)
        assert screen.chosen is None
        await chat.press("enter")
        await chat.until(lambda: "tools.mode" in seen(chat) and screen.chosen is not None)
        await chat.type("retries")
        await chat.until(lambda: "models.retries" in seen(chat))


async def test_tab_sets_it_for_this_workspace(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        await opened(chat, "context.use_memory")
        await chat.press("tab", "enter")
        await chat.until(lambda: "1 changed" in seen(chat))
        assert session.workspace.config.read_text(encoding="utf-8") == "context:\n  use_memory: false\n"


async def test_a_wrong_value_is_told_and_the_field_stays_open(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        screen = await opened(chat, "models.window")
        await chat.press("enter")
        field = screen.query_one("#settings-edit", Input)
        await chat.until(lambda: field.has_focus)
        await chat.type("many")
        await chat.press("enter")
        await chat.until(lambda: "“many” is no value of `models.window`. It takes: whole number" in seen(chat))
        assert "config show" not in seen(chat), "the description stands above"
        assert field.display
        field.value = "8192"
        await chat.press("enter")
        await chat.until(lambda: not field.display)
        assert "models.window is 8192" in seen(chat)


async def test_the_values_of_a_choice_are_offered(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        await opened(chat, "screen.pictures")
        await chat.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, ChoicesScreen))
        await chat.type("blocks")
        await chat.press("enter")
        await chat.until(lambda: "screen.pictures is blocks" in seen(chat))


async def test_a_theme_holds_at_once(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        screen = await opened(chat, "screen.theme")
        await chat.press("enter")
        field = screen.query_one("#settings-edit", Input)
        await chat.until(lambda: field.has_focus)
        field.value = "nord"
        await chat.press("enter")
        await chat.until(lambda: chat.app.theme == "nord")


async def test_a_theme_that_does_not_exist_is_refused(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        screen = await opened(chat, "screen.theme")
        await chat.press("enter")
        field = screen.query_one("#settings-edit", Input)
        await chat.until(lambda: field.has_focus)
        field.value = "blorp"
        await chat.press("enter")
        await chat.until(lambda: "There is no theme “blorp”. /theme lists them." in seen(chat))
        assert not user_config(session.config.environment).exists()


async def test_vim_keys_hold_at_once(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        prompt = chat.screen.prompt
        for value in ("true", "false"):
            await opened(chat, "screen.vim_keys")
            await chat.press("enter")
            await chat.until(lambda value=value: f"screen.vim_keys is {value}" in seen(chat))
            while chat.app.screen is not chat.screen:
                await chat.press("escape")
            prompt.set_text("ax")
            await chat.press("escape", "x", "x" if value == "false" else "i", "b")
            assert prompt.text == {"true": "ba", "false": "axxxb"}[value]


async def test_words_that_no_setting_has_are_said_to_be_so(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        screen = await opened(chat)
        await chat.type("zzz")
        await chat.until(lambda: "No setting matches" in seen(chat))
        await chat.press("down", "enter")
        assert screen.chosen is None and chat.app.screen is screen
        await chat.press(*["backspace"] * 3)
        await chat.until(lambda: screen.chosen is not None and "No setting" not in seen(chat))


async def test_esc_leaves_the_field_then_the_screen(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        screen = await opened(chat, "models.window")
        await chat.press("enter")
        field = screen.query_one("#settings-edit", Input)
        await chat.until(lambda: field.has_focus)
        await chat.press("escape")
        assert not field.display
        await chat.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)


@pytest.mark.parametrize("columns", [40, 50, 60, 80, 120])
async def test_the_values_are_shown_at_every_width(open_chat: Open, session: Any, columns: int) -> None:
    async with open_chat(session=session, size=(columns, 24)) as chat:
        screen = await opened(chat, "models.limits")
        await chat.until(lambda: any("models.limits.body_mb" in line for line in chat.seen))
        row = screen.chosen
        assert row is not None
        at = next(number for number, line in enumerate(chat.seen) if row.setting.name in line)
        shown = " ".join(line.strip() for line in chat.seen[at : at + 2]).partition(row.setting.name)[2]
        assert shown.split()[0].startswith(row.written or "(empty)"), chat.seen


async def test_a_setting_that_is_alone_in_the_list_shows_its_whole_description(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session, size=(46, 24)) as chat:
        screen = await opened(chat, "retention.rules")
        assert screen.chosen is not None
        whole = f"{screen.chosen.setting.sentence} {screen.chosen.setting.type_name}"
        await chat.until(lambda: all(word in seen(chat) for word in whole.split()))
        assert "Enter sets it for all workspaces" in " ".join(seen(chat).split())
