"""What MCP servers leave: no value of the configuration, nothing on the terminal, no process, no loop held up."""

import asyncio
import gc
import os
import threading
import time
from pathlib import Path

import pytest

from agent.mcp.configuration import McpConfiguration
from agent.mcp.consent import ConsentStore
from agent.mcp.server_spec import ServerSource, configured_server
from agent.mcp.servers import McpServers
from agent.mcp.settings import McpSettings
from agent.tools.port import ToolFailure, ToolRun
from tests.hostile.mcp.conftest import TOKEN, Hostile, definition, good_still_answers, processes_with

pytestmark = pytest.mark.timeout(30)


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
