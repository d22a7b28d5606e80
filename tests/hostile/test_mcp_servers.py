"""MCP servers that hang, flood, die, lie and change: each fails alone, with a sentence, and leaves no process.

A server that behaves runs beside each of them, and still answers afterwards. The time limit of a test is the bound of
what a server may cost.
"""

import asyncio
import gc
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.mcp.configuration import McpConfiguration
from agent.mcp.consent import ConsentStore
from agent.mcp.server_spec import ServerSource, configured_server
from agent.mcp.servers import McpServers
from agent.mcp.settings import McpSettings
from agent.permissions.action import Access, PermissionAnswer, Scope
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet, Verdict
from agent.tools.port import ToolFailure, ToolRun
from tests.agent.mcp.conftest import SERVERS, Running

SETTINGS = McpSettings(start_seconds=5.0, wait_seconds=15.0, call_seconds=1.5, restarts=2)
TOKEN = "tok-0123456789abcdef"
pytestmark = pytest.mark.timeout(30)

Hostile = Callable[..., Running]


def definition(behaviour: str, state: Path) -> dict[str, Any]:
    words = ["-S", str(SERVERS / "raw_server.py"), behaviour, str(state)]
    return {"command": sys.executable, "args": words, "env": {"THE_TOKEN": TOKEN}}


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Hostile]:
    """`hostile("dies")`: that server as `bad`, one that behaves as `good`, both started. No process may be left."""
    opened: list[McpServers] = []
    state = tmp_path / "state-of-the-server"

    def make(behaviour: str, **options: Any) -> Running:
        raw = {"bad": definition(behaviour, state), "good": definition("good", state), **options.pop("servers", {})}
        configured = tuple(
            configured_server(name, fields, ServerSource.USER, str(tmp_path)) for name, fields in raw.items()
        )
        tokens = options.pop("tokens", 3_000)
        settings = options.pop("settings", SETTINGS)
        servers = McpServers(
            McpConfiguration(configured),
            settings,
            {**os.environ, **options},
            ConsentStore(tmp_path / "user-config"),
            definition_tokens=tokens,
        )
        opened.append(servers)
        return Running(servers).start()

    yield make
    for servers in opened:
        assert Running(servers).state("good")[0] == "ready"
        servers.close()
    for _ in range(40):  # a killed process ends in its own time
        if not processes_with(str(state)):
            break
        time.sleep(0.05)
    assert not processes_with(str(state))


