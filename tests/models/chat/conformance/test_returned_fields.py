"""What a provider attaches to an answer goes back to it unchanged, and to no other; keys are never shown."""

import json
from typing import Any

import pytest

from models.chat.port import ReasoningChunk
from models.chat.quirks import quirks_of
from models.chat.refused_fields import RefusedFields
from models.messages import Message, ProviderFields, Role, Text, ToolCall, ToolResult, user
from tests.loopback import Loopback, chat, data, delta, json_reply, stream
from tests.models.chat.conformance.dialects import DIALECTS, Dialect, answered, sent_body
from tests.models.chat.events import failure, request, words

OPENAI, ANTHROPIC = DIALECTS
SIGNATURE = "EjQKMgEMabc+/=" * 8
CALL = {"index": 0, "id": "functions.f:0", "type": "function", "function": {"name": "f", "arguments": "{}"}}
DETAILS = [
    {"type": "reasoning.text", "text": "First ", "format": "x-v1", "index": 0},
    {"type": "reasoning.text", "text": "this.", "index": 0},
    {"type": "reasoning.text", "signature": SIGNATURE[:20], "index": 0},
    {"type": "reasoning.text", "signature": SIGNATURE[20:], "index": 0},
    {"type": "reasoning.encrypted", "data": SIGNATURE, "index": 1},
]
MERGED = [
    {"type": "reasoning.text", "text": "First this.", "format": "x-v1", "index": 0, "signature": SIGNATURE},
    {"type": "reasoning.encrypted", "data": SIGNATURE, "index": 1},
]
GEMINI = {"google": {"thought_signature": SIGNATURE}}
ATTACHED: dict[str, tuple[list[dict[str, Any]], dict[str, Any], dict[str, Any]]] = {
    "Gemini, on the call": ([{"tool_calls": [CALL | {"extra_content": GEMINI}]}], {}, {"extra_content": GEMINI}),
    "on the function": (
        [{"tool_calls": [CALL | {"function": {"name": "f", "arguments": "{}", "x_state": 7}}]}],
        {},
        {"function": {"x_state": 7, "name": "f", "arguments": "{}"}},
    ),
    "Gemini, on the message": ([{"extra_content": GEMINI}], {"extra_content": GEMINI}, {}),
    "DeepSeek": (
        [{"reasoning_content": "I look "}, {"reasoning_content": "first."}],
        {"reasoning_content": "I look first."},
        {},
    ),
    "OpenRouter": (
        [{"reasoning_details": [detail], "reasoning": detail.get("text")} for detail in DETAILS],
        {"reasoning_details": MERGED},
        {},
    ),
    "LiteLLM": (
        [
            {"thinking_blocks": [{"type": "thinking", "thinking": "Hm", "signature": None}]},
            {"thinking_blocks": [{"type": "thinking", "thinking": ".", "signature": SIGNATURE}]},
        ],
        {"thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE}]},
        {},
    ),
    "a field of tomorrow": ([{"x_opaque": {"a": [1, {"b": None}]}}], {"x_opaque": {"a": [1, {"b": None}]}}, {}),
}


def replayed(events: list[Any]) -> list[Message]:
    """The messages of the next request, as the store gives them back."""
    fields = next((event for event in events if isinstance(event, ProviderFields)), None)
    calls = tuple(event for event in events if isinstance(event, ToolCall))
    thought = "".join(event.text for event in events if isinstance(event, ReasoningChunk))
    if fields is not None:
        fields = ProviderFields(fields.origin, fields.message, fields.calls, fields.reasoning_field, thought)
    parts = ((fields,) if fields else ()) + ((Text(words(events)),) if words(events) else ()) + calls
    results = [Message(Role.TOOL, (ToolResult(call.id, call.name, "7"),)) for call in calls]
    return [user("Go."), Message(Role.ASSISTANT, parts), *results, user("And now?")]


@pytest.mark.parametrize(("deltas", "message", "call"), ATTACHED.values(), ids=ATTACHED.keys())
async def test_fields_come_back_unchanged(
    loopback: Loopback, deltas: list[dict[str, Any]], message: dict[str, Any], call: dict[str, Any]
) -> None:
    has_call = any("tool_calls" in one for one in deltas)
    chunks = [*deltas, *([] if has_call else [{"tool_calls": [CALL]}])]
    loopback.plays(stream(*(data(delta(**one)) for one in chunks), OPENAI.end("tool_calls"), OPENAI.done))
    history = replayed(await answered(loopback, OPENAI))
    loopback.plays(chat("Yes."), chat("Yes."))
    wire = (await sent_body(loopback, OPENAI, request(*history)))["messages"]
    expected = {"id": "functions.f:0", "type": "function", "function": {"name": "f", "arguments": "{}"}} | call
    assert wire[1] == {"role": "assistant", "content": ""} | message | {"tool_calls": [expected]}
    assert wire[2]["tool_call_id"] == "functions.f:0"
    longer = await sent_body(loopback, OPENAI, request(*history, Message(Role.ASSISTANT, (Text("Yes."),)), user("So?")))
    assert longer["messages"][: len(wire)] == wire, "the beginning of a longer request stays the same"


@pytest.mark.parametrize("other", DIALECTS, ids=lambda one: one.provider)
async def test_another_provider_gets_none_of_them(loopback: Loopback, other: Dialect) -> None:
    parts = (
        ProviderFields("elsewhere:m", {"x_opaque": 1}, {"functions.f:0": {"x_sig": SIGNATURE}}, "reasoning", "Hm."),
        ToolCall("functions.f:0", "f", "{}"),
    )
    history = [
        user("Go."),
        Message(Role.ASSISTANT, parts),
        Message(Role.TOOL, (ToolResult("functions.f:0", "f", "7"),)),
    ]
    loopback.answers_all(lambda _: stream(other.text("Yes."), other.end(other.stop), other.done))
    raw = json.dumps(await sent_body(loopback, other, request(*history)))
    assert "opaque" not in raw and SIGNATURE not in raw and "Hm." not in raw and "functions.f:0" not in raw


THINKING = [
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "I look "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "first."}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": SIGNATURE}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": SIGNATURE}},
    {"type": "content_block_stop", "index": 1},
    {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": "Wait."}},
    {"type": "content_block_stop", "index": 2},
    {
        "type": "content_block_start",
        "index": 3,
        "content_block": {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, "caller": {"type": "direct"}},
    },
    {"type": "content_block_stop", "index": 3},
]


