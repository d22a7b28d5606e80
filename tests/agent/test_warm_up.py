"""The warm-up of a local server: the first message then reads its own tokens alone."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent import warm_up
from agent.events import Notice, PermissionRequested, UsageKnown
from agent.permissions.action import PermissionAnswer
from agent.session import Session
from agent.warm_up import WARM_UP
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.headless.tool_answers import ChatServer
from tests.agent.sessions import calls, open_session, turn
from tests.loopback import Loopback, Pause, chat, chat_bytes, data, stream
from tests.servers import Scripted, scripted_llama  # noqa: F401

WARM = ModelSettings(warm_up=True, retries=0)


async def warmed(session: Session) -> None:
    session.warm_up.start()
    assert session.warm_up.task is not None
    await session.warm_up.task


def chats(server: Loopback) -> list[dict[str, Any]]:
    return [post.json for post in server.posts if post.path.endswith("/chat/completions")]


def ledger(session: Session) -> list[tuple[str, int]]:
    rows = session.memory.spending()
    return [(row.purpose, row.prompt_tokens) for row in rows if row.purpose == WARM_UP]


@pytest.mark.timeout(60)
async def test_the_first_message_reads_only_its_own_tokens(
    workspace: Workspace,
    tmp_path: Path,
    scripted_llama: Scripted,  # noqa: F811
) -> None:
    server = scripted_llama("Good morning.", context=32_768)
    session = open_session(workspace, tmp_path, models=WARM, model=server.spec)
    await warmed(session)
    seen = [event async for event in session.send("hello")]
    usage = next(event.usage for event in seen if isinstance(event, UsageKnown))
    counted = ledger(session)
    await session.close()
    timings = usage.extra["timings"]
    assert timings["cache_n"] > 500
    assert timings["prompt_n"] <= 64  # a token a byte: the message and the template's frame
    assert counted
    assert counted[0][1] == pytest.approx(timings["cache_n"], rel=0.02)


async def test_the_request_begins_with_what_was_warmed(workspace: Workspace, tmp_path: Path) -> None:
    with ChatServer() as server:
        server.plays(chat("x"), chat("Good morning."))
        session = open_session(workspace, tmp_path, server, models=WARM)
        await warmed(session)
        session.warm_up.start()  # a second time does nothing
        await turn(session, "hello")
        await session.close()
        warm, sent = chats(server)
    assert warm["max_tokens"] == 1
    assert warm.get("tools") == sent.get("tools")
    *head, last = warm["messages"]
    assert head == sent["messages"][: len(head)]
    assert sent["messages"][len(head)]["content"].startswith(last["content"].rstrip())


async def test_a_message_ends_the_warm_up_and_what_was_read_is_counted(workspace: Workspace, tmp_path: Path) -> None:
    progress = data({"choices": [{"delta": {}}], "prompt_progress": {"processed": 512, "total": 1_929}})
    with ChatServer() as server:
        server.plays(stream(progress, Pause(30.0), chat_bytes("x")), chat("Good morning."))
        session = open_session(workspace, tmp_path, server, models=WARM)
        session.warm_up.start()
        async with asyncio.timeout(5):
            while not chats(server):
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            await turn(session, "hello")
        counted = ledger(session)
        tokens = session.budget.tokens
        await session.close()
    assert counted == [(WARM_UP, 512)]
    assert tokens > 512


async def test_nothing_is_warmed_unasked_or_within_a_conversation(workspace: Workspace, tmp_path: Path) -> None:
    with ChatServer() as server:
        server.answers_all(lambda _: chat("Good morning."))
        session = open_session(workspace, tmp_path, server)
        session.warm_up.start()
        assert session.warm_up.task is None
        await session.close()
        session = open_session(workspace, tmp_path, server, models=WARM)
        await turn(session, "hello")
        session.warm_up.start()
        assert session.warm_up.task is None
        session.new()
        await warmed(session)
        await session.close()


def test_nothing_is_warmed_elsewhere(workspace: Workspace, tmp_path: Path) -> None:
    for model in ("offline", "openai:m@https://models.example/v1"):
        session = open_session(workspace, tmp_path, models=WARM, model=model)
        session.warm_up.start()
        assert session.warm_up.task is None
        asyncio.run(session.close())


async def test_it_is_offered_once_after_a_slow_first_word(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up, "SLOW_S", 0.1)
    with ChatServer() as server:
        server.answers_all(lambda _: stream(Pause(0.2), chat_bytes("Good morning.")))
        session = open_session(workspace, tmp_path, server)
        offers: list[list[str]] = []
        for _ in range(2):
            seen = await turn(session, "hello")
            offers.append([event.text for event in seen if isinstance(event, Notice) and "warm_up" in event.text])
            session.new()
        await session.close()
    assert [len(notices) for notices in offers] == [1, 0]


async def test_a_quick_answer_offers_nothing(workspace: Workspace, tmp_path: Path) -> None:
    with ChatServer() as server:
        server.plays(chat("Good morning."))
        session = open_session(workspace, tmp_path, server)
        seen = await turn(session, "hello")
        await session.close()
    assert not [event for event in seen if isinstance(event, Notice)]


async def test_the_time_in_which_the_user_decides_is_none_of_the_servers(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up, "SLOW_S", 0.5)
    with ChatServer() as server:
        server.plays(calls("remember", note="Tea is at four."), chat("Noted."))
        session = open_session(workspace, tmp_path, server)
        offers: list[str] = []
        async for event in session.send("Please remember that tea is at four."):
            if isinstance(event, PermissionRequested):
                await asyncio.sleep(0.7)
                event.answer.set_result(PermissionAnswer(True))
            offers += [event.text] if isinstance(event, Notice) and "warm_up" in event.text else []
        await session.close()
    assert offers == []
