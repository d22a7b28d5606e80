"""What is waited for while nothing comes: a real session and a server that is slow at each stage."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.session import Session
from foundation.paths import Workspace
from tests.agent.sessions import open_session
from tests.loopback import Loopback, Pause, Received, data, delta, json_reply, stream

ARGUMENTS = json.dumps({"path": "a" * 3_000 + ".txt"})


@pytest.fixture
def replies() -> list[Any]:
    return []


@pytest.fixture
def server(replies: list[Any]) -> Iterator[Loopback]:
    def reply(received: Received) -> Any:
        is_chat = received.path.endswith("/chat/completions") and replies
        return replies.pop(0) if is_chat else json_reply({}, status=404)

    with Loopback() as opened:
        opened.answers_all(reply)
        yield opened


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path, server: Loopback) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path, server)
    yield opened
    await opened.close()


def piece_of_call(text: str) -> Any:
    function = {"name": "read_file", "arguments": text}
    return data(delta(tool_calls=[{"index": 0, "id": "call_0", "type": "function", "function": function}]))


def ended(reason: str = "stop") -> list[Any]:
    return [data(delta(reason)), data("[DONE]")]


async def test_each_stage_of_a_slow_answer_is_told(open_chat: Any, session: Session, replies: list[Any]) -> None:
    reading = {"choices": [], "prompt_progress": {"total": 5_000, "cache": 0, "processed": 2_300, "time_ms": 9}}
    call = [piece_of_call(ARGUMENTS[:1_500]), Pause(1), piece_of_call(ARGUMENTS[1_500:]), *ended("tool_calls")]
    headers, *_ = stream()
    replies.append(
        [Pause(1), headers, Pause(1), data(reading), Pause(1), data(delta(reasoning_content="hm")), Pause(1), *call]
    )
    replies.append(stream(data(delta(content="Done.")), *ended()))
    async with open_chat(session=session) as chat:
        await chat.say("read it")
        for state in ("waiting for the first words · about ", "reading 2.3k of 5.0k ·", "thinking · 2 characters ·"):
            await chat.until(lambda state=state: state in chat.seen[-1])
        await chat.until(lambda: "writing the arguments of read_file · 1.5k characters" in chat.seen[-1])
        await chat.quiet()
        assert "Done." in chat.text


async def test_a_server_that_falls_silent_is_told(
    open_chat: Any, session: Session, replies: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.chat.activity.STALL_S", 1.0)
    replies.append(stream(data(delta(content="Half ")), Pause(4), data(delta(content="whole.")), *ended()))
    async with open_chat(session=session) as chat:
        await chat.say("go")
        await chat.until(lambda: "answering · stalled" in chat.seen[-1])
        await chat.quiet()
        assert "Half whole." in chat.text
        assert "stalled" not in chat.seen[-1]


async def test_an_empty_answer_says_so_and_retry_asks_again(
    open_chat: Any, session: Session, replies: list[Any]
) -> None:
    replies.append(stream(data(delta(content="", reasoning_content="hm")), *ended()))
    replies.append(stream(data(delta(content="Now.")), *ended()))
    async with open_chat(session=session) as chat:
        await chat.say("go")
        await chat.quiet()
        assert "  The answer is empty. /retry requests another one." in chat.lines
        await chat.screen.controller.return_to_newest()
        assert "  The answer is empty. /retry requests another one." in chat.lines, "also when it is resumed"
        await chat.say("/retry")
        await chat.quiet()
        assert "Now." in chat.text
