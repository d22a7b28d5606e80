"""A rewritten message, by the tree, /branch or /rewind: nothing is stored before it is sent. Real sessions."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from textual import events

from agent.services.drafts import Draft, Drafts
from agent.session import Session
from foundation.paths import Workspace
from tests.agent.sessions import open_session, turn
from tui.chat.view import REWRITES
from tui.picker.screen import PickerScreen

ALL = ["One", "Two", "Three"]


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path)
    for text in ALL:
        await turn(opened, text)
    yield opened
    await opened.close()


async def rewrite(chat: Any, session: Session, way: str) -> None:
    await chat.quiet()
    if way == "/tree":
        await chat.say(way)
        await chat.until(lambda: isinstance(chat.app.screen, PickerScreen) and chat.app.screen.turn)
        await chat.press("ctrl+b")
    else:
        (last, _), *_ = await session.branch.own_messages(1)
        await chat.say(way.format(last.id))
    await chat.until(lambda: chat.screen.prompt.text == "Three")
    await chat.quiet()
    assert "Esc cancels it" in chat.text
    assert stored(session) == ALL


def stored(session: Session) -> list[str]:
    """The person's messages on the branch that the store goes on with, oldest first."""
    assert session.conversation is not None
    leaf = session.memory.conversations.at(session.conversation.seq).leaf
    path = session.memory.conversations.path(leaf or 0)
    return [entry.text or "" for entry in path if entry.role == "user"][::-1]


@pytest.mark.parametrize("way", ["/tree", "/branch {}", "/rewind {} conversation"])
@pytest.mark.parametrize("keys", [["escape"], ["ctrl+u", "escape"]])
async def test_it_is_taken_back(open_chat: Any, session: Session, way: str, keys: list[str]) -> None:
    async with open_chat(session=session) as chat:
        await rewrite(chat, session, way)
        await chat.press(*keys)
        await chat.until(lambda: "Editing cancelled" in chat.text)
        await chat.quiet()
        assert chat.screen.prompt.text == ""
        assert sum(line.endswith("Three") for line in chat.lines) >= 1
        await chat.say("Four")
        await chat.quiet()
        assert stored(session) == [*ALL, "Four"]


@pytest.mark.parametrize("emptied_by", ["ctrl+u", "ctrl+c"])
async def test_an_emptied_prompt_goes_on_rewriting(open_chat: Any, session: Session, emptied_by: str) -> None:
    async with open_chat(session=session) as chat:
        await rewrite(chat, session, "/branch {}")
        await chat.press(emptied_by)
        await chat.until(lambda: chat.screen.prompt.text == "")
        await chat.quiet()
        assert "Editing cancelled" not in chat.text
        assert any(REWRITES.format("Three") in line for line in chat.seen)
        await chat.say("Four")
        await chat.until(lambda: stored(session) == ["One", "Two", "Four"])
        await chat.quiet()
        assert not any("· Esc cancels" in line for line in chat.seen)


async def test_it_begins_a_branch_when_it_is_sent(open_chat: Any, session: Session) -> None:
    async with open_chat(session=session) as chat:
        await rewrite(chat, session, "/tree")
        await chat.say(" again")
        await chat.quiet()
        assert stored(session) == ["One", "Two", "Three again"]
        await chat.press("escape")
        await chat.quiet()
        assert "Editing cancelled" not in chat.text


async def test_a_draft_that_was_left_rewrites_the_same_message_later(
    open_chat: Any, session: Session, workspace: Workspace, tmp_path: Path
) -> None:
    assert session.conversation is not None
    id_ = session.conversation.id
    async with open_chat(session=session) as chat:
        await rewrite(chat, session, "/branch {}")
        await chat.insert(" again")
        await chat.until(lambda: Drafts(workspace.drafts).load(id_).text == "Three again")
    again = open_session(workspace, tmp_path)
    async with open_chat(session=again, latest=True) as chat:
        await chat.until(lambda: again.branch.rewritten is not None)
        await chat.quiet()
        assert chat.screen.prompt.text == "Three again"
        assert "Restored the draft that rewrites “Three”." in " ".join(chat.text.split())
        assert stored(again) == ALL
        await chat.press("enter")
        await chat.until(lambda: stored(again) == ["One", "Two", "Three again"])
        await chat.quiet()
        assert Drafts(workspace.drafts).load(id_) == Draft()
    await again.close()


async def test_a_draft_whose_message_is_gone_is_an_ordinary_message(
    open_chat: Any, session: Session, workspace: Workspace
) -> None:
    assert session.conversation is not None
    Drafts(workspace.drafts).save(session.conversation.id, "Three again", rewrites="e_nowhere")
    async with open_chat(session=session, latest=True) as chat:
        await chat.until(lambda: chat.screen.prompt.text == "Three again")
        await chat.quiet()
        assert "The draft is a new message now" in " ".join(chat.text.split())
        assert session.branch.rewritten is None
        await chat.press("enter")
        await chat.until(lambda: stored(session) == [*ALL, "Three again"])
        await chat.quiet()


async def test_a_draft_that_was_taken_back_is_an_ordinary_message(
    open_chat: Any, session: Session, workspace: Workspace
) -> None:
    assert session.conversation is not None
    id_ = session.conversation.id
    async with open_chat(session=session) as chat:
        await rewrite(chat, session, "/branch {}")
        await chat.press("escape")
        await chat.until(lambda: "Editing cancelled" in chat.text)
        await chat.insert("Four")
        await chat.until(lambda: Drafts(workspace.drafts).load(id_).text == "Four")
        assert Drafts(workspace.drafts).load(id_).rewrites == ""


def burst(chat: Any, text: str) -> None:
    """Keys as one write of a terminal brings them; the last one is Enter."""
    for character in text:
        chat.app.post_message(events.Key({" ": "space"}.get(character, character), character))
    chat.app.post_message(events.Key("enter", "\r"))


async def test_a_burst_of_text_and_enter_sends_the_rewritten_message(open_chat: Any, session: Session) -> None:
    async with open_chat(session=session) as chat:
        await rewrite(chat, session, "/tree")
        burst(chat, " again")
        await chat.until(lambda: stored(session) == ["One", "Two", "Three again"])
        await chat.quiet()
        assert "Editing cancelled" not in chat.text


async def test_keys_after_the_choice_are_typed_after_the_message(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    reload, begun = session.branch.reload, asyncio.Event()

    async def slow(conversation: Any) -> Any:
        begun.set()
        await asyncio.sleep(0.5)
        return await reload(conversation)

    monkeypatch.setattr(session.branch, "reload", slow)
    async with open_chat(session=session) as chat:
        await chat.quiet()
        await chat.say("/branch")
        await chat.until(lambda: isinstance(chat.app.screen, PickerScreen) and chat.app.screen.turn)
        begun.clear()
        await chat.press("enter")
        await chat.until(lambda: begun.is_set() and chat.app.screen is chat.screen)
        burst(chat, " again")
        await chat.until(lambda: stored(session) == ["One", "Two", "Three again"])
        await chat.quiet()
        assert chat.screen.prompt.text == ""
        assert "Editing cancelled" not in chat.text
