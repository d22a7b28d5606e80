"""A request from before a forgetting holds its words, and the answer to it may say them: they are not stored."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.events import (
    AnswerStored,
    ContextReady,
    Notice,
    SessionEvent,
    SpendingLimitReached,
    TextDelta,
    ToolFinished,
    UserStored,
)
from agent.permissions.action import PermissionAnswer
from agent.services.forget import forget, plan
from agent.session import Session
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.forgotten.journal import ForgetJournal
from memory.memory import Memory
from models.settings import ModelSettings
from tests.agent.sessions import asked, open_session, several_calls
from tests.loopback import Loopback, Reply, chat, data, delta, stream
from tests.memory.forget.bytes_of import places_of

pytestmark = pytest.mark.timeout(60)

CODE = "zqbluefin-7731"
SAYS_IT = f"Your code is {CODE}, as noted."


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    memory = Memory.open(workspace, SystemClock())
    memory.hot.remember(clear(f"the code is {CODE}"))
    memory.close()
    opened = open_session(workspace, tmp_path, server, models=ModelSettings(tools=True, window=8_000, retries=0))
    yield opened
    await opened.close()


def forget_elsewhere(workspace: Workspace) -> None:
    """A whole forgetting, by another process."""
    memory = Memory.open(workspace, SystemClock())
    try:
        job = forget(memory, plan(memory, named=CODE))
        assert job.receipt is not None
        assert not job.receipt.found
    finally:
        memory.close()


async def send(session: Session, at: type[SessionEvent]) -> list[SessionEvent]:
    """The turn's events; something is forgotten at the first event of that type."""
    seen: list[SessionEvent] = []
    async for event in session.send("What was the code again?"):
        if isinstance(event, at) and not any(isinstance(one, at) for one in seen):
            await asyncio.sleep(0.5)  # the search for what the message recalls has ended
            await asyncio.to_thread(forget_elsewhere, session.workspace)
        seen.append(event)
    return seen


async def stored(session: Session) -> list[str]:
    """The texts of the conversation, with what stands beside them."""
    await asyncio.to_thread(session.memory.mirrors.update, 1)
    return [f"{entry.text} {entry.meta}" for entry in session.memory.conversations.all_entries(1)]


@pytest.mark.parametrize(
    "answer",
    [
        chat(SAYS_IT),
        chat("Your code is zqblue", "fin-77", "31, as noted."),
        stream(
            data(delta(reasoning_content=f"They ask for {CODE}.")), data(delta(content="It is noted.")), data("[DONE]")
        ),
    ],
)
async def test_an_answer_to_a_request_from_before(
    session: Session, workspace: Workspace, server: Loopback, answer: Reply
) -> None:
    server.plays(answer)
    seen = await send(session, ContextReady)
    assert CODE in str(server.posts[-1].json)
    texts = await stored(session)
    assert not any(CODE in text for text in texts)
    assert "[forgotten]" in texts[-1]
    assert any("[forgotten]" in event.text for event in seen if isinstance(event, Notice))
    await session.close()
    assert places_of(workspace.root, [CODE]) == {}


async def test_an_answer_that_breaks_off(session: Session, workspace: Workspace, server: Loopback) -> None:
    server.plays(stream(data(delta(content=SAYS_IT)), data(delta(content="."))))
    await send(session, ContextReady)
    assert "Your code is [forgotten], as noted." in (await stored(session))[-1]
    await session.close()
    assert places_of(workspace.root, [CODE]) == {}


async def test_the_calls_of_an_answer(session: Session, workspace: Workspace, server: Loopback) -> None:
    server.plays(several_calls(("read_file", {"path": f"{CODE}.txt"}), before=SAYS_IT), chat("There is none."))
    await send(session, ContextReady)
    assert CODE not in "".join(await stored(session))
    await session.close()
    assert places_of(workspace.root, [CODE]) == {}


async def test_a_later_request_of_the_turn(session: Session, workspace: Workspace, server: Loopback) -> None:
    server.plays(several_calls(("read_file", {"path": "none.txt"})), chat(SAYS_IT))
    await send(session, ToolFinished)
    assert "Your code is [forgotten], as noted." in (await stored(session))[-1]
    assert CODE not in str(server.posts[-1].json)


async def test_what_is_said_after_it_is_stored(session: Session, server: Loopback) -> None:
    server.plays(chat("Yes."), chat(SAYS_IT))
    await send(session, TextDelta)
    async for _ in session.send(f"It is {CODE}, remember?"):
        pass
    assert [CODE in text for text in await stored(session)] == [False, False, True, True]


async def test_what_was_recalled_before_is_neither_sent_nor_stored(
    session: Session, workspace: Workspace, server: Loopback
) -> None:
    server.plays(chat("Noted."), chat("I do not know."))
    async for _ in session.send(f"Keep in mind that the code is {CODE}."):
        pass
    session.new()
    seen = await send(session, UserStored)
    assert CODE not in str(server.posts[-1].json)
    assert not any(CODE in str(entry.sent) for entry in session.memory.conversations.all_entries(2))
    assert any(isinstance(event, AnswerStored) for event in seen)
    await session.close()
    assert places_of(workspace.root, [CODE]) == {}


async def test_a_request_that_waits_for_a_person_is_made_anew(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    memory = Memory.open(workspace, SystemClock())
    memory.hot.remember(clear(f"the code is {CODE}"))
    memory.close()
    models = ModelSettings(window=64_000, retries=0, daily_tokens=50_000)
    session = open_session(workspace, tmp_path, server, models=models)
    server.plays(chat("One.", prompt_tokens=60_000), chat("Two."))
    async for _ in session.send("One?"):
        pass
    session.new()
    async for event in session.send("Two?"):
        if isinstance(event, SpendingLimitReached):
            await asyncio.to_thread(forget_elsewhere, workspace)
            event.answer.set_result(PermissionAnswer(True))
    assert [CODE in str(post.json) for post in server.posts if "messages" in str(post.json)] == [True, False]
    await session.close()
    assert places_of(workspace.root, [CODE]) == {}


async def test_a_request_waits_while_a_forgetting_runs(session: Session, server: Loopback) -> None:
    server.plays(chat("Yes."))
    lock = ForgetJournal(session.workspace.forgotten).lock()
    lock.acquire()
    sending = asyncio.ensure_future(send(session, TextDelta))
    await asyncio.sleep(1)
    assert asked(server) == []
    assert (await stored(session))[0].startswith("What was the code again?")
    lock.release()
    assert any(isinstance(event, AnswerStored) for event in await sending)


async def test_a_message_is_stored_before_the_server_is_asked(session: Session, server: Loopback) -> None:
    server.plays(chat("Yes."))
    async for event in session.send("Are you there?"):
        if isinstance(event, UserStored):
            assert server.requests == []
