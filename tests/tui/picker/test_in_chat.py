"""The picker in the chat: what was chosen and done there is taken up. Real sessions."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.session import Session
from foundation.paths import Workspace
from tests.agent.sessions import open_session, turn
from tui.picker.screen import PickerScreen


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path)
    await turn(opened, "The harbour faces north.")
    opened.new()
    await turn(opened, "The boiler hums.")
    yield opened
    await opened.close()


async def picker(chat: Any, line: str) -> PickerScreen:
    await chat.say(line)
    await chat.until(lambda: isinstance(chat.app.screen, PickerScreen) and chat.app.screen.conversation)
    return chat.app.screen


async def test_enter_resumes_the_chosen_one(open_chat: Any, session: Session) -> None:
    async with open_chat(session=session) as chat:
        await picker(chat, "/resume")
        await chat.press("enter")
        await chat.until(lambda: session.conversation and session.conversation.title.startswith("The harbour"))
        await chat.quiet()
        assert "The harbour faces north." in chat.text


async def test_a_turn_of_another_conversation_is_gone_to(open_chat: Any, session: Session) -> None:
    async with open_chat(session=session) as chat:
        await picker(chat, "/resume harbour")
        await chat.press("right")
        await chat.until(lambda: chat.app.screen.turn is not None)
        await chat.press("enter")
        await chat.until(lambda: session.conversation and session.conversation.title.startswith("The harbour"))
        await chat.quiet()
        assert "The harbour faces north." in chat.text


async def test_deleting_the_open_one_leaves_an_empty_chat(open_chat: Any, session: Session) -> None:
    async with open_chat(session=session) as chat:
        assert session.conversation is not None
        await picker(chat, "/resume boiler")
        await chat.press("ctrl+d")
        await chat.until(lambda: "Delete “The boiler hums.”?" in "\n".join(chat.seen))
        await chat.press("y")
        await chat.until(lambda: session.conversation is None)
        await chat.quiet()
        assert "Deleted “The boiler hums.”." in chat.text
        assert "The boiler hums." not in chat.text.replace("Deleted “The boiler hums.”.", "")
        await chat.say("Again")
        await chat.quiet()
        assert len(session.memory.conversations.recent()) == 2
