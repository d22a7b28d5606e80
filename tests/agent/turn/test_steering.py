"""Messages that are sent into a running turn, with real sessions and scripted servers."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agent.events import ContextReady, SessionEvent, Stopped, TextDelta, ToolFinished, ToolStarted, UserStored
from agent.session import Session
from agent.turn.ports import TurnInput
from agent.turn.steering import STEERED
from context.settings import ContextSettings
from foundation.paths import Workspace
from memory.records import STEERS
from models.messages import Role
from models.settings import ModelSettings
from tests.agent.sessions import asked, calls, environment_of, open_session, several_calls
from tests.agent.turn.event_order import assert_in_order, names
from tests.loopback import Loopback, Reply, Stall, chat, data, delta, stream

MODELS = ModelSettings(tools=True, window=16_000, retries=0)


class Person:
    """Sends messages into the running turn, and may take them back."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._messages: deque[str] = deque()
        session.steering = self

    @property
    def waits(self) -> bool:
        return bool(self._messages)

    async def take(self) -> TurnInput | None:
        return TurnInput(self._messages.popleft(), steers=True) if self._messages else None

    def says(self, text: str) -> None:
        self._messages.append(text)
        self._session.steer()

    def takes_back(self) -> None:
        self._messages.clear()


async def turn(session: Session, text: str, on_event: Callable[[SessionEvent], object]) -> list[Any]:
    """The turn's events; `on_event` sees each."""
    seen: list[SessionEvent] = []
    async for event in session.send(text):
        seen.append(event)
        on_event(event)
    assert_in_order(seen)
    return seen


def once(kind: type, action: Callable[[], object]) -> Callable[[SessionEvent], None]:
    """Acts at the first event of this kind."""
    left = [action]

    def see(event: SessionEvent) -> None:
        if isinstance(event, kind) and left:
            left.pop()()

    return see


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path, server, models=MODELS)
    yield opened
    await opened.close()


