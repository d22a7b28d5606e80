"""How the model's answer ended, as a run without a screen tells it."""

import pytest

from tests.agent.conftest import Run
from tests.agent.headless.tool_answers import ChatServer, lines
from tests.loopback import chat, data, delta, stream

ENDED = {
    "length": ("length", "The answer was cut off at the length limit."),
    "content_filter": ("filtered", "The answer was stopped by the service's content filter."),
}


@pytest.mark.parametrize("reason", ENDED)
def test_an_answer_that_is_not_whole_says_so(run: Run, reason: str) -> None:
    ended, sentence = ENDED[reason]
    with ChatServer() as server:
        server.plays(*(chat("Half an", finish=reason) for _ in range(3)), chat("Whole."))
        told = run("--model", server.spec, "-p", "a")
        assert (told.status, told.out) == (0, "Half an\n")
        assert told.err.splitlines().count(sentence) == 1
        as_json = run("--model", server.spec, "-p", "b", "--json")
        assert (as_json.json["ended"], as_json.json["status"]) == (ended, "answered")
        assert sentence in as_json.err
        streamed = run("--model", server.spec, "-p", "c", "--output-format", "stream-json")
        assert lines(streamed.out)[-1]["ended"] == ended
        whole = run("--model", server.spec, "-c", "-p", "d", "--json")
        assert whole.json["ended"] == "stop"
        assert sentence not in whole.err
        sent = server.chats[3]["messages"]
    assert "Half an" in [message["content"] for message in sent if message["role"] == "assistant"]


@pytest.mark.parametrize("reason", ["tool_calls", "function_call"])
def test_calls_that_do_not_come_are_an_empty_answer(run: Run, reason: str) -> None:
    with ChatServer() as server:
        server.plays(stream(data(delta(reason)), data("[DONE]")))
        told = run("--model", server.spec, "-p", "a")
    assert (told.status, told.out, told.err.splitlines()[-1]) == (1, "", "The answer is empty.")
