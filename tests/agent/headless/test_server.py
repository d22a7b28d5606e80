"""Headless answers from a server on loopback: every kind of event, a cut in the middle, Ctrl+C."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.conftest import Run
from tests.loopback import Cut, Loopback, Reply, Stall, chat, data, delta, json_reply, stream, varied

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


class ChatServer(Loopback):
    """Plays its script to chat requests alone; whatever else it is asked, it does not know."""

    def plays(self, *replies: Reply) -> None:
        script = iter(replies)
        unknown = json_reply({"error": {"message": "unknown"}}, status=404)
        self.answers_all(lambda asked: next(script) if asked.path.endswith("/chat/completions") else unknown)

    @property
    def last_asked(self) -> str:
        chats = [post.json for post in self.posts if post.path.endswith("/chat/completions")]
        return chats[-1]["messages"][-1]["content"]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


def spec(server: ChatServer) -> str:
    return f"openai:m@{server.address}/v1"


def lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_the_words_come_as_they_were_streamed(run: Run, server: ChatServer) -> None:
    server.plays(chat("Hel", "lo 世", "界\n", prompt_tokens=9))
    said = run("--model", spec(server), "-p", "hi", "--output-format", "stream-json")
    told = lines(said.out)
    assert [line["type"] for line in told] == ["user", "text", "text", "text", "usage", "result"]
    assert told[-1]["text"] == "Hello 世界\n"
    assert told[-1]["usage"]["prompt_tokens"] == 9
    assert "hi" in server.last_asked


def test_reasoning_is_told_apart(run: Run, server: ChatServer) -> None:
    server.plays(
        stream(data(delta(reasoning_content="hm")), data(delta(content="yes")), data(delta("stop")), data("[DONE]"))
    )
    told = lines(run("--model", spec(server), "-p", "hi", "--output-format", "stream-json").out)
    assert {"schema": 1, "type": "reasoning", "text": "hm"} in told
    assert told[-1]["text"] == "yes"


def test_a_tool_is_called_and_one_that_asks_is_declined(run: Run, server: ChatServer) -> None:
    run("remember", "The boiler is serviced in May.")
    searches = _call("search_memory", {"query": "boiler"})
    remembers = _call("remember", {"note": "planted"})
    server.plays(searches, remembers, chat("In May."))
    said = run("--model", spec(server), "-p", "boiler?", "--output-format", "stream-json", "--json")
    # the model of a server that does not say so is offered no tools; a call that comes anyway is answered
    told = lines(said.out)
    calls = [line for line in told if line["type"] == "tool_call"]
    results = [line for line in told if line["type"] == "tool_result"]
    assert [line["name"] for line in calls] == ["search_memory", "remember"]
    assert "May" in results[0]["text"]
    assert results[1]["failed"]
    assert results[1]["text"] == "Not done: add to MEMORY.md: “planted”. Nobody could be asked for permission."
    assert "Declined" in said.err
    assert told[-1]["text"] == "In May."
    assert "planted" not in run("memory", "list").out


def test_a_stream_that_is_cut_keeps_what_came(run: Run, server: ChatServer) -> None:
    server.plays(stream(data(delta(content="Half of ")), data(delta(content="it")), Cut()))
    said = run("--model", spec(server), "-p", "hi", "--output-format", "stream-json")
    told = lines(said.out)
    assert said.status == 1
    assert told[-1]["type"] == "error"
    assert told[-1]["error"]["code"] == "cut_off"
    shown = run("conversations", "list", "--json").json["conversations"][0]["id"]
    entries = run("conversations", "show", shown, "--json").json["entries"]
    assert entries[-1]["text"] == "Half of it"
    so_far = {"text": "Half of it", "conversation": shown, "entry": entries[-1]["id"]}
    assert told[-1]["error"] == told[-1]["error"] | so_far


def test_one_object_holds_what_came_of_a_stream_that_is_cut(run: Run, server: ChatServer) -> None:
    server.plays(stream(data(delta(content="Half of it")), Cut()))
    error = run("--model", spec(server), "-p", "hi", "--output-format", "json").json["error"]
    entries = run("conversations", "show", error["conversation"], "--json").json["entries"]
    assert (error["code"], error["text"]) == ("cut_off", "Half of it")
    assert (entries[-1]["id"], entries[-1]["text"]) == (error["entry"], error["text"])


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to one process")
def test_ctrl_c_stops_the_answer_keeps_it_and_is_130(run: Run, root: Path, server: ChatServer) -> None:
    server.plays(stream(data(delta(content="So far ")), Stall()))
    words = ["--workspace", str(root), "--model", spec(server), "-p", "hi", "--output-format", "stream-json"]
    with subprocess.Popen(
        [sys.executable, "-m", "agent.cli", *words], cwd=root.parent, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        seen = [json.loads(process.stdout.readline())["type"] for _ in range(2)]
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read().splitlines()
    assert seen == ["user", "text"]
    assert process.returncode == 130
    assert json.loads(rest[-1])["stopped"]
    shown = run("conversations", "list", "--json").json["conversations"][0]["id"]
    assert run("conversations", "show", shown, "--json").json["entries"][-1]["text"] == "So far "


def test_a_reader_that_leaves_stops_the_answer_quietly(run: Run, root: Path, server: ChatServer) -> None:
    server.plays(
        stream(*(data(delta(content=varied("word ", 1000))) for _ in range(50)), data(delta("stop")), data("[DONE]"))
    )
    words = ["--workspace", str(root), "--model", spec(server), "-p", "hi"]
    with subprocess.Popen(
        [sys.executable, "-m", "agent.cli", *words], cwd=root.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def _call(name: str, arguments: dict[str, Any]) -> Any:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call_{name}", "type": "function", "function": function}
    return stream(data(delta(tool_calls=[call])), data(delta("tool_calls")), data("[DONE]"))
