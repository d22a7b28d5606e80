"""A server that misbehaves, beside one that does not: both are running, and leave no process.

The time limit of a test is the bound of what a server may cost.
"""

import os
import sys
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
from tests.agent.mcp.conftest import SERVERS, Running

SETTINGS = McpSettings(start_seconds=5.0, wait_seconds=15.0, call_seconds=1.5, restarts=2)
TOKEN = "tok-0123456789abcdef"
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
