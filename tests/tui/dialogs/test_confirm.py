"""What is asked before a command: what it will do, one key, pages counted, the receipt."""

import asyncio
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from msgspec import structs

from agent.events import CallLimitReached
from foundation.paths import Workspace
from tests.agent.sessions import open_session
from tests.tui.fakes import REPORT, FakeSession, answer
from tui.dialogs.confirm import GoOnScreen, ProposalScreen, YesScreen

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


def seen(chat: Any) -> str:
    return "\n".join(chat.seen)


def session() -> FakeSession:
    return FakeSession(lambda text: answer(text))


async def asked(chat: Any, line: str = "/archive") -> None:
    await chat.insert(line)
    await chat.press("escape", "enter")
    await chat.until(lambda: isinstance(chat.app.screen, ProposalScreen))


async def test_it_says_what_leaves_what_stays_and_what_that_saves(open_chat: Any) -> None:
    async with open_chat(session=session()) as chat:
        await asked(chat, "/archive Spring [plans]")
        text = seen(chat)
        assert "12 older turns, 24 entries: 5,900 tokens of their own text" in text
        assert "3 pages, 612 vision tokens, read back first" in text
        assert "4 newer turns, and a summary of at most 400 tokens" in text
        assert "9,800 → 4,330 tokens, about 5,470 fewer" in text
        assert "Spring [plans]" in text
        assert "Enter confirms · Esc cancels" in text


async def test_escape_leaves_all_as_it_is(open_chat: Any) -> None:
    async with open_chat(session=session()) as chat:
        await asked(chat)
        await chat.press("escape")
        await chat.quiet()
        assert chat.lines[-1] == "  cancelled"
        assert chat.session.archived == ""


async def test_enter_does_it_page_by_page_and_shows_the_receipt(open_chat: Any) -> None:
    async with open_chat(session=session()) as chat:
        await asked(chat, "/archive Spring")
        await chat.press("enter")
        await chat.until(lambda: "archiving · about 3 pages · Esc cancels" in chat.seen[-1])
        for page in (1, 2):
            chat.session.gate.release()
            await chat.until(lambda page=page: f"page {page} of about 3 · Esc cancels" in chat.seen[-1])
        chat.session.gate.release()
        await chat.quiet()
        assert "Archived 12 older turns (24 entries) on 3 pages" in chat.text
        assert "3 pages, read back and verified" in chat.text
        assert "They are archived as “Spring”." in " ".join(chat.text.split())
        assert "archiving" not in chat.seen[-1]


async def test_enter_forgets_nothing_and_y_does(open_chat: Any, workspace: Workspace, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path)
    notes = workspace.root / "MEMORY.md"
    notes.write_text("# Memory\n\n- The code of the door is zqbluefin. 门的密码\n- Tea at four.\n", encoding="utf-8")
    try:
        async with open_chat(session=session, size=(100, 40)) as chat:
            await asked(chat, "/forget zqbluefin")
            await chat.press("enter", "enter")
            assert isinstance(chat.app.screen, YesScreen) and "zqbluefin" in notes.read_text(encoding="utf-8")
            assert "y confirms · Esc cancels" in seen(chat)
            await chat.press("y")
            await chat.until(lambda: "zqbluefin" not in notes.read_text(encoding="utf-8"))
            await chat.quiet()
    finally:
        await session.close()
    assert "Tea at four." in notes.read_text(encoding="utf-8")


async def test_the_status_bar_tells_what_the_next_request_takes_then(open_chat: Any, monkeypatch: Any) -> None:
    async with open_chat(session=session()) as chat:
        await chat.say("hello")
        await chat.quiet()
        assert "context 42.0 % (4.3k/10.2k)" in chat.seen[-1]
        smaller = structs.replace(REPORT, total_tokens=1_024)
        monkeypatch.setattr(chat.session, "context_report", AsyncMock(return_value=smaller))
        for _ in range(3):
            chat.session.gate.release()
        await chat.say("/compact --yes")
        await chat.quiet()
        assert "context 10.0 % (1.0k/10.2k)" in chat.seen[-1]


async def test_escape_ends_it_at_the_next_page(open_chat: Any) -> None:
    async with open_chat(session=session()) as chat:
        await asked(chat)
        await chat.press("enter")
        chat.session.gate.release()
        await chat.until(lambda: "page 1 of about 3" in chat.seen[-1])
        await chat.press("escape")
        assert "stopping at the next page" in chat.seen[-1]
        chat.session.gate.release()
        await chat.quiet()
        assert "Archiving was cancelled. Nothing was changed." in chat.text
        assert chat.session.archived == ""


async def test_who_is_sure_is_not_asked(open_chat: Any) -> None:
    async with open_chat(session=session()) as chat:
        for _ in range(3):
            chat.session.gate.release()
        await chat.say("/archive --yes")
        await chat.quiet()
        assert chat.session.archived


async def test_there_may_be_nothing_to_archive(open_chat: Any) -> None:
    nothing = session()
    nothing.plan = None
    async with open_chat(session=nothing) as chat:
        await chat.say("/archive")
        await chat.quiet()
        assert "There is nothing to archive" in chat.text


async def test_what_is_typed_while_it_asks_to_go_on_is_shown_and_goes_to_the_prompt(open_chat: Any) -> None:
    def limited(text: str) -> list[Any]:
        asked = CallLimitReached(10, 10, asyncio.get_running_loop().create_future())
        return [asked, *answer("Done.")] if text == "go" else answer("Yes.")

    async with open_chat(session=FakeSession(limited)) as chat:
        await chat.say("go")
        await chat.until(lambda: isinstance(chat.app.screen, GoOnScreen))
        await chat.pilot.press("n", "o", "w", "space", "茶")
        await chat.until(lambda: "saved for the prompt: now 茶" in seen(chat))
        await chat.press("ctrl+t")
        await chat.quiet()
        assert chat.screen.prompt.text == "now 茶"
