"""The state of an MCP server in a session."""

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.mcp.definitions import ServerOffer
from agent.mcp.results import without_values
from agent.mcp.server_spec import ConfiguredServer, ServerSource, ServerSpec
from foundation.terminal_text import visible_line

if TYPE_CHECKING:
    from agent.mcp.connection import ServerConnection


class ServerState(StrEnum):
    """What a server does."""

    DISABLED = "disabled"
    UNTRUSTED = "not trusted"
    INVALID = "invalid"
    WAITING = "not started"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    STOPPED = "stopped"  # it was ready; the next call starts it again


class ServerStatus(Struct, frozen=True, kw_only=True):
    """A server for `/mcp`: without the values of its configuration."""

    name: str
    state: ServerState
    source: ServerSource
    summary: str
    tools: tuple[str, ...] = ()  # their names for the model
    tokens: int = 0
    protocol: str = ""
    error: str = ""
    notice: str = ""
    restarts: int = 0


class ManagedServer:
    """A server and its connection. Changed on the loop's thread, after `start`."""

    def __init__(self, configured: ConfiguredServer, prefix: str) -> None:
        self.configured = configured
        self.prefix = prefix
        self.state = ServerState.WAITING
        self.spec: ServerSpec | None = None
        self.connection: ServerConnection | None = None
        self.offer = ServerOffer()
        self.error = ""
        self.restarts = 0
        self.starting: asyncio.Task[None] | None = None
        self.watching: asyncio.Task[None] | None = None
        self.first_digests: dict[str, str] = {}  # by tool: as first listed in this session

    def hidden(self, text: str) -> str:
        """The text without the secrets of the server's configuration."""
        return without_values(text, self.spec.secrets) if self.spec else text

    @property
    def shown_name(self) -> str:
        """Its name, on one line, without hidden characters."""
        return visible_line(self.configured.name)

    @property
    def status(self) -> ServerStatus:
        return ServerStatus(
            name=self.configured.name,
            state=self.state,
            source=self.configured.source,
            summary=self.hidden(self.configured.summary),
            tools=tuple(tool.definition.name for tool in self.offer.tools),
            tokens=self.offer.tokens,
            protocol=self.connection.protocol if self.connection else "",
            error=self.error,
            notice=self.offer.notice,
            restarts=self.restarts,
        )
