"""What a session does after a turn, and before it closes."""

import asyncio
from errno import ENOSPC

import pytest

from agent.background.scheduler import DISK_FULL
from agent.config.config import Config
from agent.events import TurnFailed
from agent.services.conversation_deletion import delete_conversation
from agent.session import Session
from foundation.paths import Workspace
from memory.memory import Memory


async def say(session: Session, text: str) -> None:
    async for _ in session.send(text):
        pass


async def test_the_mirror_of_the_last_turn_is_written_before_the_session_is_closed(workspace: Workspace) -> None:
    session = Session.open(workspace, Config())
    await say(session, "the ferry to Lisbon")
    await session.close()
    (mirror,) = workspace.conversations.glob("*.md")
    assert "the ferry to Lisbon" in mirror.read_text("utf-8")


async def test_a_mirror_that_cannot_be_written_is_reported_until_it_is(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session.open(workspace, Config())
    statuses: list[str] = []
    session.on_working = statuses.append

    def refuse(_: int) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as broken:
        broken.setattr(session.memory.mirrors, "update", refuse)
        await say(session, "the ferry to Lisbon")
        await session.background.idle()
    assert statuses == ["writing the mirror", "mirror not written: no space left"]
    assert session.working == "mirror not written: no space left"
    await say(session, "and back")
    await session.background.idle()
    assert session.working == ""
    await session.close()


async def test_a_mirror_that_could_not_be_written_is_written_by_the_next_run(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session.open(workspace, Config())

    def refuse(_: int) -> None:
        raise OSError(ENOSPC, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(session.memory.mirrors, "update", refuse)
        await say(session, "the ferry to Lisbon")
        await session.background.idle()
        assert session.working == DISK_FULL
    session.background.schedule([session.jobs.mirror])
    await session.background.idle()
    (mirror,) = workspace.conversations.glob("*.md")
    assert "the ferry to Lisbon" in mirror.read_text("utf-8")
    assert session.working == ""
    await session.close()


async def test_a_job_that_fails_is_in_the_log_without_the_words_of_its_error(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session.open(workspace, Config())

    def refuse(_: int) -> None:
        raise OSError("no space left for the ferry")

    monkeypatch.setattr(session.memory.mirrors, "update", refuse)
    await say(session, "the ferry to Lisbon")
    await session.background.idle()
    text = workspace.log.read_text("utf-8")
    assert "WARNING background: mirror failed: OSError" in text and "ferry" not in text
    await session.close()


async def test_a_conversation_that_another_window_deleted_is_told_in_plain_words_and_has_no_mirror_to_write(
    workspace: Workspace,
) -> None:
    session = Session.open(workspace, Config())
    await say(session, "the ferry to Lisbon")
    await session.background.idle()
    other = Memory.open(workspace)
    assert session.conversation
    gone = other.conversations.at(session.conversation.seq)
    await asyncio.to_thread(delete_conversation, other, gone, None)
    other.close()
    events = [event async for event in session.send("and back")]
    await session.background.idle()
    (failed,) = [event for event in events if isinstance(event, TurnFailed)]
    assert failed.message == "It was deleted, in another window or by a command."
    assert failed.hint == "/new starts a new one."
    assert session.working == ""
    await session.close()
