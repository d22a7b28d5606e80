"""Anthropic's Messages API, against its documented stream on loopback."""

import json
from typing import Any

import pytest

from models.chat.anthropic import request as anthropic_request
from models.chat.open import open_model
from models.chat.port import AnswerEnd, Connected, ReasoningChunk, StopReason, TextChunk
from models.messages import Image, Message, Role, Tool, ToolCall, ToolResult, Usage, assistant, system, user
from models.settings import ModelSettings
from tests.loopback import Cut, Loopback, Pause, Reply, Stall, http, in_pieces, json_reply, stream
from tests.models.chat.events import events_of, failure, request, thoughts, words


def sent(*events: dict[str, Any]) -> bytes:
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one, ensure_ascii=False)}\n\n".encode() for one in events)


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": one} for one in deltas),
        {"type": "content_block_stop", "index": index},
    ]


START = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "claude",
        "stop_reason": None,
        "usage": {
            "input_tokens": 25,
            "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 900,
            "output_tokens": 1,
        },
    },
}
PING = {"type": "ping"}
STOP = {"type": "message_stop"}


def ended(reason: str, tokens: int = 15) -> dict[str, Any]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return {"type": "message_delta", "delta": delta, "usage": {"output_tokens": tokens}}


def text(*pieces: str, index: int = 0) -> list[dict[str, Any]]:
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": piece} for piece in pieces))


PLAIN = sent(START, PING, *text("Hello ", "白色 🐋!"), ended("end_turn"), STOP)


@pytest.fixture
def spec(loopback: Loopback) -> str:
    return f"anthropic:claude-sonnet-4-5@{loopback.address}"


async def test_an_answer_is_streamed_and_counted_with_its_cache(
    loopback: Loopback, spec: str, hasty: ModelSettings
) -> None:
    loopback.plays(stream(PLAIN))
    events = await events_of(spec, hasty, None, {"ANTHROPIC_API_KEY": "k-a"})
    assert words(events) == "Hello 白色 🐋!"
    assert events[-2] == Usage(1025, 15, 900, extra={"cache_written": 100})
    assert events[-1] == AnswerEnd(StopReason.STOP)
    headers = loopback.posts[0].headers
    assert (loopback.posts[0].path, headers["x-api-key"]) == ("/v1/messages", "k-a")
    assert headers["anthropic-version"] == "2023-06-01"


async def test_an_answer_cut_at_every_byte_is_the_same(loopback: Loopback, spec: str, hasty: ModelSettings) -> None:
    loopback.plays(stream(*in_pieces(PLAIN.replace(b"\n", b"\r\n"))))
    assert words(await events_of(spec, hasty)) == "Hello 白色 🐋!"


async def test_thoughts_and_two_tool_calls(loopback: Loopback, spec: str, hasty: ModelSettings) -> None:
    thinking = block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Let me "},
        {"type": "thinking_delta", "thinking": "see."},
        {"type": "signature_delta", "signature": "EqQB"},
    )
    one = block(
        2,
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}},
        {"type": "input_json_delta", "partial_json": ""},
        {"type": "input_json_delta", "partial_json": '{"page": "p'},
        {"type": "input_json_delta", "partial_json": 'g_7"}'},
    )
    two = block(3, {"type": "tool_use", "id": "toolu_2", "name": "list", "input": {}})
    loopback.plays(stream(sent(START, *thinking, *text("I read.", index=1), *one, PING, *two, ended("tool_use"), STOP)))
    events = await events_of(spec, hasty)
    assert (thoughts(events), words(events)) == ("Let me see.", "I read.")
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert calls == [ToolCall("toolu_1", "read", '{"page": "pg_7"}'), ToolCall("toolu_2", "list", "{}")]
    assert events[-1] == AnswerEnd(StopReason.TOOL_CALLS)


@pytest.mark.parametrize(("reason", "end"), [("max_tokens", StopReason.LENGTH), ("refusal", StopReason.FILTERED)])
async def test_an_answer_that_ends_early_says_why(
    loopback: Loopback, spec: str, hasty: ModelSettings, reason: str, end: StopReason
) -> None:
    loopback.plays(stream(sent(START, *text("So"), ended(reason), STOP)))
    assert (await events_of(spec, hasty))[-1] == AnswerEnd(end)


def error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


REFUSALS: list[tuple[str, Reply, str]] = [
    ("401", json_reply(error("authentication_error", "invalid x-api-key"), status=401), "unauthorised"),
    ("403", json_reply(error("permission_error", "no"), status=403), "unauthorised"),
    ("404", json_reply(error("not_found_error", "model: claude-9"), status=404), "no_model"),
    ("413", json_reply(error("request_too_large", "Request exceeds the maximum size"), status=413), "too_large"),
    (
        "overflow",
        json_reply(error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), status=400),
        "too_large",
    ),
    (
        "400",
        json_reply(error("invalid_request_error", "messages: at least one message is required"), status=400),
        "bad_request",
    ),
    (
        "429",
        json_reply(error("rate_limit_error", "slow down"), status=429, headers={"retry-after": "3600"}),
        "rate_limited",
    ),
    ("500", json_reply(error("api_error", "boom"), status=500), "server_error"),
    ("529", json_reply(error("overloaded_error", "Overloaded"), status=529), "server_error"),
    ("overloaded in the stream", stream(sent(START, error("overloaded_error", "Overloaded"))), "server_error"),
    ("no JSON", stream(b"data: hello\n\n"), "not_json"),
    ("no stream", http(b"<html></html>", kind="text/html"), "not_json"),
    ("cut", stream(sent(START, *text("Half")), Cut()), "cut_off"),
    ("a stall", stream(sent(START), Stall()), "timed_out"),
]


