"""MCP servers that hang, flood, die and answer with oddities: each fails alone, with a sentence."""

import json
import re
import sys
import threading
import time
from pathlib import Path

import pytest

from agent.mcp.settings import McpSettings
from agent.tools.port import ToolFailure
from tests.hostile.mcp.conftest import Hostile, good_still_answers

pytestmark = pytest.mark.timeout(30)

FAILS_AT_START = {
    "exits": "exited with status 3",
    "exits_with_words": "cannot find the database",
    "closes_output": "exited|closed",
    "silent": "did not start within 5 s",
    "silent_and_stubborn": "did not start within 5 s",
    "endless_line": "more than 8 MB",
    "endless_lines": "messages or 8 MB a second|did not start",
    "endless_json": "messages or 8 MB a second|did not start",
    "handshake_hangs": "did not start within 5 s",
    "handshake_fails": "not today",
    "odd_handshake": "invalid",
    "unknown_version": "^uses an unsupported version of MCP: 1999-01-01$",
    "list_hangs": "did not start within 5 s",
    "list_fails": "no list",
    "list_of_text": "invalid",
    "list_nested_too_deep": "^answered: unreadable data",
    "number_name": "invalid",
    "no_schema": "invalid",
    "schema_of_an_array": "invalid",
    "schema_of_anything": "invalid",
}


@pytest.mark.parametrize("behaviour", FAILS_AT_START)
def test_a_server_that_cannot_be_used_fails_alone_and_says_why(behaviour: str, hostile: Hostile) -> None:
    running = hostile(behaviour)
    for _ in range(100):
        state, error = running.state("bad")
        if state == "failed":
            break
        time.sleep(0.1)
    assert state == "failed"
    assert re.search(FAILS_AT_START[behaviour], error), error
    assert len(error) < 3_000
    assert not re.search("Error|Exception", error), error
    assert not any(name.startswith("bad__") for name in running.tools)
    good_still_answers(running)


@pytest.mark.parametrize(
    "behaviour",
    ["banner", "not_utf8", "escapes", "nested_json", "stderr_flood", "grandchild", "ignores_sigterm", "no_tools"],
)
def test_noise_at_the_start_changes_nothing(behaviour: str, hostile: Hostile) -> None:
    running = hostile(behaviour)
    assert running.state("bad") == ("ready", "")
    if behaviour != "no_tools":
        assert running.call("bad__echo", text="hello") == "hello"
    good_still_answers(running)


