"""The state of an MCP server in a session."""

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.mcp.consent import ConsentStore
from agent.mcp.definitions import OfferedTool, ServerOffer
from agent.mcp.results import without_values
from agent.mcp.server_spec import ConfiguredServer, ServerSource, ServerSpec
from foundation.errors import Misuse
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
    offered: tuple[OfferedTool, ...] = ()
    log: str = ""  # the end of what its last process wrote to standard error
    tokens: int = 0
    protocol: str = ""
    error: str = ""
    notice: str = ""
    restarts: int = 0
    is_trusted: bool = False


class ManagedServer:
    """A server and its connection. Changed on the loop's thread, after `start`."""

    def __init__(self, configured: ConfiguredServer, prefix: str) -> None:
        self.configured = configured
        self.prefix = prefix
        self.state = ServerState.WAITING
        self.spec: ServerSpec | None = None
        self._connection: ServerConnection | None = None
        self._last_connection: ServerConnection | None = None  # the present one, or the one before
        self.offer = ServerOffer()
        self.error = ""
        self.restarts = 0
        self.starting: asyncio.Task[None] | None = None
        self.watching: asyncio.Task[None] | None = None
        self.is_declined = False  # its owner never wants it
        self._noticed: tuple[ServerState, str, str] | None = None
        self.first_digests: dict[str, str] = {}  # by tool: as first listed in this session

    @property
    def connection(self) -> "ServerConnection | None":
        """The present connection."""
        return self._connection

    @connection.setter
    def connection(self, connection: "ServerConnection | None") -> None:
        self._connection = connection
        self._last_connection = connection or self._last_connection

    @property
    def log(self) -> str:
        """The end of what its last process wrote to standard error, without secrets."""
        process = self._last_connection.process if self._last_connection else None
        return self.hidden(process.last_words) if process else ""

    def hidden(self, text: str) -> str:
        """The text without the secrets of the server's configuration."""
        return without_values(text, self.spec.secrets) if self.spec else text

    @property
    def shown_name(self) -> str:
        """Its name, on one line, without hidden characters."""
        return visible_line(self.configured.name)

    def judge(self, consents: ConsentStore, *, ignore_disabled: bool = False) -> None:
        """Sets the state of a server that may not start."""
        if self.configured.problem:
            self.state, self.error = ServerState.INVALID, self.configured.problem
        elif self.configured.disabled and not ignore_disabled:
            self.state = ServerState.DISABLED
        elif (
            self.configured.source is ServerSource.PROJECT and (answer := consents.answer(self.configured)) is not True
        ):
            self.state, self.is_declined = ServerState.UNTRUSTED, answer is False

    def refuse_start(self) -> None:
        """Raises Misuse where it may not start."""
        name = self.shown_name
        if self.state is ServerState.UNTRUSTED:
            hint = f"/mcp trust {name} shows what it runs."
            raise Misuse("Not trusted", f"{name} is defined in this project's .mcp.json.", hint)
        if self.state is ServerState.INVALID:
            raise Misuse("It cannot be used", self.error)
        if self.state is ServerState.DISABLED:
            raise Misuse("It is disabled", f"{name} is disabled.", f"/mcp enable {name} starts it.")

    def take_notice(self) -> str:
        """A sentence about what is new of its state since the last call; "" where nothing needs one."""
        state = (self.state, self.error, self.offer.notice)
        before, self._noticed = self._noticed, state
        if state == before:
            return ""
        name = self.shown_name
        match self.state:
            case ServerState.FAILED | ServerState.INVALID:
                return f"The MCP server {name} cannot be used: {visible_line(self.error)}"
            case ServerState.UNTRUSTED if not self.is_declined:
                return f"The project's MCP server {name} is not trusted and not started; /mcp trust {name} shows it."
            case ServerState.STARTING:
                return f"The MCP server {name} is still starting; its tools are offered with a later message."
            case ServerState.READY if self.offer.notice:
                return f"The MCP server {name}: {self.offer.notice}"
            case _:
                return ""

    @property
    def status(self) -> ServerStatus:
        return ServerStatus(
            name=self.configured.name,
            state=self.state,
            source=self.configured.source,
            summary=self.hidden(self.configured.summary),
            tools=tuple(tool.definition.name for tool in self.offer.tools),
            offered=self.offer.tools,
            log=self.log,
            tokens=self.offer.tokens,
            protocol=self.connection.protocol if self.connection else "",
            error=self.error,
            notice=self.offer.notice,
            restarts=self.restarts,
            is_trusted=self.configured.is_trusted,
        )
