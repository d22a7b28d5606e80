"""Turns with a server that takes no tools, with malformed calls, and with a server that fails at first."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.events import AnswerStored, Notice, Retrying, Stopped, TextDelta, ToolFinished, TurnFailed
from agent.session import Session
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import calls, open_session, turn
from tests.agent.turn.event_order import assert_in_order
from tests.loopback import Loopback, Reply, chat, json_reply

REFUSED = json_reply({"error": {"message": "m does not support tools"}}, status=400)
BUSY = json_reply({"error": {"message": "slow down"}}, status=429)


def text_call(body: str) -> Reply:
    return chat("I look.\n", f"<tool_call>\n{body}\n</tool_call>")


def completions(server: Loopback) -> list[Any]:
    return [post.json for post in server.posts if post.path.endswith("/completions")]


LISTED = text_call('{"name": "search_memory", "arguments": {"query": "ships"}}')


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path, server, models=ModelSettings(window=8_000, retries=2, retry_wait=0.01))
    yield opened
    await opened.close()


async def test_a_server_that_rejects_tools_gets_them_in_text_in_the_same_turn(
    session: Session, server: Loopback
) -> None:
    server.plays(REFUSED, LISTED, chat("None."), LISTED, chat("Still none."))
    seen = await turn(session, "which ships?")
    assert_in_order(seen)
    (notice,) = [event for event in seen if isinstance(event, Notice)]
    assert "does not support tools" in notice.text and "now calls tools in text" in notice.text
    assert "".join(event.text for event in seen if isinstance(event, TextDelta)) == "I look.\nNone."
    assert [event.call.name for event in seen if isinstance(event, ToolFinished)] == ["search_memory"]
    assert isinstance(seen[-1], AnswerStored)
    again = await turn(session, "and now?")
    assert not [event for event in again if isinstance(event, Notice)]
    assert ["tools" in body for body in completions(server)] == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("malformed", "correction"),
    [
        (text_call('{"name": "search_memory", "arguments": {query}}'), "one JSON object"),
        (text_call('{"name": "launch", "arguments": {}}'), "There is no tool “launch”"),
        (text_call('{"name": "search_memory", "arguments": {}}'), "“query” must be a string, or a filter"),
        (text_call('{"name": "search_memory", "arguments": "{oops"}'), "no JSON object"),
    ],
)
async def test_a_malformed_call_gets_one_correction(
    session: Session, server: Loopback, malformed: Reply, correction: str
) -> None:
    server.plays(REFUSED, malformed, LISTED, chat("Fine."), malformed, malformed)
    seen = await turn(session, "which ships?")
    assert_in_order(seen)
    assert isinstance(seen[-1], AnswerStored)
    assert correction in completions(server)[2]["messages"][-1]["content"]
    seen = await turn(session, "again")  # corrected, and no better
    assert_in_order(seen)
    assert isinstance(seen[-1], TurnFailed) and seen[-1].code == "malformed_calls"
    assert correction in seen[-1].message
    assert seen[-1].title == "The model wrote calls that cannot be read"
    assert "tool_calls" not in seen[-1].hint, "they are text already"
    assert len(completions(server)) == 6


async def test_native_calls_are_corrected_once_too(session: Session, server: Loopback) -> None:
    server.plays(calls("recall"), calls("recall"))
    seen = await turn(session, "go")
    assert isinstance(seen[-1], TurnFailed) and seen[-1].code == "malformed_calls"
    assert seen[-1].title == "The model cannot call its tools" and "models.tool_calls to text" in seen[-1].hint


async def test_different_mistakes_end_as_well(session: Session, server: Loopback) -> None:
    server.plays(calls("recall"), calls("remember"), calls("read_file"), calls("edit_file"))
    seen = await turn(session, "go")
    assert isinstance(seen[-1], TurnFailed) and len(completions(server)) == 3


async def test_tools_that_are_not_offered_are_corrected_once(session: Session, server: Loopback) -> None:
    server.plays(*(calls(name) for name in ("one", "two", "three")))
    seen = await turn(session, "go")
    assert isinstance(seen[-1], TurnFailed) and len(completions(server)) == 2
    assert seen[-1].message.startswith("No tool ran: the model wrote a call of “two”, which is not offered.")


async def test_a_retry_is_told_and_a_stop_ends_the_wait(session: Session, server: Loopback) -> None:
    server.plays(BUSY, chat("Here."))
    seen = await turn(session, "hello")
    assert_in_order(seen)
    (retry,) = [event for event in seen if isinstance(event, Retrying)]
    assert (retry.number, retry.most) == (1, 2)
    assert retry.text.startswith("Retry 1 of 2 in 0.0") and "slow down" in retry.text
    waits = json_reply({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "20"})
    server.plays(waits)
    seen = await turn(session, "hello", stop_at=Retrying)
    assert isinstance(seen[-1], Stopped)
