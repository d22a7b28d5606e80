"""The title of the conversation above the transcript, and a command's answer from its first line. Real sessions."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.session import Session
from foundation.paths import Workspace
from tests.agent.sessions import open_session


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path)
    yield opened
    await opened.close()


@pytest.mark.parametrize("size", [(80, 24), (200, 50), (30, 12)])
async def test_the_title_is_that_of_the_open_conversation(
    open_chat: Any, session: Session, size: tuple[int, int]
) -> None:
    async with open_chat(session=session, size=size) as chat:
        assert chat.seen[0].startswith("  New conversation")
        await chat.say("锅炉 in May")
        await chat.quiet()
        assert chat.seen[0].startswith("  锅炉 in May")
        await chat.say("/rename The boiler \x1b[2J🏺 and a title that is longer than the width of the smallest screen")
        await chat.quiet()
        assert chat.seen[0].startswith("  The boiler ")
        assert "\x1b" not in chat.seen[0]
        assert chat.seen[1].strip() != "smallest screen", "the title has one line"
        await chat.say("/new")
        await chat.quiet()
        assert chat.seen[0].startswith("  New conversation")


async def test_the_folder_is_shown_where_there_is_room(open_chat: Any, session: Session) -> None:
    async with open_chat(session=session, size=(200, 50)) as chat:
        assert chat.seen[0].endswith("workspace")
    async with open_chat(session=session, size=(30, 12)) as chat:
        assert "workspace" not in chat.seen[0]


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_the_answer_of_a_command_is_shown_from_its_first_line(
    open_chat: Any, session: Session, size: tuple[int, int]
) -> None:
    async with open_chat(session=session, size=size) as chat:
        for _ in range(3):
            await chat.say("and more of it")
            await chat.quiet()
        await chat.press("ctrl+home")
        await chat.say("/help")
        await chat.quiet()
        width = chat.screen.transcript.size.width  # the panel is beside it
        assert any(line[:width].strip() == "/help" for line in chat.seen)
        assert any("what it does" in line for line in chat.seen)
