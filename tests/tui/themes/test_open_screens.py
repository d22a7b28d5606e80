"""A screen that is open looks like one that was opened after the theme changed."""

import pytest

from memory.memory import Memory
from tests.tui.conftest import Chat, Open
from tests.tui.pictures.svg import panel
from tests.tui.screens import EVERY_SCREEN, memory, opened
from tui.dialogs.choices import ChoicesScreen
from tui.themes.own import DARK, LIGHT

__all__ = ["memory"]


async def look(chat: Chat) -> str:
    await chat.pilot.pause(0.3)
    return panel(chat.app, "")


async def opened_in(theme: str, name: str, chat: Chat, memory: Memory) -> str:
    chat.app.theme = theme
    await chat.pilot.pause()
    await opened(chat, EVERY_SCREEN[name], memory)
    return await look(chat)


@pytest.mark.parametrize(
    "is_covered",
    [pytest.param(False, id="on top", marks=pytest.mark.soak), pytest.param(True, id="below another screen")],
)
@pytest.mark.parametrize("name", EVERY_SCREEN)
async def test_an_open_screen_takes_the_theme(
    name: str, *, is_covered: bool, open_chat: Open, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.search.screen.summary", lambda page: f"{len(page.rows)} found")  # no milliseconds
    async with open_chat(size=(120, 36), theme=LIGHT) as chat:
        wanted = await opened_in(LIGHT, name, chat, memory)
        chat.app.pop_screen()
        await opened_in(DARK, name, chat, memory)
        if is_covered:
            await chat.app.push_screen(ChoicesScreen("Other", []))
        chat.app.theme = LIGHT
        await chat.pilot.pause()
        if is_covered:
            chat.app.pop_screen()
        assert await look(chat) == wanted
