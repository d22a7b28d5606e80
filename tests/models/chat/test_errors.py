"""Each way that a server can fail has its own sentence: what, where, what to do."""

import socket
import time
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from models.chat.errors import Endpoint, error_from_body, refused_error, truncated_error
from models.chat.port import AnswerEnd, AnswerError, Connected, TextChunk
from models.limits import StreamLimitExceeded, StreamLimits
from models.settings import ModelSettings
from tests.loopback import (
    Cut,
    Loopback,
    Pause,
    Reply,
    Stall,
    chat,
    chat_bytes,
    chunked,
    data,
    delta,
    http,
    json_reply,
    stream,
)
from tests.models.chat.events import events_of, failure, request, words


def openai_error(message: str, kind: str = "", code: str | int | None = None) -> dict[str, object]:
    return {"error": {"message": message, "type": kind, "code": code}}


LLAMA_OVERFLOW = {
    "error": {
        "code": 400,
        "message": "the request exceeds the available context size, try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 9026,
        "n_ctx": 4096,
    }
}
OPENAI_OVERFLOW = openai_error(
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    "invalid_request_error",
    "context_length_exceeded",
)
LMSTUDIO_OVERFLOW = {
    "error": "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with "
    "context length of only 4096 tokens, which is not enough."
}
REFUSALS: list[tuple[str, Reply, str]] = [
    ("401", json_reply(openai_error("Incorrect API key provided: sk-abc"), status=401), "unauthorised"),
    ("403", json_reply(openai_error("no"), status=403), "unauthorised"),
    (
        "404 model",
        json_reply(openai_error("The model `scripted` does not exist", code="model_not_found"), status=404),
        "no_model",
    ),
    (
        "404 of Ollama",
        json_reply({"error": {"message": 'model "scripted" not found, try pulling it first'}}, status=404),
        "no_model",
    ),
    (
        "400 no model",
        json_reply({"error": "No models loaded. Please load a model in the developer page."}, status=400),
        "no_model",
    ),
    ("413", http(b"<html>too large</html>", status=413, kind="text/html"), "too_large"),
    ("overflow of llama.cpp", json_reply(LLAMA_OVERFLOW, status=400), "too_large"),
    ("overflow of OpenAI", json_reply(OPENAI_OVERFLOW, status=400), "too_large"),
    ("overflow of LM Studio", json_reply(LMSTUDIO_OVERFLOW, status=400), "too_large"),
    (
        "429 quota",
        json_reply(openai_error("You exceeded your current quota", "insufficient_quota"), status=429),
        "rate_limited",
    ),
    ("400", json_reply(openai_error("temperature must be positive"), status=400), "bad_request"),
    ("500", json_reply(openai_error("boom", "server_error"), status=500), "server_error"),
    ("502 of a proxy", http(b"<html><b>Bad gateway</b></html>", status=502, kind="text/html"), "server_error"),
    ("200 and HTML", http(b"<html>Welcome to nginx</html>", kind="text/html"), "not_json"),
    ("200 and another JSON", json_reply({"hello": "there"}), "not_json"),
    ("a stream of no JSON", stream(b"data: hello there\n\n"), "not_json"),
    ("an error in 200", json_reply(openai_error("the engine is gone", "server_error")), "server_error"),
    (
        "an error in the stream",
        stream(data(openai_error("slot unavailable", "unavailable_error", 503))),
        "server_error",
    ),
    ("an overflow in the stream", stream(data(LLAMA_OVERFLOW)), "too_large"),
    ("a named error", stream(data(openai_error("gone"), event="error")), "server_error"),
    ("a stream that ends at once", stream(), "cut_off"),
    ("an empty answer", stream(data("[DONE]")), "cut_off"),
]


