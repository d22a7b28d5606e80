"""Two windows on one conversation: what the one does to it, the other tells in a line before it goes on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agent.commands import registry
from agent.commands.results import Outcome, Proposal, TextResult
from agent.events import Notice, TextDelta, TurnFailed, UserStored
from agent.session import Session
from context.settings import ContextSettings
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import open_session, turn
from tests.loopback import Loopback, Stall, chat, chat_bytes, stream, varied

MODELS = ModelSettings(window=20_000, tools=False, retries=0)
Windows = tuple[Session, Session]


@pytest.fixture
async def windows(workspace: Workspace, tmp_path: Path, server: Loopback) -> AsyncIterator[Windows]:
    """Two sessions on a conversation of three turns."""
    settings = ContextSettings(recall=False)
    server.answers_all(lambda _: chat(varied("The boiler is in the cellar. ", 20)))
    first = open_session(workspace, tmp_path, server, models=MODELS, context=settings)
    for number in range(3):
        await turn(first, f"Question {number}")
    assert first.conversation is not None
    second = open_session(workspace, tmp_path, server, models=MODELS, context=settings)
    await second.resume(first.conversation.id)
    yield first, second
    await first.close()
    await second.close()


def _told(seen: list[Any]) -> list[str]:
    return [event.text for event in seen if isinstance(event, Notice) and "window" in event.text]


async def test_turns_of_another_window_are_told_once(windows: Windows) -> None:
    first, second = windows
    await turn(second, "And the meter?")
    await turn(second, "And the key?")
    seen = await turn(first, "Where is the boiler?")
    (told,) = _told(seen)
    assert told == (
        "This conversation continued in another window: 4 messages. The new messages are now in the "
        "context; /tree shows them."
    )
    notice = next(event for event in seen if isinstance(event, Notice) and event.entries)
    shown = [first.memory.passage(first.memory.conversations.entry(seq)).text for seq in notice.entries]
    assert [text for text in shown if "boiler" not in text] == ["And the meter?", "And the key?"], "oldest first"
    assert not _told(await turn(first, "And now?"))
    assert len(_told(await turn(second, "Back here"))) == 1


async def test_a_conversation_that_only_this_window_changes_tells_nothing(windows: Windows) -> None:
    first, _ = windows
    assert not _told(await turn(first, "One more"))
    (entry, _), *_ = await first.branch.own_messages(1)
    await registry.run(first, f"/branch {entry.id}")
    assert not _told(await turn(first, "One more, rewritten"))
    assert not _told(await turn(first, "And on"))
    outcome = await registry.run(first, "/compact")
    assert isinstance(outcome, Proposal) and "changed" not in dict(outcome.rows)
    await first.compaction.run()
    assert not _told(await turn(first, "After the compaction"))
    await first.compaction.undo()
    assert not _told(await turn(first, "After the undo"))


async def test_an_answer_that_was_cut_off_here_is_no_other_windows(windows: Windows, server: Loopback) -> None:
    first, _ = windows
    server.answers_all(lambda _: stream(chat_bytes("The boiler"), Stall()))
    async with aclosing(first.send("Where is it?")) as events:  # nobody reads on, as where a window closes
        async for event in events:
            if isinstance(event, TextDelta):
                break
    server.answers_all(lambda _: chat("In the cellar."))
    assert not _told(await turn(first, "Go on"))


async def test_a_compaction_and_an_undo_of_another_window_are_told(windows: Windows) -> None:
    first, second = windows
    await second.compaction.run()
    (told,) = _told(await turn(first, "Where is the boiler?"))
    assert told == "This conversation was changed in another window: a compaction. The change applies here, too."
    await second.compaction.undo()
    (told,) = _told(await turn(first, "And the meter?"))
    assert "another window: an undone compaction." in told


async def test_a_branch_of_another_window_is_told(windows: Windows) -> None:
    first, second = windows
    (entry, _), *_ = await second.branch.own_messages(1)
    await second.branch.branch_from(entry.id)
    await turn(second, "Asked differently")
    (told,) = _told(await turn(first, "Where is the boiler?"))
    assert "2 messages shown here are no longer in the context, and 2 messages of the other branch are" in told
    assert "/tree" in told


async def test_a_message_that_is_rewritten_begins_its_branch_all_the_same(windows: Windows) -> None:
    first, second = windows
    (entry, _), *_ = await first.branch.own_messages(1)
    await first.branch.branch_from(entry.id)
    await turn(second, "And the meter?")
    (told,) = _told(await turn(first, "Asked differently"))
    assert "Your message starts a new branch anyway" in told
    assert first.branch.rewritten is None


async def test_compact_tells_before_it_asks(windows: Windows) -> None:
    first, second = windows
    await turn(second, "And the meter?")
    outcome = await registry.run(first, "/compact")
    assert isinstance(outcome, Proposal)
    assert "2 messages" in dict(outcome.rows)["changed"]
    assert not _told(await turn(first, "Where is the boiler?"))


async def test_compact_without_a_question_and_its_undo_tell_in_the_result(windows: Windows) -> None:
    first, second = windows
    await turn(second, "And the meter?")
    outcome: Outcome = await registry.run(first, "/compact --yes")
    assert isinstance(outcome, Proposal) and outcome.confirmed
    outcome = await outcome.run(lambda _: None)
    assert isinstance(outcome, TextResult) and "continued in another window: 2 messages" in outcome.markdown
    await turn(second, "And the key?")
    outcome = await registry.run(first, "/compact --undo")
    assert isinstance(outcome, TextResult) and "continued in another window: 2 messages" in outcome.markdown


async def test_a_conversation_that_another_window_deletes_in_a_turn_ends_it_with_an_error(
    windows: Windows, server: Loopback
) -> None:
    first, second = windows
    assert first.conversation is not None
    conversation = second.memory.conversations.at(first.conversation.seq)
    seen: list[Any] = []
    async for event in first.send("Where is it?"):
        seen.append(event)
        if isinstance(event, UserStored):
            await asyncio.to_thread(second.memory.knowledge.delete_conversation, conversation.seq)
    assert isinstance(seen[-1], TurnFailed)
