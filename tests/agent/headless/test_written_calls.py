"""Calls that a model writes as text, and models in a loop, on the command line."""

import json
from pathlib import Path

import pytest

from agent.turn.tool_calls import PLAIN_WORDS
from tests.agent.conftest import Run
from tests.agent.headless.tool_answers import ChatServer, lines, of_type
from tests.loopback import chat, data, delta, stream

FENCED = '```json\n{"name": "read_file", "arguments": {"path": "notes.txt"}}\n```'
UNKNOWN = '{"name": "hello", "arguments": {}}'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notes.txt").write_text("The deadline is 1 March.\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("tool_calls", ["native", "text"])
@pytest.mark.parametrize("lead", ["", "I will read the file.\n"])
def test_a_call_in_a_fence_is_run_and_its_text_is_not_shown(
    run: Run, project: Path, lead: str, tool_calls: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALIMPSEST_MODELS_TOOL_CALLS", tool_calls)
    with ChatServer() as server:
        server.plays(chat(*(lead + FENCED)), chat("It is 1 March."))
        told = run("--model", server.spec, "-p", "When is the deadline?", "--output-format", "stream-json")
        sent = [post.json for post in server.posts if post.path.endswith("/completions")]
    assert told.status == 0, told.err
    results = of_type(lines(told.out), "tool_result")
    assert [result["name"] for result in results] == ["read_file"]
    assert "The deadline is 1 March." in json.dumps(sent[1]["messages"][-1])
    text = "".join(line["text"] for line in of_type(lines(told.out), "text"))
    assert text == f"{lead}It is 1 March."
    assert sent[1]["messages"][: len(sent[0]["messages"])] == sent[0]["messages"]


def test_a_call_in_an_explanation_is_shown_as_text(run: Run, project: Path) -> None:
    answer = f"Here is what a call looks like:\n\n{FENCED}\n\nThe arguments must fit the schema."
    with ChatServer() as server:
        server.plays(chat(*answer))
        told = run("--model", server.spec, "-p", "How do calls work?")
    assert (told.status, told.out) == (0, f"{answer}\n")


def test_a_call_of_a_tool_that_is_not_offered_is_corrected_once(run: Run, project: Path) -> None:
    with ChatServer() as server:
        server.plays(chat(UNKNOWN), chat("Hello! How can I help?"), chat("None."))
        told = run("--model", server.spec, "-p", "hello")
        again = run("--model", server.spec, "-p", "What did I say about the arguments of hello?")
        sent = [post.json["messages"] for post in server.posts if post.path.endswith("/completions")]
    assert (told.status, told.out) == (0, "Hello! How can I help?\n")
    correction = sent[1][-1]["content"]
    assert "There is no tool “hello”" in correction and correction.endswith(PLAIN_WORDS)
    assert sent[1][: len(sent[0])] == sent[0]
    assert again.status == 0
    assert "There is no tool" not in json.dumps(sent[2], ensure_ascii=False)  # nothing of it is recalled


def test_a_second_call_of_no_tool_ends_the_turn_with_a_line(run: Run, project: Path) -> None:
    with ChatServer() as server:
        server.plays(chat(UNKNOWN), chat(UNKNOWN))
        told = run("--model", server.spec, "-p", "hello")
    assert told.status == 1 and UNKNOWN not in told.out
    assert "No tool ran: the model wrote a call of “hello”, which is not offered." in told.err


@pytest.mark.parametrize("call", ['{"name": "read_fi', '<minimax:tool_call>\n<invoke name="read_file">\n<parameter'])
def test_a_call_that_the_length_limit_cuts_is_not_shown_and_a_line_says_so(run: Run, project: Path, call: str) -> None:
    with ChatServer() as server:
        server.plays(chat(*call, finish="length"), chat("None."))
        told = run("--model", server.spec, "-p", "When is the deadline?", "--json")
        run("--model", server.spec, "-p", "What was the name of the file with the deadline?")
        sent = [post.json["messages"] for post in server.posts if post.path.endswith("/completions")]
    assert (told.json["text"], told.json["ended"]) == ("", "cut_call")
    assert "No tool ran: the answer was cut off at the length limit, within a tool call." in told.err
    assert len(sent) == 2 and call not in json.dumps(sent[1])
    (shown, *_) = run("conversations", "list", "--json").json["conversations"]
    assert call not in json.dumps(run("conversations", "show", shown["id"], "--json").json)


def test_a_call_that_a_lost_connection_cuts_is_not_shown_and_a_line_says_so(run: Run, project: Path) -> None:
    with ChatServer() as server:
        server.plays(stream(*[data(delta(content=char)) for char in 'I look.\n{"name": "read_file", "argu']))
        told = run("--model", server.spec, "-p", "When is the deadline?", "--json")
    assert told.status == 1 and "read_file" not in told.out
    assert told.json["error"]["message"].endswith("The answer was cut off inside a tool call. No tool was run.")


def test_an_echo_of_the_prompt_gets_a_readable_correction(run: Run, project: Path) -> None:
    with ChatServer() as server:
        server.plays(chat("<tool_response>\nmade up\n</tool_response>"), chat("Hello."))
        told = run("--model", server.spec, "-p", "hello")
        (_, second) = [post.json["messages"] for post in server.posts if post.path.endswith("/completions")]
    assert (told.status, told.out) == (0, "Hello.\n")
    (call,) = second[-2]["tool_calls"]
    assert call["function"]["name"] and isinstance(json.loads(call["function"]["arguments"]), dict)


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
def test_a_model_in_a_loop_is_stopped_and_its_loop_stored_once(run: Run, project: Path, field: str) -> None:
    pieces = [data(delta(**{field: "Bees. "})) for _ in range(400)]
    with ChatServer() as server:
        server.plays(stream(data(delta(content="On bees: ")), *pieces, data(delta("length")), data("[DONE]")))
        told = run("--model", server.spec, "-p", "bees?", "--json")
    assert told.status == 1
    assert "The model repeated itself and was stopped" in told.err
    assert told.json["text"] == ("On bees: Bees." if field == "content" else "On bees:")
    (shown,) = run("conversations", "list", "--json").json["conversations"]
    answer = run("conversations", "show", shown["id"], "--json").json["entries"][-1]
    assert answer["text"] == told.json["text"] and json.dumps(answer).count("Bees") <= 1
    assert told.json["status"] == "failed"


def test_a_repetition_that_was_asked_for_is_whole(run: Run, project: Path) -> None:
    with ChatServer() as server:
        server.plays(chat(*["I will listen. "] * 80))
        told = run("--model", server.spec, "-p", "Write “I will listen.” 80 times")
    assert told.status == 0 and told.out.count("listen") == 80
