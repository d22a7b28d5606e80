"""The MCP servers of a session: they live on an event loop of their own, in one thread.

The thread starts with `start`, which returns at once, and imports the SDK. Every method may be called from any thread.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from agent.mcp.configuration import McpConfiguration
from agent.mcp.consent import ConsentStore
from agent.mcp.definitions import OfferedTool, offer
from agent.mcp.names import server_prefixes
from agent.mcp.results import result_text
from agent.mcp.server_loop import ServerLoop
from agent.mcp.server_spec import ConfiguredServer, InvalidServer, ServerSource, server_spec
from agent.mcp.server_state import ManagedServer, ServerState, ServerStatus
from agent.mcp.settings import McpSettings
from agent.mcp.turn_tools import ToolChanges, TurnTools
from agent.tools.port import ToolFailure, ToolRun
from foundation.errors import Misuse, TemporaryFailure
from foundation.install_hints import install_extra
from foundation.terminal_text import visible_line

if TYPE_CHECKING:
    from agent.mcp.connection import ServerConnection

CLOSING_SECONDS: Final = 6.0  # for all servers together; what remains is killed
GRACE_SECONDS: Final = 5.0  # a call gets beyond its limit, for its cancellation to be sent
POLL_SECONDS: Final = 0.1
MOST_PROGRESS: Final = 200  # lines of progress that a call may show
MOST_ERROR_CHARS: Final = 2_000


_UNDER_WAY: Final = {ServerState.WAITING, ServerState.STARTING}


class McpServers:
    """Starts the servers, lists their tools, runs calls, and ends all processes with `close`."""

    def __init__(
        self,
        configuration: McpConfiguration,
        settings: McpSettings,
        environment: Mapping[str, str],
        consents: ConsentStore,
        *,
        definition_tokens: int,
    ) -> None:
        """`definition_tokens`: how many the definitions of one server's tools may take."""
        self.problems = configuration.problems
        self._settings = settings
        self._environment = environment
        self._consents = consents
        self.configured = configuration.servers
        self._definition_tokens = definition_tokens
        prefixes = server_prefixes(server.name for server in configuration.servers)
        self._servers = {server.name: ManagedServer(server, prefixes[server.name]) for server in configuration.servers}
        self._loop = ServerLoop()
        self._closed = False
        self._started = False
        self._waited = False  # a turn has waited for the first start
        self._turn_tools = TurnTools(self)
        self._has_reported = False  # the problems of the configuration
        for server in self._servers.values():
            server.judge(self._consents)

    # State

    @property
    def is_configured(self) -> bool:
        return bool(self._servers) and self._settings.enabled

    @property
    def unanswered(self) -> tuple[ConfiguredServer, ...]:
        """Servers of the project whose owner was not asked, or that changed since."""
        return tuple(
            server.configured
            for server in self._servers.values()
            if server.state is ServerState.UNTRUSTED and not server.is_declined
        )

    def is_changed(self, server: ConfiguredServer) -> bool:
        """Whether another definition of it was allowed."""
        return self._consents.is_changed(server)

    def statuses(self) -> tuple[ServerStatus, ...]:
        """Every configured server, by name."""
        return tuple(server.status for _, server in sorted(self._servers.items()))

    # Starting and ending

    def start(self) -> None:
        """Starts every server that may run, side by side. Returns at once; does nothing the second time."""
        wanted = [server for server in self._servers.values() if server.state is ServerState.WAITING]
        if self.is_configured and wanted and not self._closed:
            self._begin(wanted)

    def _begin(self, servers: Sequence[ManagedServer]) -> None:
        self._started = True
        for server in servers:
            server.state = ServerState.STARTING
        self._loop.submit(self._start_all(servers))

    async def wait(self, is_stopped: Callable[[], bool] = lambda: False, seconds: float | None = None) -> None:
        """Waits for servers that are starting, at most `seconds` (`wait_seconds`), the first time."""
        self.start()
        if self._waited or not self._started:
            return
        deadline = time.monotonic() + (self._settings.wait_seconds if seconds is None else seconds)
        while time.monotonic() < deadline and not is_stopped():
            if not any(server.state in _UNDER_WAY for server in self._servers.values()):
                break
            await asyncio.sleep(0.02)
        self._waited = True

    def close(self) -> None:
        """Ends every server. Blocks, at most some seconds."""
        self._closed = True
        if not self._loop.is_running:
            return
        connections = [server.connection for server in self._servers.values() if server.connection]
        with suppress(TimeoutError, CancelledError):
            self._loop.submit(self._close_all()).result(CLOSING_SECONDS)
        for connection in connections:
            connection.kill()
        self._loop.close(CLOSING_SECONDS)

    def take_tools(self) -> ToolChanges:
        """The tools for the next turn, and what changed since the last."""
        offered = {tool.definition.name: tool for server in self._servers.values() for tool in self._offered_by(server)}
        changes = self._turn_tools.take(offered, self._is_other)
        problems = (f"MCP: {problem}" for problem in self.problems if not self._has_reported)
        notices = filter(None, (server.take_notice() for server in self._servers.values()))
        self._has_reported = True
        return replace(changes, notices=(*problems, *notices, *changes.notices))

    @property
    def are_taken(self) -> bool:
        """Whether a turn has taken the tools."""
        return self._turn_tools.are_taken

    def _is_other(self, tool: OfferedTool) -> bool:
        return self._servers[tool.server].first_digests.get(tool.tool, tool.digest) != tool.digest

    def _offered_by(self, server: ManagedServer) -> Sequence[OfferedTool]:
        return server.offer.tools if server.state in {ServerState.READY, ServerState.STOPPED} else ()

    # Commands

    def restart(self, name: str) -> None:
        """Ends the server and starts it again. Blocks. Raises Misuse."""
        server = self._named(name)
        server.refuse_start()
        server.restarts = 0
        self._finish(self._restart(server))

    def disable(self, name: str) -> None:
        """Ends the server for this session; its tools leave with the next turn. Blocks. Raises Misuse."""
        server = self._named(name)
        if self._loop.is_running:
            self._finish(self._stop(server))
        server.state = ServerState.DISABLED

    def enable(self, name: str) -> None:
        """Starts a disabled server. Blocks. Raises Misuse."""
        server = self._named(name)
        if server.state is ServerState.DISABLED:
            server.state = ServerState.STOPPED
            server.judge(self._consents, ignore_disabled=True)
        server.refuse_start()
        if server.state is not ServerState.READY:
            self._finish(self._restart(server))

    def _finish(self, work: Coroutine[Any, Any, None]) -> None:
        """Waits for it. Raises TemporaryFailure where it takes longer than a start may."""
        try:
            self._loop.submit(work).result(self._settings.start_seconds + CLOSING_SECONDS)
        except TimeoutError as error:
            raise TemporaryFailure("Still at work", "The server is still busy.", "/mcp shows its state.") from error

    def answer(self, name: str, *, allowed: bool) -> None:
        """Stores the owner's consent to a server of the project, and starts it where it was given."""
        server = self._named(name)
        if server.configured.source is not ServerSource.PROJECT:
            raise Misuse("It needs no consent", f"{visible_line(name)} is in your own configuration.")
        self._consents.record(server.configured, allowed=allowed)
        server.is_declined = not allowed
        if allowed and server.state is ServerState.UNTRUSTED:
            self._begin([server])
            self._waited = False

    def put(self, configured: ConfiguredServer) -> None:
        """Takes a server that was configured meanwhile, and starts it where it may."""
        self.configured = (*(each for each in self.configured if each.name != configured.name), configured)
        prefixes = server_prefixes(server.name for server in self.configured)
        server = ManagedServer(configured, prefixes[configured.name])
        server.judge(self._consents)
        self._servers = {**self._servers, configured.name: server}
        if server.state is ServerState.WAITING and self.is_configured and not self._closed:
            self._begin([server])

    def drop(self, name: str) -> None:
        """Ends a server that is configured no longer; its tools leave with the next turn. Blocks. Raises Misuse."""
        self.disable(name)
        self.configured = tuple(each for each in self.configured if each.name != name)
        self._servers = {other: server for other, server in self._servers.items() if other != name}

    def find(self, name: str) -> ConfiguredServer:
        """The configured server. Raises Misuse."""
        return self._named(name).configured

    # Calls

    def call(self, server: str, tool: str, arguments: dict[str, Any], run: ToolRun) -> str:
        """The whole result. Blocks at most as long as the server's limit. Raises ToolFailure."""
        if (called := self._servers.get(server)) is None:  # removed during the turn
            raise ToolFailure("The MCP server was removed", f"{visible_line(server)} is no longer configured.")
        seconds = self._call_seconds(called)
        shown = 0

        def progress(text: str) -> None:
            nonlocal shown
            shown += 1
            if shown <= MOST_PROGRESS:
                run.report(visible_line(called.hidden(text))[:200] + "\n")

        future = self._loop.submit(self._call(called, tool, arguments, progress))
        limit = seconds + self._settings.start_seconds + GRACE_SECONDS
        deadline = time.monotonic() + limit
        while True:
            try:
                return future.result(POLL_SECONDS)
            except CancelledError:
                raise ToolFailure("Stopped", f"The call of {tool} was stopped.") from None
            except TimeoutError:
                if future.done():
                    raise
            if run.stopped.is_set() or self._closed:
                future.cancel()
                raise ToolFailure("Stopped", f"The call of {tool} was stopped; the server was asked to cancel it.")
            if time.monotonic() > deadline:
                future.cancel()
                if called.connection:
                    called.connection.kill()
                raise self._failure(called, f"did not respond and was stopped after {limit:g} s")

    def _call_seconds(self, server: ManagedServer) -> float:
        return (server.spec and server.spec.timeout) or self._settings.call_seconds

    async def _call(
        self, server: ManagedServer, tool: str, arguments: dict[str, Any], progress: Callable[[str], None]
    ) -> str:
        from mcp import MCPError

        from agent.mcp.connection import ConnectionFailed

        connection = await self._usable(server)
        seconds = self._call_seconds(server)
        try:
            async with asyncio.timeout(seconds):
                result = await connection.call(tool, arguments, progress)
        except TimeoutError:
            raise self._failure(server, f"did not respond within {seconds:g} s") from None
        except ConnectionFailed as error:
            self._lost(server, str(error))
            raise self._failure(server, f"{error}. The call may still have had effects") from error
        except MCPError as error:
            raise self._failure(server, f"answered with an error: {error.message}") from error
        except RuntimeError as error:  # the SDK: input is requested, which is not offered
            raise self._failure(server, f"cannot complete the call: {error}") from error
        text = server.hidden(result_text(result))
        if result.is_error:
            raise ToolFailure(f"{tool} failed", text)
        return text

    async def _usable(self, server: ManagedServer) -> "ServerConnection":
        """The connection, started again where the server died. Raises ToolFailure."""
        if server.starting is not None and not server.starting.done():
            await asyncio.wait([server.starting])
        if server.connection is not None and server.connection.is_usable:
            return server.connection
        if server.state in {ServerState.DISABLED, ServerState.UNTRUSTED, ServerState.INVALID}:
            raise ToolFailure("The MCP server is off", f"{visible_line(server.configured.name)} is {server.state}.")
        if server.restarts >= self._settings.restarts:
            server.state = ServerState.FAILED
            raise self._failure(
                server, f"exited {server.restarts + 1:,} times and is not restarted. {server.error}".strip()
            )
        server.restarts += 1
        await self._restart(server)
        if server.connection is None or not server.connection.is_usable:
            raise self._failure(server, f"exited and could not be restarted: {server.error}")
        return server.connection

    def _failure(self, server: ManagedServer, reason: str) -> ToolFailure:
        name = visible_line(server.configured.name)
        text = server.hidden(f"The MCP server {name} {reason}")
        return ToolFailure("MCP server", text[:MOST_ERROR_CHARS].rstrip(".") + ".", "/mcp shows its state.")

    # On the loop

    async def _start_all(self, servers: Sequence[ManagedServer]) -> None:
        for server in servers:
            server.starting = asyncio.create_task(self._open(server))
        await asyncio.gather(*(server.starting for server in servers if server.starting))

    async def _restart(self, server: ManagedServer) -> None:
        await self._stop(server)
        server.state = ServerState.STARTING
        server.starting = asyncio.create_task(self._open(server))
        await asyncio.wait([server.starting])

    async def _stop(self, server: ManagedServer) -> None:
        if server.starting is not None and not server.starting.done():
            server.starting.cancel()
            await asyncio.wait([server.starting], timeout=1.0)
        connection, server.connection = server.connection, None
        if connection is not None:
            await connection.close()

    async def _open(self, server: ManagedServer) -> None:
        """Connects and lists; a failure is the server's state, never raised."""
        server.judge(self._consents, ignore_disabled=True)
        if server.state is ServerState.UNTRUSTED:
            server.error = "what it runs has changed since it was trusted"
            return
        try:
            from agent.mcp.connection import ConnectionFailed, ServerConnection
        except ImportError as error:
            server.state, server.error = ServerState.FAILED, f"the extra is missing ({error}): {install_extra('mcp')}"
            return
        try:
            server.spec = server_spec(server.configured, self._environment)
        except InvalidServer as error:
            server.state, server.error = ServerState.INVALID, f"{error.message} {error.hint}".strip()
            return
        connection = ServerConnection(
            server.spec,
            self._environment,
            server.configured.folder,
            start_seconds=self._settings.start_seconds,
            on_list=lambda: self._list(server),
        )
        server.connection = connection
        try:
            await connection.open()
            self._list(server)
        except ConnectionFailed as error:
            server.connection = None
            server.error, server.state = server.hidden(str(error)), ServerState.FAILED
            return
        except Exception:  # the edge of a server: whatever it gives ends it alone
            await connection.close()
            server.connection = None
            server.error, server.state = "sent unreadable data", ServerState.FAILED
            return
        server.error = ""
        server.state = ServerState.READY
        self._watch(server, connection)

    def _watch(self, server: ManagedServer, connection: "ServerConnection") -> None:
        """Notes where a connection ends by itself."""

        async def watch() -> None:
            await connection.ended.wait()
            if server.connection is connection:
                self._lost(server, connection.failure)

        server.watching = asyncio.create_task(watch())

    def _lost(self, server: ManagedServer, reason: str) -> None:
        if server.state is ServerState.READY:
            server.state, server.error = ServerState.STOPPED, server.hidden(reason)

    def _list(self, server: ManagedServer) -> None:
        """Takes the newest list of tools; the model gets it with the next turn."""
        if server.connection is None or server.spec is None:
            return
        server.offer = offer(server.spec, server.prefix, server.connection.tools, self._definition_tokens)
        for tool in server.offer.tools:
            server.first_digests.setdefault(tool.tool, tool.digest)

    async def _close_all(self) -> None:
        await asyncio.gather(*(self._stop(server) for server in self._servers.values()), return_exceptions=True)

    def _named(self, name: str) -> ManagedServer:
        if (server := self._servers.get(name)) is None:
            names = ", ".join(map(visible_line, sorted(self._servers))) or "none"
            raise Misuse(
                "No such MCP server", f"There is no MCP server “{visible_line(name)}”.", f"Available: {names}."
            )
        return server