def processes_with(argument: str) -> list[str]:
    """The command lines of processes that have the argument; only Linux tells."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if argument in line:
            found.append(line)
    return found


def good_still_answers(running: Running) -> None:
    running.take()
    assert running.call("good__echo", text="still here") == "still here"


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
    "unknown_version": "version",
    "list_hangs": "did not start within 5 s",
    "list_fails": "no list",
    "list_of_text": "invalid",
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
    assert running.state("missing") == ("failed", "cannot be started: there is no no-such-program-anywhere")
    assert "ermission denied" in running.state("data")[1]
    assert "/no/such/folder" in running.state("nowhere")[1]
    assert "NO_SUCH_VARIABLE" in running.state("variable")[1]
    assert running.state("null")[0] == "invalid"


CALLS_THAT_FAIL = {
    "call_hangs": "gave no answer within 1.5 s",
    "call_hangs_and_ignores_sigterm": "gave no answer within 1.5 s",
    "dies": "exited with status .*segmentation fault of sorts.*may have had effects",
    "stops_reading": "gave no answer within 1.5 s",
    "huge": "more than 8 MB",
    "nested_result": "gave no answer|no result|exited",
    "result_of_numbers": "no result of a tool call|invalid",
    "result_missing": "no result of a tool call|invalid|gave no answer",
    "neither": "no result of a tool call|invalid|gave no answer",
    "odd_content": "no result of a tool call|invalid",
    "fails": "it failed it failed",
    "error_of_text": "error|invalid|gave no answer",
    "is_error": "line\nline",
    "endless_progress": "gave no answer within 1.5 s|messages or 8 MB",
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
    assert all("may have had effects" in message for message in messages[:3])
    assert "ended 3 times and is not started again" in messages[3]
    notices = running.take()
    assert "cannot be used" in notices[0]
    assert "gone: bad__echo" in notices[1]
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


# Definitions


@pytest.mark.parametrize(
    ("behaviour", "notice"),
    [("many_tools", "of 500 tools are offered"), ("long_description", ""), ("long_schema", "shortened")],
)
def test_definitions_cost_no_more_than_their_budget(behaviour: str, notice: str, hostile: Hostile) -> None:
    running = hostile(behaviour, tokens=2_000)
    status = next(status for status in running.servers.statuses() if status.name == "bad")
    assert 0 < status.tokens <= 2_000
    assert notice in status.notice
    good_still_answers(running)


@pytest.mark.parametrize(
    "behaviour",
    [
        *("same_names", "odd_names", "nested_schema", "remote_reference", "injected_description", "endless_pages"),
    ],
)
def test_definitions_are_such_as_model_servers_take(behaviour: str, hostile: Hostile) -> None:
    running = hostile(behaviour)
    tools = [tool for name, tool in running.tools.items() if name.startswith("bad__")]
    assert tools
    for tool in tools:
        definition = tool.definition
        assert 0 < len(definition.name) <= 64
        assert set(definition.name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
        assert definition.parameters["type"] == "object"
        assert isinstance(definition.parameters["properties"], dict)
        written = json.dumps(definition.parameters) + definition.description
        assert not any(mark in written for mark in ("\x1b", "\u202e", "<|im_start|>", "</palimpsest", "http://"))
    good_still_answers(running)


def test_a_hint_of_the_server_gives_no_permission(hostile: Hostile) -> None:
    action = hostile("read_only_hint").tools["bad__echo"].action({})
    assert action.access is Access.NETWORK
    assert Policy(RuleSet()).decide(action).verdict is Verdict.ASK


def changed_turn(running: Running) -> tuple[str, ...]:
    """Waits for the list of tools that the server announced; gives the notices of the next turn."""
    for _ in range(80):
        if notices := running.take():
            return notices
        time.sleep(0.1)
    return ()


def test_a_changed_tool_is_noticed_asks_again_and_loses_its_permission(hostile: Hostile) -> None:
    running = hostile("changes")
    rules = RuleSet()
    policy = Policy(rules)
    tool = running.tools["bad__echo"]
    action = tool.action({"text": "a"})
    policy.remember(action, PermissionAnswer(granted=True, scope=Scope.SESSION))
    assert policy.decide(tool.action({"text": "b"})).verdict is Verdict.ALLOW
    running.call("bad__echo")
    assert running.tools["bad__echo"].definition.description == "Echoes."  # within the turn nothing changes
    for _ in range(80):
        changes = running.servers.take_tools()
        if changes.changed:
            break
        time.sleep(0.1)
    assert changes.changed == ("bad__echo",)
    assert "changed: bad__echo" in changes.notices[0]
    rules.forget(changes.changed)
    after = next(tool for tool in changes.tools if tool.definition.name == "bad__echo")
    assert "sends your keys" in after.definition.description
    decision = policy.decide(after.action({"text": "c"}))
    assert decision.verdict is Verdict.ASK
    assert decision.asks_always


@pytest.mark.parametrize(
    ("behaviour", "notice"), [("adds_tools", "new: bad__new"), ("removes_tools", "gone: bad__echo")]
)
def test_tools_that_come_and_go_change_with_the_next_turn(behaviour: str, notice: str, hostile: Hostile) -> None:
    running = hostile(behaviour)
    running.call("bad__echo")
    assert notice in changed_turn(running)[0]
    good_still_answers(running)


def test_a_tool_that_is_another_after_a_restart_is_a_changed_tool(hostile: Hostile) -> None:
    running = hostile("changes_at_restart")
    running.servers.restart("bad")
    assert "changed: bad__echo" in running.take()[0]


# Secrets


@pytest.mark.parametrize("behaviour", ["secret_echo", "secret_error", "secret_in_last_words"])
def test_values_of_the_configuration_appear_nowhere(
    behaviour: str, hostile: Hostile, capfd: pytest.CaptureFixture[str]
) -> None:
    running = hostile(behaviour)
    try:
        output = running.call("bad__echo")
    except ToolFailure as failure:
        output = failure.message
    running.progress.append(output)
    shown = "".join([*running.progress, repr(running.servers.statuses()), *running.take()])
    assert TOKEN not in shown
    assert "redacted" in shown
    assert TOKEN not in "".join(capfd.readouterr())


def test_nothing_of_a_server_reaches_the_terminal(hostile: Hostile, capfd: pytest.CaptureFixture[str]) -> None:
    running = hostile("escapes")
    running.call("bad__echo")
    running.servers.close()
    assert capfd.readouterr() == ("", "")
    hostile("good")  # for the end of the fixture


def test_many_at_once_start_side_by_side(hostile: Hostile, tmp_path: Path) -> None:
    state = tmp_path / "state-of-the-server"
    bad = {f"bad{n}": definition("silent", state) for n in range(10)}
    running = hostile("silent", servers=bad)
    assert [running.state(name)[0] for name in bad] == ["failed"] * 10
    good_still_answers(running)


async def test_waiting_blocks_no_loop_and_ends_with_the_turn(tmp_path: Path) -> None:
    raw = configured_server("bad", definition("silent", tmp_path / "s"), ServerSource.USER, str(tmp_path))
    settings = McpSettings(start_seconds=20, wait_seconds=20)
    servers = McpServers(
        McpConfiguration((raw,)), settings, dict(os.environ), ConsentStore(tmp_path), definition_tokens=100
    )
    turns = asyncio.create_task(servers.wait(lambda: ticks > 3))
    ticks = 0
    while not turns.done():
        ticks += 1
        await asyncio.sleep(0.02)
    await asyncio.to_thread(servers.close)
    assert ticks > 3


def test_a_run_of_the_port_is_used(hostile: Hostile) -> None:
    run = ToolRun("e_1", threading.Event())
    assert hostile("good").tools["bad__echo"].run({"text": "x"}, run) == "x"


@pytest.mark.parametrize("behaviour", ["silent", "silent_and_stubborn", "stderr_flood", "endless_json", "list_hangs"])
def test_closing_while_servers_start_prints_nothing_and_leaves_none(
    behaviour: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state-of-the-server"
    configured = tuple(
        configured_server(name, raw, ServerSource.USER, str(tmp_path))
        for name, raw in {"bad": definition(behaviour, state), "missing": {"command": "no-such"}}.items()
    )
    settings = McpSettings(start_seconds=30)
    servers = McpServers(
        McpConfiguration(configured), settings, dict(os.environ), ConsentStore(tmp_path), definition_tokens=100
    )
    servers.start()
    for _ in range(100):
        if processes_with(str(state)):
            break
        time.sleep(0.05)
    servers.close()
    assert not processes_with(str(state))
    gc.collect()
    assert capfd.readouterr() == ("", "")
