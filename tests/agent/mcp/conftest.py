"""MCP servers that tests start, and a call of their tools."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.mcp.configuration import McpConfiguration
from agent.mcp.consent import ConsentStore
from agent.mcp.server_spec import ServerSource, configured_server
from agent.mcp.servers import McpServers
from agent.mcp.settings import McpSettings
from agent.mcp.tools import McpTool
from agent.tools.port import ToolRun

SERVERS = Path(__file__).parent / "servers"
KIND = {"command": sys.executable, "args": [str(SERVERS / "kind_server.py")]}
ECHO = {"command": sys.executable, "args": ["-S", str(SERVERS / "raw_server.py"), "good"]}
"""A server of one tool, which starts in a tenth of the time of one that imports the SDK."""
SETTINGS = McpSettings(start_seconds=20, wait_seconds=20, call_seconds=20)


class Running:
    """Servers that were started, and their tools as the last turn took them."""

    def __init__(self, servers: McpServers) -> None:
        self.servers = servers
        self.progress: list[str] = []
        self.stopped = threading.Event()
        self.tools: dict[str, McpTool] = {}

    def start(self) -> "Running":
        self.servers.start()
        asyncio.run(self.servers.wait())
        self.take()
        return self

    def take(self) -> tuple[str, ...]:
        """Begins a turn; gives its notices."""
        changes = self.servers.take_tools()
        self.tools = {tool.definition.name: tool for tool in changes.tools}
        return changes.notices

    def call(self, name: str, **arguments: Any) -> str:
        run = ToolRun("e_test", self.stopped, self.progress.append)
        return self.tools[name].run(arguments, run)

    def state(self, name: str) -> tuple[str, str]:
        status = next(status for status in self.servers.statuses() if status.name == name)
        return status.state.value, status.error


Start = Callable[..., Running]


@pytest.fixture
def prepare(tmp_path: Path) -> Iterator[Start]:
    """`prepare({"kind": KIND})`: servers of the user that are not started yet."""
    prepared: list[McpServers] = []

    def make(
        definitions: dict[str, Any],
        *,
        settings: McpSettings = SETTINGS,
        source: ServerSource = ServerSource.USER,
        environment: dict[str, str] | None = None,
        tokens: int = 3_000,
    ) -> Running:
        configured = tuple(configured_server(name, raw, source, str(tmp_path)) for name, raw in definitions.items())
        servers = McpServers(
            McpConfiguration(configured),
            settings,
            dict(os.environ) if environment is None else environment,
            ConsentStore(tmp_path / "user-config"),
            definition_tokens=tokens,
        )
        prepared.append(servers)
        return Running(servers)

    yield make
    for servers in prepared:
        servers.close()


@pytest.fixture
def start(prepare: Start) -> Start:
    """As `prepare`, started and waited for."""
    return lambda *words, **options: prepare(*words, **options).start()