def words(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def search(query: str = "tea") -> tuple[str, dict[str, Any]]:
    return "search_memory", {"query": query}


async def test_a_message_goes_after_the_present_calls_result_and_before_the_next_request(
    session: Session, server: Loopback
) -> None:
    person = Person(session)
    server.plays(calls("search_memory", query="tea"), chat("Green tea it is."))
    seen = await turn(session, "Which tea?", once(ToolStarted, lambda: person.says("Only green ones, 绿茶")))
    order = names(seen)
    assert order.index("ToolFinished UserStored Recall ContextReady") < order.index("AnswerStored")
    first, second = [post.json["messages"] for post in asked(server)]
    assert second[: len(first)] == first
    assert [message["role"] for message in second[len(first) :]] == ["assistant", "tool", "user"]
    assert "Only green ones, 绿茶" in words(second[-1])


async def test_a_steering_message_is_stored_before_it_is_sent_and_is_known_as_one(
    session: Session, server: Loopback
) -> None:
    person = Person(session)
    server.plays(calls("search_memory", query="tea"), chat("Green."))
    requests: list[int] = []

    def see(event: SessionEvent) -> None:
        if isinstance(event, ToolFinished):
            person.says("Only green ones")
        if isinstance(event, UserStored) and event.steers:
            requests.append(len(asked(server)))
            assert session.memory.cold.find(event.entry).meta[STEERS] is True

    await turn(session, "Which tea?", see)
    assert requests == [1]


async def test_the_calls_after_the_present_one_are_not_run(session: Session, server: Loopback) -> None:
    person = Person(session)
    server.plays(several_calls(("update_plan", {"steps": []}), search("one"), search("two")), chat("As you wish."))
    seen = await turn(session, "Look it up", once(ToolFinished, lambda: person.says("Leave it")))
    shown = [event.shown for event in seen if isinstance(event, ToolFinished)]
    assert STEERED not in shown[0]
    assert [STEERED in text for text in shown[1:]] == [True, True]
    assert "PermissionDenied" not in names(seen)  # nobody denied them
    results = [message for message in asked(server)[-1].json["messages"] if message["role"] == "tool"]
    assert len(results) == 3


def stalled(*pieces: str) -> Reply:
    return stream(*(data(delta(content=piece)) for piece in pieces), Stall())


async def test_an_answer_that_only_writes_text_ends_for_the_message_and_is_kept(
    session: Session, server: Loopback
) -> None:
    person = Person(session)
    server.plays(stalled("Black tea "), chat("Green tea."))
    seen = await turn(session, "Which tea?", once(TextDelta, lambda: person.says("Only green ones")))
    assert names(seen) == (
        "UserStored Recall ContextReady ModelConnected TextDelta UserStored Recall ContextReady ModelConnected "
        "TextDelta UsageKnown AnswerStored"
    )
    texts = [(entry.role, entry.complete, entry.text) for entry in await session.branch.history()]
    assert texts[1:] == [
        (Role.ASSISTANT, False, "Black tea "),
        (Role.USER, True, "Only green ones"),
        (Role.ASSISTANT, True, "Green tea."),
    ]
    first, second = [post.json["messages"] for post in asked(server)]
    assert second[: len(first)] == first
    assert [message["role"] for message in second[len(first) :]] == ["assistant", "user"]


async def test_an_answer_that_has_begun_a_call_is_heard_out(session: Session, server: Loopback) -> None:
    person = Person(session)
    server.plays(several_calls(search(), before="I look it up."), chat("Green tea."))
    seen = await turn(session, "Which tea?", once(ToolStarted, lambda: person.says("Only green ones")))
    assert names(seen).count("UsageKnown ToolStarted ToolFinished UserStored") == 1
    assert STEERED not in next(event.shown for event in seen if isinstance(event, ToolFinished))


async def test_a_message_that_comes_before_the_request_is_sent_goes_with_the_next(
    session: Session, server: Loopback
) -> None:
    person = Person(session)
    server.plays(chat("Green tea."))
    await turn(session, "Which tea?", once(ContextReady, lambda: person.says("Only green ones")))
    (request,) = asked(server)
    roles = [message["role"] for message in request.json["messages"]]
    assert roles[-3:] == ["user", "assistant", "user"]  # no two of the user's in a row
    assert "Only green ones" in words(request.json["messages"][-1])


async def test_each_request_of_a_turn_that_is_steered_often_begins_with_the_one_before(
    session: Session, server: Loopback
) -> None:
    person = Person(session)
    server.plays(calls("search_memory", query="a"), calls("search_memory", query="b"), stalled("So "), chat("End."))
    left = deque(["first 一", "second 🫖", "third"])

    def see(event: SessionEvent) -> None:
        if isinstance(event, ToolFinished | TextDelta) and left:
            person.says(left.popleft())

    await turn(session, "Which tea?", see)
    requests = [post.json["messages"] for post in asked(server)]
    assert len(requests) == 4
    for before, after in pairwise(requests):
        assert after[: len(before)] == before


async def test_a_message_that_is_taken_back_changes_nothing(session: Session, server: Loopback) -> None:
    person = Person(session)
    server.plays(calls("search_memory", query="tea"), chat("Black tea."))

    def see(event: SessionEvent) -> None:
        if isinstance(event, ToolStarted):
            person.says("Only green ones")
        if isinstance(event, ToolFinished):
            person.takes_back()

    seen = await turn(session, "Which tea?", see)
    assert names(seen).count("UserStored") == 1
    assert seen[-1].text == "Black tea."


async def test_stopping_leaves_the_message_unsent(session: Session, server: Loopback) -> None:
    person = Person(session)
    server.plays(calls("search_memory", query="tea"))

    def see(event: SessionEvent) -> None:
        if isinstance(event, ToolStarted):
            person.says("Only green ones")
            session.stop()

    seen = await turn(session, "Which tea?", see)
    assert isinstance(seen[-1], Stopped)
    assert person.waits
    assert len(asked(server)) == 1


async def test_without_memory_the_whole_turn_stays_in_view(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    session = open_session(workspace, tmp_path, server, models=MODELS, context=ContextSettings(use_memory=False))
    person = Person(session)
    step = {"text": "look", "state": "pending"}
    call = calls("update_plan", steps=[step])
    server.plays(chat("Noted."), call, call, chat("Green tea."))
    await turn(session, "The boiler is old.", lambda _: None)
    await turn(session, "Which tea?", once(ToolStarted, lambda: person.says("Only green ones")))
    _, *requests = [post.json["messages"] for post in asked(server)]
    assert len(requests) == 3
    for before, after in pairwise(requests):
        assert after[: len(before)] == before
    assert not any("boiler" in words(message) for message in requests[-1])
    await session.close()


async def test_anthropic_gets_the_results_and_then_the_message_in_one_turn_of_the_user(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    environment = {**environment_of(tmp_path), "ANTHROPIC_API_KEY": "key"}
    session = open_session(
        workspace, tmp_path, environment=environment, models=MODELS, model=f"anthropic:claude-x@{server.address}"
    )
    person = Person(session)
    call = [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "c1", "name": "recall"},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]
    text = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Green."}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]
    for events in (call, text):
        server.plays(stream(*(data(event, event=event["type"]) for event in events)))
    await turn(session, "Which tea?", once(ToolStarted, lambda: person.says("Only green ones")))
    last = [post for post in server.posts if post.path.endswith("/messages")][-1].json["messages"]
    assert [message["role"] for message in last] == ["user", "assistant", "user"]
    kinds = [block["type"] for block in last[-1]["content"]]
    assert kinds[0] == "tool_result"
    assert set(kinds[1:]) == {"text"}
    assert "Only green ones" in last[-1]["content"][-1]["text"]
    await session.close()


async def test_a_cut_before_the_answer_has_begun_to_stream_does_not_hang(session: Session, server: Loopback) -> None:
    person = Person(session)
    server.plays(stream(Stall()), chat("Green."))

    async def soon() -> None:
        while not asked(server):
            await asyncio.sleep(0.01)
        person.says("Only green ones")

    steering = asyncio.create_task(soon())
    seen = await turn(session, "Which tea?", lambda _: None)
    await steering
    assert seen[-1].text == "Green."