async def test_signed_and_redacted_thinking_comes_back(loopback: Loopback) -> None:
    loopback.plays(stream(*map(ANTHROPIC.event, THINKING), ANTHROPIC.end("tool_use"), ANTHROPIC.done))
    history = replayed(await answered(loopback, ANTHROPIC))
    loopback.plays(stream(ANTHROPIC.text("Yes."), ANTHROPIC.end("end_turn"), ANTHROPIC.done))
    content = (await sent_body(loopback, ANTHROPIC, request(*history)))["messages"][1]["content"]
    assert content[:3] == [
        {"type": "thinking", "thinking": "I look first.", "signature": SIGNATURE},
        {"type": "redacted_thinking", "data": SIGNATURE},
        {"type": "text", "text": "Wait."},
    ]
    assert content[3] == {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, "caller": {"type": "direct"}}


async def test_thinking_without_its_signature_is_left_out(loopback: Loopback) -> None:
    loopback.plays(stream(*map(ANTHROPIC.event, THINKING[:3]), ANTHROPIC.end("max_tokens"), ANTHROPIC.done))
    assert not any(isinstance(event, ProviderFields) for event in await answered(loopback, ANTHROPIC))


def own(server: Loopback, **given: Any) -> list[Message]:
    origin = f"openai:m@{server.address}/v1"
    parts = (ProviderFields(origin, **given), ToolCall("abcdefghi", "f", "{}"))
    return [user("Go."), Message(Role.ASSISTANT, parts), Message(Role.TOOL, (ToolResult("abcdefghi", "f", "7"),))]


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "Invalid field: `reasoning_content` is not allowed in the input"}},
        {"detail": [{"loc": ["body", "messages", 1, "reasoning_content"], "msg": "Extra inputs are not permitted"}]},
    ],
)
async def test_a_field_that_is_refused_is_left_out_from_then_on(loopback: Loopback, error: dict[str, Any]) -> None:
    loopback.plays(json_reply(error, status=400), chat("Yes."))
    events = await answered(loopback, OPENAI, *own(loopback, reasoning_field="reasoning_content", reasoning="Hm."))
    assert words(events) == "Yes."
    first, second = (post.json["messages"][1] for post in loopback.posts)
    assert first.pop("reasoning_content") == "Hm." and first == second