@pytest.mark.parametrize(("reply", "code"), [pytest.param(*rest, id=name) for name, *rest in REFUSALS])
async def test_each_failure_has_its_sentence(
    loopback: Loopback, spec: str, hasty: ModelSettings, reply: Reply, code: str
) -> None:
    loopback.answers("/v1/messages", reply)
    failed = failure(await events_of(spec, hasty))
    assert failed.code == code
    assert loopback.address in failed.message
    assert failed.hint


async def test_an_overloaded_service_is_asked_again_before_the_first_word(
    loopback: Loopback, spec: str, hasty: ModelSettings
) -> None:
    busy = json_reply(error("overloaded_error", "Overloaded"), status=529)
    loopback.plays(busy, stream(sent(START, error("overloaded_error", "Overloaded"))), stream(PLAIN))
    assert words(await events_of(spec, hasty)) == "Hello 白色 🐋!"
    assert len({post.body for post in loopback.posts}) == 1
    assert len(loopback.posts) == 3


async def test_after_a_word_nothing_is_asked_again(loopback: Loopback, spec: str, hasty: ModelSettings) -> None:
    loopback.plays(stream(sent(START, *text("Half")), sent(error("overloaded_error", "Overloaded"))), stream(PLAIN))
    events = await events_of(spec, hasty)
    assert words(events) == "Half"
    assert failure(events).title == "The server is overloaded"
    assert len(loopback.posts) == 1


async def test_stopping_closes_the_connection(loopback: Loopback, spec: str) -> None:
    loopback.plays(stream(sent(START, *text("One ")), Pause(0.01), Stall()))
    model = open_model(spec, settings=ModelSettings(), env={})
    events = model.stream(request())
    assert await anext(events) == Connected()
    assert isinstance(await anext(events), TextChunk | ReasoningChunk)
    await events.aclose()
    assert loopback.client_left.wait(2)
    await model.close()


def wire(*messages: Message, **given: Any) -> dict[str, Any]:
    return json.loads(anthropic_request.anthropic_body(request(*messages, **given), model="claude", vision=True))


def marks(body: dict[str, Any]) -> list[str]:
    """The words of every block that carries a breakpoint."""
    blocks = [*body.get("system", []), *(one for message in body["messages"] for one in message["content"])]
    return [one.get("text") or one["type"] for one in blocks if "cache_control" in one]


def test_breakpoints_stand_where_the_zones_end() -> None:
    messages = (system("head"), user("past"), user("q1"), assistant("a1"), user("tail"))
    assert marks(wire(*messages, zones=(1, 2, 4, 5))) == ["head", "past", "a1", "tail"]
    assert marks(wire(*messages, zones=(1, 1, 4, 5))) == ["head", "a1", "tail"]
    assert marks(wire(*messages)) == ["head", "tail"]
    opened = (system("head"), user("notes"), user("past"), user("q1"), assistant("a1"), user("tail"))
    assert marks(wire(*opened, zones=(2, 3, 5, 6))) == ["head", "notes", "a1", "tail"]
    assert len(marks(wire(*messages, zones=(1, 2, 3, 4)))) <= 4


def test_the_next_turn_begins_with_this_one_when_breakpoints_are_left_out() -> None:
    def bare(body: dict[str, Any]) -> str:
        return json.dumps(body).replace(', "cache_control": {"type": "ephemeral"}', "")

    first = (system("head"), user("q1"))
    before = bare(wire(*first, zones=(1, 1, 1, 2)))
    after = bare(wire(*first, assistant("a1"), user("q2"), zones=(1, 1, 3, 4)))
    assert after.startswith(before.removesuffix("]}"))


def test_system_words_tools_pictures_calls_and_results_on_the_wire() -> None:
    call, tools = (
        ToolCall("t1", "b", '{"n": 1}'),
        (Tool("b", "B.", {"type": "object"}), Tool("a", "A.", {"type": "object"})),
    )
    body = wire(
        system("one"),
        system("two"),
        user(Image(b"\x89PNG", "image/png", 10, 10), "What?"),
        assistant("I look.", call),
        Message(Role.TOOL, (ToolResult("t1", "b", "Seven.", failed=True),)),
        user("So?"),
        tools=tools,
        zones=(2, 2, 2, 6),
    )
    assert [one["text"] for one in body["system"]] == ["one", "two"]
    assert [tool["name"] for tool in body["tools"]] == ["a", "b"]
    first, second, third = body["messages"]
    assert first["content"][0]["source"] == {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}
    assert second["content"][1] == {"type": "tool_use", "id": "t1", "name": "b", "input": {"n": 1}}
    assert third["role"] == "user"
    assert third["content"][0] == {"type": "tool_result", "tool_use_id": "t1", "content": "Seven.", "is_error": True}
    assert third["content"][1]["text"] == "So?"
