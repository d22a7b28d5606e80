"""Providers end to end: what they attach survives a restart, what broke off is not an answer, reasoning is no text."""

import json
from typing import Any

import pytest

from tests.agent.conftest import Run
from tests.agent.headless.tool_answers import ChatServer
from tests.loopback import Reply, chat, data, delta, stream

SIGNATURE = "EjQKMgEMabc+/=AKIA" * 8
GEMINI = {"extra_content": {"google": {"thought_signature": SIGNATURE}}}


def signed_call(id_: str, reasoning: str = "I look first.", **more: Any) -> Reply:
    function = {"name": "read_file", "arguments": '{"path": "a.txt"}'}
    call = {"index": 0, "id": id_, "type": "function", "function": function} | GEMINI
    chunks = [delta(reasoning_content=reasoning), delta(tool_calls=[call], **more), delta("tool_calls")]
    return stream(*map(data, chunks), data("[DONE]"))


def with_calls(chat_request: Any) -> list[Any]:
    return [message for message in chat_request["messages"] if message.get("tool_calls")]


def test_what_a_provider_attached_goes_back_in_the_turn_and_after_a_restart(run: Run) -> None:
    with ChatServer() as server:
        server.plays(signed_call("functions.read_file:0"), chat("Seven."), chat("Yes."))
        assert run("--model", server.spec, "--mode", "auto", "-p", "what is in a.txt?").out == "Seven.\n"
        assert run("--model", server.spec, "-c", "-p", "sure?").out == "Yes.\n"
        in_turn, later = (with_calls(request)[0] for request in server.chats[1:])
        assert in_turn == later, "an entry is sent in one form"
        assert later["reasoning_content"] == "I look first."
        assert later["tool_calls"][0]["extra_content"]["google"]["thought_signature"] == SIGNATURE
        assert later["tool_calls"][0]["id"] == "functions.read_file:0"
        messages = [request["messages"] for request in server.chats[1:]]
        assert messages[1][: len(messages[0])] == messages[0]


def test_another_provider_gets_none_of_it(run: Run) -> None:
    with ChatServer() as server, ChatServer() as other:
        server.plays(signed_call("functions.read_file:0"), chat("Seven."), chat("Again."))
        assert run("--model", server.spec, "--mode", "auto", "-p", "what is in a.txt?").out == "Seven.\n"
        other.plays(chat("Elsewhere."))
        assert run("--model", other.spec, "-c", "-p", "and you?").status == 0
        foreign = json.dumps(other.chats[0])
        assert SIGNATURE not in foreign and "I look first" not in foreign and "functions.read_file" not in foreign
        assert run("--model", server.spec, "-c", "-p", "back").out == "Again.\n"
        assert with_calls(server.chats[2])[0] == with_calls(server.chats[1])[0]


def test_reasoning_with_a_secret_is_not_sent_back_under_its_signature(run: Run) -> None:
    secret = "ghp" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    details = [{"type": "reasoning.text", "text": f"The token is {secret}.", "signature": SIGNATURE, "index": 0}]
    with ChatServer() as server:
        server.plays(signed_call("call_1", "", reasoning_details=details), chat("Seven."))
        assert run("--model", server.spec, "--mode", "auto", "-p", "what is in a.txt?").status == 0
        sent = with_calls(server.chats[1])[0]
    assert "reasoning_details" not in sent
    assert sent["tool_calls"][0]["extra_content"] == GEMINI["extra_content"]
    assert secret not in json.dumps(server.chats[1])


def test_an_answer_that_broke_off_is_kept_and_is_no_answer(run: Run) -> None:
    with ChatServer() as server:
        chunks = [delta(content="The first step"), delta("insufficient_system_resource")]
        server.plays(stream(*map(data, chunks), data("[DONE]")))
        told = run("--model", server.spec, "-p", "name the steps")
    assert (told.status, told.out) == (1, "The first step\n")
    assert "insufficient_system_resource" in told.err
    shown = run("conversations", "list", "--json").json["conversations"][0]
    answer = run("conversations", "show", shown["id"], "--json").json["entries"][-1]
    assert answer["text"] == "The first step"
    assert "'failed': 'cut_off'" in str(answer)


@pytest.mark.parametrize("thought", ["I choose blue.", "```\nblue\n```\nSo blue."])
def test_reasoning_before_a_bare_closing_tag_is_no_answer(run: Run, thought: str) -> None:
    with ChatServer() as server:
        server.plays(chat(thought[:6], thought[6:], "\n</think>\n\n", "Blue."), chat("Yes."))
        assert run("--model", server.spec, "-p", "a colour?").out == "Blue.\n"
        assert run("--model", server.spec, "-c", "-p", "sure?").status == 0
        assert "think" not in json.dumps(server.chats[1]) and thought not in json.dumps(server.chats[1])
    assert thought not in run("search", "blue").out


def test_a_key_that_cannot_be_sent_is_never_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_OPENAI_KEY", "sk-äbcdefghij")
    with ChatServer() as server:
        told = run("--model", server.spec, "-p", "hi")
        assert not server.chats
    assert told.status == 1
    assert "PALIMPSEST_OPENAI_KEY" in told.err
    assert "bcdefghij" not in told.err + told.out