async def test_reasoning_that_is_demanded_is_sent_with_each_call(loopback: Loopback) -> None:
    error = {"error": {"message": "The `reasoning_content` in the thinking mode must be passed back to the API."}}
    loopback.plays(json_reply(error, status=400), chat("Yes."))
    assert words(await answered(loopback, OPENAI, *own(loopback))) == "Yes."
    assert loopback.posts[1].json["messages"][1]["reasoning_content"]


@pytest.mark.parametrize("name", ["temperature", "stream_options"])
async def test_a_parameter_that_is_refused_is_left_out(loopback: Loopback, name: str) -> None:
    loopback.plays(json_reply({"error": {"message": f"Unsupported parameter: '{name}'"}}, status=400), chat("Yes."))
    assert words(await answered(loopback, OPENAI)) == "Yes."
    assert [name in post.json for post in loopback.posts] == [True, False]


async def test_the_other_name_of_the_limit_is_learned(loopback: Loopback) -> None:
    error = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    loopback.plays(json_reply({"error": {"message": error}}, status=400), chat("Yes."))
    assert words(await answered(loopback, OPENAI)) == "Yes."
    assert "max_completion_tokens" in loopback.posts[1].json and "max_tokens" not in loopback.posts[1].json


def test_the_table_of_providers() -> None:
    assert quirks_of("openai", "https://api.openai.com/v1", "gpt-5").refused == {"temperature"}
    assert quirks_of("openai", "https://api.openai.com/v1", "gpt-4o").limit_name == "max_completion_tokens"
    assert quirks_of("openai", "https://api.mistral.ai/v1").call_ids != quirks_of("openai", "https://h/v1").call_ids
    assert RefusedFields(quirks_of("openai", "https://api.deepseek.com/v1")).demanded == "reasoning_content"
    assert quirks_of("llamacpp", "http://127.0.0.1:8080/v1").extra["cache_prompt"]


KEY = "sk-abcdef0123456789"


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.provider)
@pytest.mark.parametrize("written", [f"{KEY}\n", f"{KEY}\r\n", f"  {KEY}", f'"{KEY}"', f"'{KEY}'", f"“{KEY}”"])
async def test_blanks_and_quotes_around_a_key_are_taken_off(loopback: Loopback, dialect: Dialect, written: str) -> None:
    loopback.plays(stream(dialect.text("Yes."), dialect.end(dialect.stop), dialect.done))
    variable = f"PALIMPSEST_{dialect.provider.upper()}_KEY"
    assert words(await answered(loopback, dialect, env={variable: written})) == "Yes."
    headers = loopback.posts[0].headers
    assert KEY in {headers.get("authorization", "").removeprefix("Bearer "), headers.get("x-api-key")}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.provider)
@pytest.mark.parametrize("written", ["sk-äbcdef", "sk-“abc”def", "sk-abc\ndef", "sk-\x00abcdef", "sk-abc\u200bdef"])
async def test_a_key_that_no_header_carries_is_named_by_its_variable(
    loopback: Loopback, dialect: Dialect, written: str
) -> None:
    variable = f"PALIMPSEST_{dialect.provider.upper()}_KEY"
    events = await answered(loopback, dialect, env={variable: written})
    failed = failure(events)
    assert len(events) == 1 and not loopback.posts
    assert variable in failed.message
    assert "sk-" not in str(failed) + repr(failed)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.provider)
@pytest.mark.parametrize("status", [200, 400, 401, 500])
async def test_a_key_in_a_servers_own_words_is_not_shown(loopback: Loopback, dialect: Dialect, status: int) -> None:
    loopback.answers_all(lambda _: json_reply({"error": {"message": f"Wrong key: {KEY}."}}, status=status))
    events = await answered(loopback, dialect, env={f"PALIMPSEST_{dialect.provider.upper()}_KEY": KEY})
    failure(events)
    assert KEY not in "".join(map(repr, events))
