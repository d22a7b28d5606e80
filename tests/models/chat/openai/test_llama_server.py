"""Against a real llama.cpp server: what it streams, counts, tells and stops."""

import asyncio
import json
import urllib.request
from contextlib import aclosing

from models.chat.open import open_model
from models.chat.openai.provider import OpenAICompatible
from models.chat.port import AnswerEnd, PrefillProgress, StopReason, TextChunk
from models.messages import Usage, system, user
from models.settings import ModelSettings
from models.tokens import request_tokens
from tests.models.chat.events import all_events, events_of, failure, request, words
from tests.servers import LlamaServer, Scripted

SETTINGS = ModelSettings(temperature=0.0)


async def test_an_answer_is_streamed_and_counted(llama_server: LlamaServer) -> None:
    events = await events_of(llama_server.spec, SETTINGS, request(system("Be brief."), "What did he count?"))

    assert words(events) == llama_server.reply
    assert sum(isinstance(event, TextChunk) for event in events) > 5
    usage = events[-2]
    assert isinstance(usage, Usage)
    assert usage.prompt_tokens > 40
    assert usage.completion_tokens > 10
    assert not usage.estimated
    assert usage.cached_tokens is not None
    assert usage.extra["timings"]["predicted_per_second"] > 0
    assert events[-1] == AnswerEnd(StopReason.STOP)


async def test_a_second_turn_reads_only_what_is_new(llama_server: LlamaServer) -> None:
    model = open_model(llama_server.spec, settings=SETTINGS, env={})
    first = (system("You keep a lighthouse. " * 10), user("Who counted the ships?"))
    await all_events(model, request(*first))
    events = await all_events(model, request(*first, user("And then?")))
    await model.close()

    usage = next(event for event in events if isinstance(event, Usage))
    assert usage.cached_tokens is not None
    assert usage.cached_tokens > 0.8 * usage.prompt_tokens


async def test_the_server_tells_its_true_window(llama_server: LlamaServer) -> None:
    model = open_model(llama_server.spec, settings=SETTINGS, env={})
    assert not model.profile.window_known
    profile = await model.prepare()
    await model.close()

    assert (profile.window, profile.window_known) == (4096, True)
    assert not profile.vision
    assert not profile.tools
    assert model.profile is profile


async def test_a_window_that_a_person_set_is_kept(llama_server: LlamaServer) -> None:
    model = open_model(llama_server.spec, settings=ModelSettings(window=1000), env={})
    profile = await model.prepare()
    await model.close()
    assert profile.window == 1000


async def test_reading_a_long_prompt_shows_how_far_it_is(llama_server: LlamaServer) -> None:
    model = open_model(llama_server.spec, settings=SETTINGS, env={})
    await model.prepare()
    events = await all_events(model, request("x" * 3000))
    await model.close()

    progress = [event for event in events if isinstance(event, PrefillProgress)]
    assert progress[-1].done == progress[-1].total >= 3000
    assert words(events) == llama_server.reply


async def test_what_does_not_fit_is_said_with_what_to_do(llama_server: LlamaServer) -> None:
    failed = failure(await events_of(llama_server.spec, SETTINGS, request("y" * 9000)))
    assert failed.code == "too_large"
    assert "4096" in failed.message
    assert "/compact" in failed.hint


async def test_the_estimate_is_set_right_by_the_servers_own_tokenizer(llama_server: LlamaServer) -> None:
    model = open_model(llama_server.spec, settings=SETTINGS, env={})
    assert isinstance(model, OpenAICompatible)
    text = "The keeper wrote every evening in a book that nobody else would ever read. " * 3
    before = model.counter.count(text)
    await model.calibrate([text])
    await model.close()

    assert before < 0.5 * len(text)  # this model spends a token on every byte
    assert 0.95 * len(text) <= model.counter.count(text) <= 1.1 * len(text)


async def test_preparing_sets_the_estimate_right(llama_server: LlamaServer) -> None:
    model = open_model(llama_server.spec, settings=SETTINGS, env={})
    await model.prepare()
    asked = request(system("You keep a lighthouse, and a diary of all that passes."), user("What did you see today?"))
    counted = request_tokens(asked, model.counter)
    usage = next(event for event in await all_events(model, asked) if isinstance(event, Usage))
    await model.close()
    assert 0.85 * usage.prompt_tokens <= counted <= 1.5 * usage.prompt_tokens


async def test_stopping_stops_the_servers_work(scripted_llama: Scripted) -> None:
    reply = " ".join(f"word{n}" for n in range(3000))
    server = scripted_llama(reply, context=8192)
    model = open_model(server.spec, settings=SETTINGS, env={})
    came = 0
    async with aclosing(model.stream(request("Talk.", max_tokens=6000))) as events:
        async for event in events:
            came += isinstance(event, TextChunk)
            if came == 3:
                break
    generated = await _idle_after(server)
    await model.close()
    assert came == 3
    assert generated < 2900


async def test_cancelling_the_task_stops_the_servers_work(scripted_llama: Scripted) -> None:
    reply = " ".join(f"mot{n}" for n in range(3000))
    server = scripted_llama(reply, context=8192)
    model = open_model(server.spec, settings=SETTINGS, env={})
    begun = asyncio.Event()

    async def ask() -> None:
        async for event in model.stream(request("Talk.", max_tokens=6000)):
            if isinstance(event, TextChunk):
                begun.set()

    task = asyncio.create_task(ask())
    await begun.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    generated = await _idle_after(server)
    await model.close()
    assert task.cancelled()
    assert generated < 2900


async def _idle_after(server: LlamaServer) -> int:
    """Tokens that the server had generated when its slot became free."""

    def slot() -> dict[str, object]:
        with urllib.request.urlopen(f"{server.address}/slots") as response:
            return json.load(response)[0]

    for _ in range(200):
        state = await asyncio.to_thread(slot)
        if not state["is_processing"]:
            following = state.get("next_token") or [{}]
            return int(following[0].get("n_decoded", 0))
        await asyncio.sleep(0.01)
    raise AssertionError("the server is still at work")
