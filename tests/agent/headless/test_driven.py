"""`--input-format stream-json`: a program drives the session, line by line."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from agent.headless.driven import InputLine
from tests.agent.conftest import Run
from tests.agent.headless.tool_answers import ChatServer, Process, lines, of_type, started, tool_call
from tests.loopback import Stall, chat, data, delta, stream
from tests.paths import ROOT

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


class Driver:
    """The program under way: `says` writes a line, `until` reads lines up to one of this type."""

    def __init__(self, process: Process) -> None:
        self.process = process

    def says(self, *told: dict[str, Any] | str) -> None:
        assert self.process.stdin is not None
        for line in told:
            self.process.stdin.write((line if isinstance(line, str) else json.dumps(line)).encode() + b"\n")
        self.process.stdin.flush()

    def until(self, kind: str) -> dict[str, Any]:
        assert self.process.stdout is not None
        for raw in self.process.stdout:
            if (line := json.loads(raw))["type"] == kind:
                return line
        raise AssertionError(f"it ended without a line of type {kind}")

    def ends(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(30)


@pytest.fixture
def drive(run: Run, root: Path, server: ChatServer) -> Iterator[Callable[..., Driver]]:
    running: list[Process] = []

    def start(*words: str) -> Driver:
        flags = ("--model", server.spec, "-p", "--input-format", "stream-json", *words)
        running.append(process := started(root, *flags))
        return Driver(process)

    yield start
    for process in running:
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        process.wait()


def test_several_turns_in_one_process(drive: Callable[..., Driver], server: ChatServer) -> None:
    server.plays(chat("One."), chat("Two."))
    driver = drive()
    driver.says({"type": "user", "text": "first"})
    one = driver.until("result")
    driver.says({"type": "user", "text": "second"})
    two = driver.until("result")
    assert (one["text"], two["text"]) == ("One.", "Two.")
    assert one["conversation"] == two["conversation"]
    assert driver.ends() == 0


@pytest.mark.parametrize("granted", [True, False])
def test_the_program_answers_for_permission(
    drive: Callable[..., Driver], server: ChatServer, root: Path, granted: bool
) -> None:
    server.plays(tool_call("remember", note="Blue tea."), chat("So."))
    driver = drive()
    driver.says({"type": "user", "text": "note the tea"})
    request = driver.until("permission_request")
    assert request["tool"] == "remember"
    assert request["detail"] == "Blue tea."
    driver.says({"type": "permission", "id": request["id"], "granted": granted, "reason": "not in the afternoon"})
    outcome = driver.until("permission")
    assert (outcome["granted"], outcome["by"]) == (granted, "answer")
    result = driver.until("tool_result")
    assert ("Remembered as" in result["text"]) is granted
    assert granted or "not in the afternoon" in result["text"]
    if granted:
        version = driver.until("version")
        assert (version["path"], version["number"] > 0) == ("MEMORY.md", True)
        assert version["reason"]
    assert driver.until("result")["status"] == ("answered" if granted else "denied")
    assert driver.ends() == (0 if granted else 3)
    assert ("Blue tea." in (root / "MEMORY.md").read_text()) is granted


@pytest.mark.parametrize("granted", [True, False])
def test_the_program_answers_for_a_file_outside_the_project(
    drive: Callable[..., Driver], server: ChatServer, tmp_path_factory: pytest.TempPathFactory, granted: bool
) -> None:
    outside = tmp_path_factory.mktemp("elsewhere") / "茶 tea.txt"
    outside.write_text("The tea is blue.", encoding="utf-8")
    server.plays(chat("So."), chat("Again."))
    driver = drive()
    message = {"type": "user", "text": f'read @"{outside}"'}
    driver.says(message)
    request = driver.until("permission_request")
    assert (request["tool"], request["access"], request["subject"]) == ("attach_file", "read", str(outside))
    driver.says({"type": "permission", "id": request["id"], "granted": granted, "scope": "session"})
    outcome = driver.until("permission")
    assert (outcome["id"], outcome["granted"], outcome["by"]) == (request["id"], granted, "answer")
    assert driver.until("result")["text"] == "So."
    assert ("The tea is blue." in json.dumps(server.chats[0])) is granted
    if granted:  # it is remembered for the session
        driver.says(message)
        assert driver.until("result")["text"] == "Again."
    assert driver.ends() == 0


def test_a_stop_at_the_question_on_a_file_sends_nothing(
    drive: Callable[..., Driver], server: ChatServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("elsewhere") / "tea.txt"
    outside.write_text("The tea is blue.", encoding="utf-8")
    server.plays(chat("So."))
    driver = drive()
    driver.says({"type": "user", "text": f"read @{outside}"})
    driver.until("permission_request")
    driver.says({"type": "stop"})
    assert "was not sent" in driver.until("error")["error"]["message"]
    driver.says({"type": "user", "text": "and now?"})
    assert driver.until("result")["text"] == "So."
    assert len(server.chats) == 1
    assert driver.ends() == 0


def test_a_file_outside_is_left_out_where_the_input_ends_before_the_answer(
    drive: Callable[..., Driver], server: ChatServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("elsewhere") / "tea.txt"
    outside.write_text("The tea is blue.", encoding="utf-8")
    server.plays(chat("So."))
    driver = drive()
    driver.says({"type": "user", "text": f"read @{outside}"})
    driver.until("permission_request")
    assert driver.ends() == 0
    assert "The tea is blue." not in json.dumps(server.chats[0])


def test_a_wrong_line_is_reported_and_the_next_is_taken(drive: Callable[..., Driver], server: ChatServer) -> None:
    server.plays(chat("Here."))
    driver = drive()
    wrong = ["{oops", "[]", '{"type": "dance"}', '{"type": "user"}', '{"type": "user", "text": " "}', '"\\ud800"']
    driver.says(*wrong, {"type": "permission", "id": "call_none", "granted": True}, "")
    problems = [driver.until("error")["error"] for _ in range(len(wrong) + 1)]
    assert [problem["message"].split(":")[0] for problem in problems] == [f"Line {n}" for n in range(1, 8)]
    assert {problem["code"] for problem in problems} == {"input"}
    driver.says({"type": "user", "text": "still there?"})
    assert driver.until("result")["text"] == "Here."
    assert driver.ends() == 0


def test_stop_ends_the_turn_and_returns_what_waits(drive: Callable[..., Driver], server: ChatServer) -> None:
    server.plays(stream(data(delta(content="So far ")), Stall()), chat("Anew."))
    driver = drive()
    driver.says({"type": "user", "text": "go on and on"})
    driver.until("text")
    driver.says({"type": "user", "text": "and then"}, {"type": "stop"})
    assert driver.until("unsent")["text"] == "and then"
    assert driver.until("result")["status"] == "stopped"
    driver.says({"type": "user", "text": "again"})
    assert driver.until("result")["text"] == "Anew."
    assert driver.ends() == 0


def test_a_message_that_steers_goes_into_the_running_turn(drive: Callable[..., Driver], server: ChatServer) -> None:
    server.plays(stream(data(delta(content="Black tea ")), Stall()), chat("Green tea."), chat("Next."))
    driver = drive()
    driver.says({"type": "user", "text": "which tea?"})
    assert driver.until("user")["steers"] is False
    driver.until("text")
    driver.says({"type": "user", "text": "and then"}, {"type": "user", "text": "only green ones", "steer": True})
    assert driver.until("user")["steers"] is True
    assert driver.until("result")["text"] == "Green tea."
    assert driver.until("user")["steers"] is False
    assert driver.until("result")["text"] == "Next."
    assert driver.ends() == 0


def test_a_stop_declines_an_open_request(drive: Callable[..., Driver], server: ChatServer) -> None:
    server.plays(tool_call("remember", note="Blue tea."), chat("never"))
    driver = drive()
    driver.says({"type": "user", "text": "note the tea"})
    driver.until("permission_request")
    driver.says({"type": "stop"})
    assert driver.until("result")["status"] == "stopped"
    assert driver.ends() == 130


def test_the_program_answers_questions(drive: Callable[..., Driver], server: ChatServer) -> None:
    server.plays(tool_call("ask_user", question="Which tea?", options=["green", "black"]), chat("Green it is."))
    driver = drive()
    driver.says({"type": "user", "text": "make tea"})
    asked = driver.until("question")
    assert asked["text"] == "Which tea?"
    assert asked["options"] == ["green", "black"]
    driver.says({"type": "answer", "id": "c_none", "text": "x"}, {"type": "answer", "id": asked["id"], "text": "green"})
    assert driver.until("error")["error"]["title"] == "No such question"
    assert "green" in driver.until("tool_result")["text"]
    assert driver.until("result")["status"] == "answered"
    assert driver.ends() == 0


def test_the_end_of_input_declines_and_ends_after_the_turn(drive: Callable[..., Driver], server: ChatServer) -> None:
    server.plays(tool_call("remember", note="Blue tea."), chat("Not noted."))
    driver = drive()
    driver.says({"type": "user", "text": "note the tea"})
    driver.until("permission_request")
    assert driver.process.stdin is not None
    driver.process.stdin.close()
    assert driver.until("permission")["by"] == "nobody"
    assert driver.until("result")["text"] == "Not noted."
    assert driver.process.wait(30) == 3


def test_all_of_a_file_is_answered(run: Run, server: ChatServer) -> None:
    server.plays(chat("One."), chat("Two."), chat("Three."))
    messages = [{"type": "user", "text": "b"}, {"type": "user", "text": "c"}]
    stdin = "\n".join(map(json.dumps, messages)).encode()  # the last line has no end
    said = run("--model", server.spec, "-p", "--input-format", "stream-json", "a", stdin=stdin)
    assert said.status == 0
    assert [line["text"] for line in of_type(lines(said.out), "result")] == ["One.", "Two.", "Three."]


def test_a_line_without_end_is_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.headless.driven.MOST_INPUT", 1_000)
    stdin = b'{"type": "user", "text": "' + b"x" * 300_000 + b'"}\n{"type": "user", "text": "hello"}\n'
    said = run("-p", "--input-format", "stream-json", stdin=stdin)
    told = lines(said.out)
    assert next(of_type(told, "error"))["error"]["title"] == "Too large"
    assert told[-1]["type"] == "result"


def test_it_answers_in_stream_json_alone(run: Run) -> None:
    assert run("-p", "--input-format", "stream-json", "--output-format", "json", stdin=b"").status == 2
    assert run("-p", "--input-format", "stream-json", stdin=b"").status == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signal to one process")
def test_sigterm_ends_it_with_a_result(drive: Callable[..., Driver], server: ChatServer) -> None:
    server.plays(stream(data(delta(content="So far ")), Stall()))
    driver = drive()
    driver.says({"type": "user", "text": "go on"})
    driver.until("text")
    driver.process.send_signal(signal.SIGTERM)
    assert driver.until("result")["status"] == "stopped"
    assert driver.process.wait(30) == 143


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signal to one process")
def test_sigterm_between_turns_ends_it(drive: Callable[..., Driver], server: ChatServer) -> None:
    server.plays(chat("One."))
    driver = drive()
    driver.says({"type": "user", "text": "first"})
    driver.until("result")
    driver.process.send_signal(signal.SIGTERM)
    assert driver.process.wait(30) == 143


@pytest.mark.parametrize(
    "line",
    [
        {"type": "user", "text": "x", "skill": "review"},
        {"type": "user", "text": "x", "steer": True},
        {"type": "permission", "id": "c", "granted": False, "scope": "session", "reason": "no"},
        {"type": "answer", "id": "c", "text": "the second"},
        {"type": "stop"},
    ],
)
def test_the_schema_of_the_input_is_what_is_read(line: dict[str, Any]) -> None:
    schema = json.loads((ROOT / "docs/json/input.schema.json").read_text())
    Draft202012Validator(schema).validate(line)
    msgspec.convert(line, InputLine)


def test_input_without_one_usable_line_is_misuse(drive: Callable[..., Driver]) -> None:
    driver = drive()
    driver.says('{"type": "user", "message": {"content": "hello"}}')
    assert driver.until("error")["error"]["title"] == "Not understood"
    assert driver.ends() == 2


def test_input_without_a_line_is_no_failure(drive: Callable[..., Driver]) -> None:
    assert drive().ends() == 0