@pytest.mark.parametrize(("reply", "code"), [pytest.param(*rest, id=name) for name, *rest in REFUSALS])
async def test_a_refusal_has_its_sentence(loopback: Loopback, hasty: ModelSettings, reply: Reply, code: str) -> None:
    loopback.answers("/v1/chat/completions", reply)
    failed = failure(await events_of(f"openai:scripted@{loopback.address}", hasty))

    assert failed.code == code
    assert loopback.address in failed.message
    assert failed.title
    assert failed.hint
    assert "sk-abc" not in failed.message


WORDS: dict[str, tuple[object, str]] = {
    "detail": ({"detail": "The engine is gone"}, "The engine is gone"),
    "FastAPI's list": (
        {"detail": [{"loc": ["body", "top_k"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden"}]},
        "body.top_k: Extra inputs are not permitted",
    ),
    "Mistral": (
        {"object": "error", "message": {"detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Required"}]}},
        "body.model: Required",
    ),
    "detail in an object": ({"detail": {"error": "The engine is gone"}}, "The engine is gone"),
    "vLLM": ({"object": "error", "message": "The engine is gone", "type": "X", "code": 500}, "The engine is gone"),
    "message": ({"code": 20012, "message": "The engine is gone", "data": None}, "The engine is gone"),
    "error": ({"error": "The engine is gone"}, "The engine is gone"),
    "an error with a detail": ({"error": {"code": 500, "detail": "The engine is gone"}}, "The engine is gone"),
    "errors": ({"errors": ["The engine is gone", {"message": "Try later"}]}, "The engine is gone; Try later"),
    "Baidu": ({"error_code": 336100, "error_msg": "The engine is gone"}, "The engine is gone"),
}


@pytest.mark.parametrize("place", ["a refusal", "a stream", "a stream after words", "an answer at once"])
@pytest.mark.parametrize(("error", "sentence"), WORDS.values(), ids=WORDS)
async def test_the_words_of_a_server_are_shown(
    loopback: Loopback, hasty: ModelSettings, error: dict[str, object], sentence: str, place: str
) -> None:
    replies: dict[str, Reply] = {
        "a refusal": json_reply(error, status=422),
        "a stream": stream(data(error)),
        "a stream after words": stream(data(delta(content="Half")), data(error)),
        "an answer at once": json_reply(error),
    }
    loopback.answers("/v1/chat/completions", replies[place])
    failed = failure(await events_of(f"openai:scripted@{loopback.address}", hasty))
    assert f": {sentence}" in failed.message
    assert "{" not in failed.message


async def test_chunks_that_hold_no_words_of_an_error_are_none(loopback: Loopback, hasty: ModelSettings) -> None:
    progress = {"message": {"role": "assistant", "content": ""}, "detail": None, "errors": []}
    loopback.plays(stream(data(progress), data(delta(content="Whole.", detail="high")), data(delta("stop"))))
    assert words(await events_of(f"openai:scripted@{loopback.address}", hasty)) == "Whole."


@pytest.mark.parametrize("code", ["server_error", "overloaded_error", "rate_limit_exceeded"])
def test_what_may_pass_by_itself_names_the_command_that_asks_again(code: str) -> None:
    endpoint = Endpoint("openai", "any", "http://127.0.0.1:1/v1")
    for failed in (error_from_body(endpoint, "Oops.", code=code), truncated_error(endpoint)):
        assert "/retry" in failed.hint


async def test_no_server_at_all_is_said_at_once(hasty: ModelSettings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    failed = failure(await events_of(f"llamacpp:any@http://127.0.0.1:{port}", hasty))
    assert failed.code == "refused"
    assert f"127.0.0.1:{port}" in failed.message
    assert "llama-server" in failed.hint
    assert "/retry" in failed.hint


async def test_a_first_word_that_never_comes(loopback: Loopback, hasty: ModelSettings) -> None:
    loopback.plays([Stall()])
    quick = ModelSettings(first_byte_timeout=0.2)
    failed = failure(await events_of(f"openai:scripted@{loopback.address}", quick))
    assert (failed.code, failed.title) == ("timed_out", "No response")
    assert loopback.client_left.wait(2), "the connection was left open"


async def test_a_stream_that_never_begins_is_not_asked_for_again(loopback: Loopback) -> None:
    loopback.answers_all(lambda _: stream(Stall()))
    failed = failure(await events_of(f"openai:scripted@{loopback.address}", ModelSettings(first_byte_timeout=0.2)))
    assert failed.title == "No response"
    assert len(loopback.posts) == 1


async def test_a_stream_that_stands_still(loopback: Loopback, hasty: ModelSettings) -> None:
    loopback.plays(stream(data(delta(content="Once ")), Stall()))
    events = await events_of(f"openai:scripted@{loopback.address}", hasty)
    assert words(events) == "Once "
    assert failure(events).title == "The answer stalled"
    assert loopback.client_left.wait(2)
    assert len(loopback.posts) == 1


async def test_keep_alive_comments_keep_a_slow_prompt_alive(loopback: Loopback, hasty: ModelSettings) -> None:
    waits = [step for n in range(8) for step in (f": keepalive {n}/8\n\n".encode(), Pause(0.08))]
    loopback.plays(stream(*waits, chat_bytes("Here.")))
    assert words(await events_of(f"openai:scripted@{loopback.address}", hasty)) == "Here."


@pytest.mark.parametrize("end", [Cut(), Cut(reset=True)], ids=["closed", "reset"])
@pytest.mark.parametrize("reply", [stream, chunked])
async def test_a_stream_cut_in_the_middle_keeps_what_came(
    loopback: Loopback, hasty: ModelSettings, reply: type, end: Cut
) -> None:
    loopback.plays(reply(data(delta(content="Half ")), data(delta(content="a")), b'data: {"choi', Pause(0.05), end))
    events = await events_of(f"openai:scripted@{loopback.address}", hasty)
    assert words(events) == "Half a"
    assert failure(events).code == "cut_off"
    assert len(loopback.posts) == 1, "a word had come: asking again would say it twice"


async def test_a_stream_without_its_last_mark_is_whole_when_it_gave_a_reason(
    loopback: Loopback, hasty: ModelSettings
) -> None:
    loopback.plays(stream(data(delta(content="All.")), data(delta("stop"))))
    events = await events_of(f"openai:scripted@{loopback.address}", hasty)
    assert words(events) == "All."
    assert isinstance(events[-1], AnswerEnd)


BUSY: list[tuple[str, Reply]] = [
    ("429", json_reply(openai_error("slow down", "rate_limit"), status=429, headers={"retry-after": "0.05"})),
    ("503", json_reply(openai_error("busy"), status=503)),
    ("502", http(b"", status=502)),
    ("loading", json_reply(openai_error("Loading model", "unavailable_error", 503), status=503)),
    ("hung up", [Cut()]),
    ("error before a word", stream(data(openai_error("overloaded", "server_error")))),
    ("cut before a word", stream(data(delta(role="assistant", content="")))),
]


@pytest.mark.parametrize("reply", [pytest.param(reply, id=name) for name, reply in BUSY])
async def test_a_busy_server_is_asked_again_before_the_first_word(
    loopback: Loopback, hasty: ModelSettings, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.chat.retry.LOADING_WAIT", 0.01)
    loopback.plays(reply, reply, chat("At last."))
    events = await events_of(f"openai:scripted@{loopback.address}", hasty)
    assert words(events) == "At last."
    assert len(loopback.posts) == 3
    assert len({post.body for post in loopback.posts}) == 1


async def test_asking_again_ends(loopback: Loopback, hasty: ModelSettings) -> None:
    loopback.answers_all(lambda _: json_reply(openai_error("busy"), status=503))
    assert failure(await events_of(f"openai:scripted@{loopback.address}", hasty)).code == "server_error"
    assert len(loopback.posts) == 1 + hasty.retries


async def test_a_server_that_asks_for_a_long_wait_is_taken_at_its_word(
    loopback: Loopback, hasty: ModelSettings
) -> None:
    loopback.answers_all(lambda _: json_reply(openai_error("slow"), status=429, headers={"retry-after": "3600"}))
    failed = failure(await events_of(f"openai:scripted@{loopback.address}", hasty))
    assert failed.message.endswith("is not accepting requests right now: slow. It asks to wait 3600 s.")
    assert len(loopback.posts) == 1


async def test_stopping_closes_the_connection(loopback: Loopback, hasty: ModelSettings) -> None:
    from models.chat.open import open_model

    loopback.plays(stream(data(delta(content="One ")), Stall()))
    model = open_model(f"openai:scripted@{loopback.address}", settings=ModelSettings(), env={})
    events = model.stream(request())
    assert await anext(events) == Connected()
    assert await anext(events) == TextChunk("One ")
    await events.aclose()
    assert loopback.client_left.wait(2), "the server would work on for no one"
    await model.close()


async def test_a_failure_is_the_last_event(loopback: Loopback, hasty: ModelSettings) -> None:
    loopback.plays(
        stream(data(delta(content="A")), data(openai_error("gone", "server_error")), data(delta(content="B")))
    )
    events = await events_of(f"openai:scripted@{loopback.address}", hasty)
    assert words(events) == "A"
    assert isinstance(events[-1], AnswerError)
    assert len(loopback.posts) == 1


def test_each_limit_is_told_with_its_unit() -> None:
    told = {
        name: StreamLimitExceeded("it", name, getattr(StreamLimits(), name)).limit
        for name in StreamLimits.__struct_fields__
    }
    assert told["answer_mb"] == "4 MB"
    assert told["quiet_events"] == "200,000 events"
    assert told["unpacked_times"] == "100 times its size"
    assert set(told) == set(StreamLimits.__struct_fields__)


QUIET: list[tuple[str, Callable[[int], bytes]]] = [
    ("comment", lambda _: b": k\n\n"),
    ("byte", lambda _: b":"),
    ("empty delta", lambda _: data(delta(content=""))),
    ("role", lambda _: data(delta(role="assistant"))),
    ("progress in comments", lambda n: f": keepalive {n % 2}/8\n\n".encode()),
    ("progress in events", lambda n: data({"prompt_progress": {"processed": n % 2, "total": 8}, "choices": []})),
    ("rising progress", lambda n: data({"prompt_progress": {"processed": n, "total": 10**12}, "choices": []})),
    ("usage", lambda n: data({"usage": {"prompt_tokens": n, "completion_tokens": 0}, "choices": []})),
]


@pytest.mark.parametrize("first", ["", "A word. "], ids=["before", "after a word"])
@pytest.mark.parametrize("step", [pytest.param(step, id=name) for name, step in QUIET])
async def test_a_server_that_says_no_word_is_ended_by_time(
    loopback: Loopback, hasty: ModelSettings, step: Callable[[int], bytes], first: str
) -> None:
    settings = replace(hasty, retries=0, first_byte_timeout=0.15, stall_timeout=0.15)
    steps = [sent for n in range(600) for sent in (step(n), Pause(0.03))]
    loopback.plays(stream(*([data(delta(content=first))] if first else []), *steps))
    began = time.monotonic()
    events = await events_of(f"openai:scripted@{loopback.address}", settings)
    assert failure(events).title in {"No response", "The answer stalled"}
    assert time.monotonic() - began < 9, "18 seconds are sent"


def test_the_command_that_starts_a_server_names_its_port() -> None:
    for port in (8080, 45101):
        endpoint = Endpoint("llamacpp", "m", f"http://127.0.0.1:{port}/v1", "", "")
        assert f"--port {port}`" in refused_error(endpoint, "no route").hint
