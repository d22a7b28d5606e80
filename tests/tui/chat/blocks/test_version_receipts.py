"""A change of the notes by a model's tool has a receipt in the conversation, which opens and is taken back with u."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.config.settings import ToolSettings
from agent.permissions.mode import PermissionMode
from agent.session import Session
from foundation.paths import Workspace
from tests.agent.sessions import calls, open_session
from tests.tui.chat.blocks.scripts import Script, block_lines, focus, resumed, thinking
from tui.chat.version_block import stored_version_blocks
from tui.dialogs.permission import PermissionScreen


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path, server: Script) -> AsyncIterator[Session]:
    """The workspace is the project, too: file tools may change AGENTS.md."""
    workspace.memory_md.write_text("- by hand 锅炉 🙂\n", encoding="utf-8")
    workspace.agents_md.write_text("Be brief.\n", encoding="utf-8")
    opened = open_session(
        workspace, tmp_path, server.server, project=[workspace.root], tools=ToolSettings(mode=PermissionMode.AUTO)
    )
    yield opened
    await opened.close()


async def permitted(chat: Any, answer: str) -> None:
    """Permits what the model wants until the answer is there."""
    async with asyncio.timeout(30):
        while answer not in chat.text or not chat.screen.is_idle:
            if isinstance(chat.app.screen, PermissionScreen):
                await asyncio.sleep(0.6)  # its keys answer nothing before
                await chat.press("1")
            await chat.pilot.pause(0.05)


async def remembered(chat: Any, server: Script, note: str) -> None:
    server.plays(calls("remember", note=note), thinking("Well.", answer="Noted."))
    await chat.say("note it")
    await permitted(chat, "Noted.")


async def edited(chat: Any, server: Script) -> None:
    """The model reads AGENTS.md and changes it."""
    change = calls("edit_file", path="AGENTS.md", old="Be brief.", new="Be long.")
    server.plays(calls("read_file", path="AGENTS.md"), change, thinking("Well.", answer="Changed."))
    await chat.say("change it")
    await permitted(chat, "Changed.")


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_a_note_of_the_model_is_taken_back_with_u(
    open_chat: Any, session: Session, server: Script, size: tuple[int, int]
) -> None:
    async with open_chat(session=session, size=size) as chat:
        await remembered(chat, server, "The valve cost 12.50 阀门.")
        assert any("MEMORY.md was changed by the model: version" in line for line in block_lines(chat))
        await focus(chat, "was changed by the model")
        assert any("u undo the change" in line for line in chat.seen)
        await chat.press("enter")
        await chat.until(lambda: "+- The valve cost 12.50 阀门." in chat.text)
        await chat.press("u")
        await chat.until(lambda: any("this is version" in line for line in block_lines(chat)))
        assert session.workspace.memory_md.read_text(encoding="utf-8") == "- by hand 锅炉 🙂\n"
        assert not any("u undo the change" in line for line in chat.seen), "there is nothing left to take back"


async def test_an_edit_of_agents_md_by_a_file_tool_has_a_receipt_as_well(
    open_chat: Any, session: Session, server: Script
) -> None:
    async with open_chat(session=session) as chat:
        await edited(chat, server)
        await focus(chat, "AGENTS.md was changed by the model")
        await chat.press("u")
        await chat.until(lambda: any("was undone" in line for line in block_lines(chat)))
        assert session.workspace.agents_md.read_text(encoding="utf-8") == "Be brief.\n"


async def test_of_two_changes_the_focused_one_is_taken_back(open_chat: Any, session: Session, server: Script) -> None:
    async with open_chat(session=session) as chat:
        await edited(chat, server)
        await remembered(chat, server, "The valve cost 12.50.")
        await focus(chat, "AGENTS.md was changed")
        await chat.press("u")
        await chat.until(lambda: any("AGENTS.md: version" in line for line in block_lines(chat)))
        assert "12.50" in session.workspace.memory_md.read_text(encoding="utf-8")


async def test_a_resumed_conversation_has_the_receipts_again_and_their_key(
    open_chat: Any, session: Session, server: Script
) -> None:
    async with open_chat(session=session, size=(120, 36)) as chat:
        await remembered(chat, server, "The valve cost 12.50 阀门.")
        await edited(chat, server)
        live = [line for line in block_lines(chat) if "was changed by the model" in line]
        assert len(live) == 2
        await resumed(chat)
        assert [line for line in block_lines(chat) if "was changed by the model" in line] == live
        await focus(chat, "MEMORY.md was changed by the model")
        await chat.press("u")
        await chat.until(lambda: any("this is version" in line for line in block_lines(chat)))
        assert "12.50" not in session.workspace.memory_md.read_text(encoding="utf-8")
        await resumed(chat)
        shown = [line for line in block_lines(chat) if "was changed by the model" in line]
        assert shown[1] == live[1]
        assert "then undone" in shown[0]
        assert not shown[0].endswith("then u")


def test_numbers_that_are_none_give_no_receipt(session: Session) -> None:
    for strange in (None, 7, "12", ["1", [2], {}, None, 10**30, -1]):
        assert stored_version_blocks(strange, session.memory) == []


async def test_what_was_edited_since_in_the_same_lines_is_told_and_stays(
    open_chat: Any, session: Session, server: Script
) -> None:
    async with open_chat(session=session, notifications=True, size=(120, 36)) as chat:
        await remembered(chat, server, "The valve cost 12.50.")
        file = session.workspace.memory_md
        file.write_text(edited := file.read_text(encoding="utf-8").replace("12.50", "13.00"), encoding="utf-8")
        await focus(chat, "was changed by the model")
        await chat.press("u")
        await chat.until(lambda: "same lines of" in " ".join(" ".join(chat.seen).split()))
        assert file.read_text(encoding="utf-8") == edited


async def test_a_change_by_the_person_has_no_such_receipt(open_chat: Any, session: Session, server: Script) -> None:
    async with open_chat(session=session) as chat:
        await chat.say("#The boiler is serviced in May.")
        await chat.quiet()
        assert "was changed by the model" not in chat.text
