"""Pieces of calls, token counts and windows, under the names that providers document."""

import json
from typing import Any, cast

import pytest

from models.chat.openai.probe import probe_server
from models.chat.port import Profile, with_window, with_window_restored
from models.messages import ToolCall, Usage
from tests.loopback import Loopback, data, delta, stream
from tests.models.chat.conformance.dialects import DIALECTS, answered

OPENAI = DIALECTS[0]
A, B = '{"path": "a.txt"}', '{"path": "b.txt"}'


def piece(arguments: str, name: str = "read_file", **given: Any) -> bytes:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return data(delta(tool_calls=[given | {"function": function}]))


def together(*calls: dict[str, Any]) -> bytes:
    return data(delta(tool_calls=[{"type": "function", **call} for call in calls]))


def whole(arguments: str) -> dict[str, Any]:
    return {"function": {"name": "read_file", "arguments": arguments}}


TWO = {
    "index 0 twice, no ids": [piece(A, index=0), piece(B, index=0)],
    "neither index nor ids": [piece(A), piece(B)],
    "index 0 twice, in pieces": [piece("", index=0), piece(A, "", index=0), piece("", index=0), piece(B, "", index=0)],
    "equal ids under two indexes": [piece(A, index=0, id="call"), piece(B, index=1, id="call")],
    "equal ids in one chunk, no index": [together({"id": "call"} | whole(A), {"id": "call"} | whole(B))],
    "equal ids in two chunks, no index": [piece(A, id="call"), piece(B, id="call")],
    "interleaved by id alone": [
        piece(A[:5], id="x"),
        piece(B[:7], id="y"),
        piece(A[5:], "", id="x"),
        piece(B[7:], "", id="y"),
    ],
    "interleaved by id under index 0": [
        piece(A[:5], index=0, id="x"),
        piece(B[:7], index=0, id="y"),
        piece(A[5:], "", index=0, id="x"),
        piece(B[7:], "", index=0, id="y"),
    ],
    "all sent again at the end": [
        piece(A, index=0, id="x"),
        piece(B, index=1, id="y"),
        piece('{"path":"a.txt"}', index=0, id="x"),
        piece(B, index=1, id="y"),
    ],
    "an empty object first": [piece("{}", index=0, id="x"), piece(A, "", index=0), piece(B, index=1, id="y")],
    "objects for arguments": [together({"function": {"name": "read_file", "arguments": json.loads(A)}}), piece(B)],
    "both in one string": [piece(A + B, index=0, id="x")],
}


@pytest.mark.parametrize("chunks", TWO.values(), ids=TWO.keys())
async def test_two_calls_are_two_calls(loopback: Loopback, chunks: list[bytes]) -> None:
    loopback.plays(stream(*chunks, OPENAI.end("tool_calls"), OPENAI.done))
    calls = [event for event in await answered(loopback, OPENAI) if isinstance(event, ToolCall)]
    assert [(call.name, json.loads(call.arguments)["path"]) for call in calls] == [
        ("read_file", "a.txt"),
        ("read_file", "b.txt"),
    ]
    assert len({call.id for call in calls}) == 2


async def test_arguments_that_grow_from_chunk_to_chunk_are_one_call(loopback: Loopback) -> None:
    chunks = [piece(A[:length], index=0, id="x") for length in (3, 9, len(A))]
    loopback.plays(stream(*chunks, OPENAI.end("tool_calls"), OPENAI.done))
    calls = [event for event in await answered(loopback, OPENAI) if isinstance(event, ToolCall)]
    assert calls == [ToolCall("x", "read_file", A)]


TOKENS = {"prompt_tokens": 1000, "completion_tokens": 5}
COUNTS = {
    "OpenAI": {"usage": TOKENS | {"prompt_tokens_details": {"cached_tokens": 900}}},
    "DeepSeek": {"usage": TOKENS | {"prompt_cache_hit_tokens": 900, "prompt_cache_miss_tokens": 100}},
    "Kimi": {"usage": TOKENS | {"cached_tokens": 900}},
    "Moonshot": {"choices": [delta("stop")["choices"][0] | {"usage": TOKENS | {"cached_tokens": 900}}]},
    "vLLM": {"usage": TOKENS | {"num_cached_tokens": 900}},
    "Groq": {"x_groq": {"usage": TOKENS | {"prompt_tokens_details": {"cached_tokens": 900}}}},
    "strings of digits": {"usage": TOKENS | {"prompt_tokens_details": {"cached_tokens": "900"}}},
    "Anthropic's names": {"usage": {"input_tokens": 1000, "output_tokens": 5, "cache_read_input_tokens": 900}},
}


