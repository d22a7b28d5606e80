"""Typing from focus mode: the letters go to the prompt, all of them and in their order."""

import asyncio

import pytest
from textual import events

from agent.config.settings import ScreenSettings
from tests.tui.conftest import Chat, Open
from tests.tui.fakes import RECALLED, FakeSession, answer
from tui.palette.screen import PaletteScreen
from tui.widgets.side_panel import SidePanel


def burst(chat: Chat, text: str) -> None:
    """Keys of one read: nothing else happens between them."""
    for character in text:
        chat.app.post_message(events.Key("space" if character == " " else character, character))


@pytest.mark.parametrize("text", ["add the middle editor", "zebra, crumb and beer", "edit 茶 here", "um"])
async def test_a_burst_that_begins_in_focus_mode_is_text_as_a_whole(open_chat: Open, text: str) -> None:
    async with open_chat() as chat:
        await chat.say("hello")
        await chat.quiet()
        await chat.press("ctrl+up")
        assert chat.screen.foot.focus_bar.display
        burst(chat, text)
        await chat.until(lambda: chat.screen.prompt.text == text, within=20)
        assert not chat.screen.foot.focus_bar.display


async def test_letters_after_one_that_is_no_key_of_focus_mode_are_text(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.say("hello")
        await chat.quiet()
        await chat.press("ctrl+up")
        for character in "the edit":
            burst(chat, character)
            await asyncio.sleep(0)
        await asyncio.sleep(1)
        assert chat.screen.prompt.text == "the edit"


async def test_a_key_of_focus_mode_alone_still_acts(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.say("hello")
        await chat.quiet()
        await chat.press("ctrl+up", "c")
        await chat.until(lambda: "You said hello" in chat.app.clipboard, within=20)
        assert chat.screen.prompt.text == ""


@pytest.mark.parametrize("text", ["d", "two words", "one\rtwo\x1b"])
async def test_a_paste_in_focus_mode_goes_to_the_prompt(open_chat: Open, text: str) -> None:
    async with open_chat() as chat:
        await chat.say("hello")
        await chat.quiet()
        await chat.press("ctrl+up")
        chat.app.post_message(events.Paste(text))
        await chat.until(lambda: chat.screen.prompt.text == text.replace("\r", "\n").replace("\x1b", "␛"))
        assert chat.app.focused is chat.screen.prompt and not chat.screen.foot.focus_bar.display
        assert "d again" not in "\n".join(chat.seen)


async def test_a_paste_in_the_list_of_keys_goes_to_the_prompt(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.press("?")
        await chat.until(lambda: isinstance(chat.app.screen, PaletteScreen))
        chat.app.post_message(events.Paste("one\rtwo"))
        await chat.until(lambda: chat.screen.prompt.text == "?one\ntwo")
        await chat.until(lambda: chat.app.focused is chat.screen.prompt)


async def test_a_paste_in_the_panel_goes_to_the_prompt(open_chat: Open) -> None:
    session = FakeSession(lambda _: answer("Hansen comes in May.", recalled=RECALLED))
    session.config.screen = ScreenSettings(panel="on")
    async with open_chat(session=session, size=(200, 50)) as chat:
        await chat.say("When?")
        await chat.quiet()
        await chat.press("f6")
        assert isinstance(chat.app.focused, SidePanel)
        chat.app.post_message(events.Paste("d"))
        await chat.until(lambda: chat.screen.prompt.text == "d" and chat.screen.prompt.has_focus)