def test_programs_that_cannot_be_started_fail_with_their_names(hostile: Hostile, tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("no program")
    running = hostile(
        "good",
        servers={
            "missing": {"command": "no-such-program-anywhere"},
            "data": {"command": str(tmp_path / "data.txt")},
            "nowhere": {"command": sys.executable, "cwd": "/no/such/folder"},
            "variable": {"command": "${NO_SUCH_VARIABLE}"},
            "null": {"command": "a\0b"},
        },
    )
    assert running.state("missing") == ("failed", "cannot be started: no-such-program-anywhere not found")
    assert "ermission denied" in running.state("data")[1]
    assert "/no/such/folder" in running.state("nowhere")[1]
    assert "NO_SUCH_VARIABLE" in running.state("variable")[1]
    assert running.state("null")[0] == "invalid"


CALLS_THAT_FAIL = {
    "call_hangs": "did not respond within 1.5 s",
    "call_hangs_and_ignores_sigterm": "did not respond within 1.5 s",
    "dies": "exited with status .*segmentation fault of sorts.*The call may still have had effects",
    "stops_reading": "did not respond within 1.5 s",
    "huge": "more than 8 MB",
    "nested_result": "answered with an error: unreadable data",
    "result_of_numbers": "no result of a tool call|invalid",
    "result_missing": "answered with an error: unreadable data",
    "neither": "no result of a tool call|invalid|did not respond",
    "odd_content": "no result of a tool call|invalid",
    "fails": "it failed it failed",
    "error_of_text": "error|invalid|did not respond",
    "is_error": "line\nline",
    "endless_progress": "did not respond within 1.5 s|messages or 8 MB",
}


@pytest.mark.parametrize("behaviour", CALLS_THAT_FAIL)
def test_a_call_that_fails_says_why_and_the_next_turn_goes_on(behaviour: str, hostile: Hostile) -> None:
    running = hostile(behaviour)
    with pytest.raises(ToolFailure) as failure:
        running.call("bad__echo", text="x" * 100_000 if behaviour == "stops_reading" else "x")
    assert re.search(CALLS_THAT_FAIL[behaviour], failure.value.message, re.DOTALL), failure.value.message[:500]
    if behaviour != "is_error":  # a result of the tool, which the output bound keeps whole
        assert len(failure.value.message) < 3_000
    good_still_answers(running)


CALLS_THAT_WORK = {
    "twice": "first",
    "wrong_id": "hello",
    "progress_flood": "hello",
    "odd_notifications": "hello",
    "asks_for_everything": "hello",
    "endless_changes": "hello",
    "read_only_hint": "hello",
    "result_of_nothing": "(the tool gave nothing)",
    "dies_once": None,
}


@pytest.mark.parametrize("behaviour", [name for name, result in CALLS_THAT_WORK.items() if result])
def test_a_call_is_answered_whatever_is_sent_beside_it(behaviour: str, hostile: Hostile) -> None:
    running = hostile(behaviour)
    assert running.call("bad__echo", text="hello") == CALLS_THAT_WORK[behaviour]
    assert len(running.progress) <= 200
    assert all(len(line) <= 201 and "\x1b" not in line for line in running.progress)
    good_still_answers(running)


@pytest.mark.parametrize("behaviour", ["surrogates", "odd_numbers", "text_id"])
def test_odd_json_is_read_or_refused_and_breaks_nothing(behaviour: str, hostile: Hostile) -> None:
    running = hostile(behaviour)
    try:
        running.call("bad__echo").encode()
    except ToolFailure as failure:
        failure.message.encode()
    good_still_answers(running)


def test_a_large_result_is_whole(hostile: Hostile) -> None:
    result = hostile("large").call("bad__echo")
    assert len(result) > 294_000
    assert result.splitlines()[13_999] == "row 13999 of the answer"


def test_every_kind_of_content_is_given_or_named(hostile: Hostile) -> None:
    lines = hostile("all_content").call("bad__echo").splitlines()
    assert lines[0] == "words"
    assert "[image, image/png, 0.3 kB: not shown, and not kept]" in lines
    assert "[link to a resource: a link file:///a]" in lines
    assert lines[lines.index("[resource file:///b]") + 1] == "of a resource"
    assert json.loads("".join(lines[-3:])) == {"answer": 42}


def test_a_pattern_of_an_output_schema_is_not_matched(hostile: Hostile) -> None:
    assert "ok" in hostile("slow_pattern").call("bad__echo")


def test_a_server_that_died_is_started_again_a_few_times_only(hostile: Hostile) -> None:
    running = hostile("dies_always")
    messages = []
    for _ in range(4):
        with pytest.raises(ToolFailure) as failure:
            running.call("bad__echo")
        messages.append(failure.value.message)
    assert all("The call may still have had effects" in message for message in messages[:3])
    assert "exited 3 times and is not restarted" in messages[3]
    notices = running.take()
    assert "cannot be used" in notices[0]
    assert "removed: bad__echo" in notices[1]
    good_still_answers(running)


def test_a_server_that_died_once_answers_the_next_call(hostile: Hostile) -> None:
    running = hostile("dies_once")
    with pytest.raises(ToolFailure):
        running.call("bad__echo")
    assert running.state("bad")[0] == "stopped"
    assert running.take() == ()  # its tools stay
    assert running.call("bad__echo", text="again") == "again"


def test_stopping_the_turn_ends_the_call(hostile: Hostile) -> None:
    running = hostile("call_hangs", settings=McpSettings(call_seconds=600, start_seconds=5))
    threading.Timer(0.3, running.stopped.set).start()
    with pytest.raises(ToolFailure, match="stopped"):
        running.call("bad__echo")