@pytest.mark.parametrize("given", COUNTS.values(), ids=COUNTS.keys())
async def test_cached_tokens_are_read_under_every_name(loopback: Loopback, given: dict[str, Any]) -> None:
    last = {"choices": list[Any](), **given}
    loopback.plays(stream(OPENAI.text("Yes."), OPENAI.end("stop"), data(last), OPENAI.done))
    assert Usage(1000, 5, 900) in await answered(loopback, OPENAI)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"prompt_eval_count": 7, "eval_count": 3}, Usage(7, 3)),
        ({"timings": {"cache_n": 4, "prompt_n": 3, "predicted_n": 2}}, Usage(7, 2, 4)),
    ],
)
async def test_counts_beside_the_usage(loopback: Loopback, given: dict[str, Any], expected: Usage) -> None:
    loopback.plays(stream(OPENAI.text("Yes."), data(delta("stop") | given), OPENAI.done))
    usage = next(event for event in await answered(loopback, OPENAI) if isinstance(event, Usage))
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.estimated) == (
        expected.prompt_tokens,
        expected.completion_tokens,
        expected.cached_tokens,
        False,
    )


WINDOWS: dict[str, dict[str, Any]] = {
    "vLLM": {"/v1/models": {"data": [{"id": "m", "max_model_len": 131072}]}},
    "Groq": {"/v1/models": {"data": [{"id": "m", "context_window": 131072}]}},
    "Mistral": {"/v1/models": {"data": [{"id": "m", "max_context_length": 131072}]}},
    "Novita": {"/v1/models": {"data": [{"id": "m", "context_size": 131072}]}},
    "Gemini's own name": {"/v1/models": {"data": [{"id": "models/m", "inputTokenLimit": 131072}, {"id": "n"}]}},
    "GitHub Models": {
        "/v1/models": {"data": [{"id": "m", "capabilities": [], "limits": {"max_input_tokens": 131072}}]}
    },
    "GitHub Copilot": {
        "/v1/models": {
            "data": [{"id": "m", "capabilities": {"limits": {"max_context_window_tokens": 131072}}}, {"id": "n"}]
        }
    },
    "Together, a list": {"/v1/models": [{"id": "m", "context_length": 131072}]},
    "Gemini, a prefix": {"/v1/models": {"data": [{"id": "models/m", "context_length": "131072"}, {"id": "models/n"}]}},
    "OpenRouter": {
        "/v1/models": {"data": [{"id": "m", "context_length": 200000, "top_provider": {"context_length": 131072}}]}
    },
    "llama.cpp's router": {"/v1/models": {"data": [{"id": "m", "meta": {"n_ctx": 131072, "n_ctx_train": 262144}}]}},
    "slots of llama.cpp": {"/v1/models": {"data": [{"id": "m"}]}, "/slots": [{"id": 0, "n_ctx": 131072}]},
    "LiteLLM": {
        "/v1/model/info": {"data": [{"model_name": "m", "model_info": {"max_tokens": 8, "max_input_tokens": 131072}}]}
    },
    "SGLang": {"/get_server_info": {"context_length": None, "max_total_num_tokens": 131072}},
    "TGI": {"/info": {"max_total_tokens": 131072}},
}


@pytest.mark.parametrize("pages", WINDOWS.values(), ids=WINDOWS.keys())
async def test_the_window_is_read_wherever_it_is_stated(pages: dict[str, Any]) -> None:
    async def ask(url: str, body: Any = None) -> Any:
        page: object = pages.get(url.removeprefix("http://h"))
        return {"data": cast("list[Any]", page)} if isinstance(page, list) else page

    assert (await probe_server("http://h/v1", "m", ask)).window == 131072


async def test_a_trained_length_is_a_likely_window() -> None:
    async def ask(url: str, body: Any = None) -> Any:
        row = {"id": "m", "meta": {"n_ctx_train": 131072}}
        return {"data": [row]} if url.endswith("/models") else None

    result = await probe_server("http://h/v1", "m", ask)
    assert (result.window, result.likely) == (None, 131072)


def test_a_guess_grows_back_once_and_a_stated_window_stays() -> None:
    profile = Profile(spec="openai:m", name="m", window=100_000)
    guessed = with_window(profile, 75_000, stated=False)
    assert with_window_restored(guessed, 10_000).window == 75_000, "too short a prompt to tell"
    restored = with_window_restored(guessed, 40_000)
    assert restored.window == 100_000
    again = with_window(restored, 75_000, stated=False)
    assert with_window_restored(again, 70_000).window == 75_000, "a second refusal is believed"
    stated = with_window(profile, 75_000)
    assert with_window_restored(stated, 70_000).window == 75_000
