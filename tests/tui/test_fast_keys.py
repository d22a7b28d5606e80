"""Keys that come faster than they are handled: their order holds, and a screen that is left at once ends nothing."""

import asyncio

import pytest
from textual import events
from textual.app import App, ComposeResult

from tests.tui.conftest import Open
from tui.widgets.query_input import QueryInput


class OneField(App[None]):
    def compose(self) -> ComposeResult:
        yield QueryInput("zzzz")


async def test_a_query_field_handles_a_burst_of_keys_in_their_order() -> None:
    app = OneField()
    async with app.run_test() as pilot:
        field = app.query_one(QueryInput)
        field.focus()
        await pilot.press("end")
        for key in ("backspace", "backspace", "w", "i", "n"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await pilot.pause(0.2)
        assert field.value == "zzwin"
        for key in ("ctrl+u", "v", "i", "m"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await pilot.pause(0.2)
        assert field.value == "vim"


@pytest.mark.parametrize("key", ["f3", "ctrl+p", "f1", "ctrl+f"])
async def test_keys_that_follow_the_key_of_a_screen_at_once_go_to_that_screen(open_chat: Open, key: str) -> None:
    async with open_chat() as chat:
        await chat.until(lambda: chat.screen.is_idle)
        for each in (key, "w", "i", "n", "d"):
            chat.app.post_message(events.Key(each, each if len(each) == 1 else None))
        await chat.until(lambda: isinstance(chat.app.focused, QueryInput) and chat.app.focused.value == "wind")
        assert chat.screen.prompt.text == ""


async def test_keys_go_where_the_focus_is_once_a_screen_takes_too_long(
    open_chat: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.held_keys.HELD_AT_MOST_S", 0.2)
    async with open_chat() as chat:
        await chat.until(lambda: chat.screen.is_idle)
        chat.app.held_keys.until(lambda: False)
        for each in "wind":
            chat.app.post_message(events.Key(each, each))
        await chat.pilot.pause(0.05)
        assert chat.screen.prompt.text == ""
        await chat.until(lambda: chat.screen.prompt.text == "wind")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("keys", [("f3", "escape"), ("ctrl+p", "escape", "f1", "escape"), ("ctrl+f", "escape")])
async def test_screens_that_are_opened_and_left_at_once_end_nothing(open_chat: Open, keys: tuple[str, ...]) -> None:
    async with open_chat() as chat:
        await chat.until(lambda: chat.screen.is_idle)
        for number in range(12):
            for key in keys:
                chat.app.post_message(events.Key(key, None))
                if number % 2:
                    await asyncio.sleep(0)
        await chat.pilot.pause(1.0)
        assert chat.app.is_running and chat.app.error is None
