"""A schema of the answer: enforced by llama.cpp, and given up where a server rejects it."""

import json

from memory.observations.model_notes import answer_schema
from models.chat.anthropic.provider import Anthropic
from models.chat.open import open_model
from models.chat.openai.provider import OpenAICompatible
from models.settings import ModelSettings
from tests.loopback import Loopback, chat, json_reply
from tests.models.chat.events import all_events, events_of, failure, request, words
from tests.servers import LlamaServer

SETTINGS = ModelSettings(temperature=0.0, retries=0)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
REJECTED = json_reply({"error": {"message": "response_format json_schema is not supported"}}, status=400)


async def test_llamacpp_makes_any_model_answer_in_the_form_of_an_observation(llama_server: LlamaServer) -> None:
    """The tiny model has no rules for what stands in JSON: it draws any character."""
    asked = request("Note this.", schema=answer_schema(2), max_tokens=3_000, temperature=1.5)
    answer = words(await events_of(llama_server.spec, SETTINGS, asked))
    decoded = json.loads(answer)
    assert set(decoded) == {"observations"}
    form = answer_schema(2)["properties"]["observations"]["items"]
    for note in decoded["observations"]:
        assert list(note) == form["required"]
        assert note["entry"] in {1, 2}
        assert note["type"] in form["properties"]["type"]["enum"]


async def test_a_server_that_rejects_a_schema_is_asked_without_it_from_then_on() -> None:
    with Loopback() as server:
        server.plays(REJECTED, chat('{"n": 1}'), chat('{"n": 2}'))
        model = open_model(f"openai:m@{server.address}", settings=SETTINGS, env={})
        first = await all_events(model, request("Which?", schema=SCHEMA))
        second = await all_events(model, request("Which?", schema=SCHEMA))
        await model.close()
        sent = [post.json for post in server.posts]
    assert (words(first), words(second)) == ('{"n": 1}', '{"n": 2}')
    assert ["response_format" in body for body in sent] == [True, False, False]
    assert sent[0]["response_format"]["json_schema"]["schema"] == SCHEMA


async def test_another_rejection_is_told() -> None:
    with Loopback() as server:
        server.plays(REJECTED, json_reply({"error": {"message": "no"}}, status=400), REJECTED)
        spec = f"openai:m@{server.address}"
        assert failure(await events_of(spec, SETTINGS, request("Which?", schema=SCHEMA))).code == "bad_request"
        assert failure(await events_of(spec, SETTINGS, request("Which?"))).code == "bad_request"


def test_a_request_without_a_schema_has_no_format() -> None:
    model = open_model("llamacpp:m", settings=SETTINGS, env={})
    assert isinstance(model, OpenAICompatible)
    assert b"response_format" not in model.body(request())
    remote = open_model("anthropic:claude-x", settings=SETTINGS, env={})
    assert isinstance(remote, Anthropic)
    assert b"schema" not in remote.body(request(schema=SCHEMA))
