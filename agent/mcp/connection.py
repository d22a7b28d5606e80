"""One connection to an MCP server: handshake, list of tools, calls, end. It lives in one task of the servers' loop."""

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any, Final, cast

import mcp_types
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from msgspec import Struct
from pydantic import ValidationError

from agent.mcp.http import http_transport
from agent.mcp.server_spec import ServerSpec
from agent.mcp.stdio import ServerProcess, stdio_transport
from agent.version import version
from foundation.terminal_text import visible_line

MOST_PAGES: Final = 50
MOST_TOOLS: Final = 2_000  # that are read of a server; how many are offered is a matter of tokens
CLOSING_SECONDS: Final = 4.0  # of which a stubborn process takes two
ENDING_SECONDS: Final = 0.3  # between the end of the process and that of the connection
RELIST_SECONDS: Final = 1.0  # between two lists of tools that a server announces
MOST_RELISTS: Final = 100
MOST_ERROR_CHARS: Final = 500
MOST_VERSION_CHARS: Final = 40

for _name in ("mcp", "client", "mcp_types"):  # the SDK's own: they print messages of servers to standard error
    logging.getLogger(_name).addHandler(logging.NullHandler())
    logging.getLogger(_name).propagate = False


class ServerTool(Struct, frozen=True, kw_only=True):
    """A tool as its server describes it."""

    name: str
    description: str
    schema: dict[str, Any]


class ConnectionFailed(Exception):
    """The server cannot be used. The message says why, as the end of a sentence that begins with its name."""


class ServerConnection:
    """Open with `open`, then `call`; `close` ends the server. `tools` is its newest list."""

    def __init__(
        self,
        spec: ServerSpec,
        environment: Mapping[str, str],
        folder: str,
        *,
        start_seconds: float,
        on_list: Callable[[], None],
    ) -> None:
        self.spec = spec
        self.tools: tuple[ServerTool, ...] = ()
        self.protocol = ""
        self.process: ServerProcess | None = None
        self.ended = asyncio.Event()
        self._environment = environment
        self._folder = folder
        self._start_seconds = start_seconds
        self._on_list = on_list
        self._client: Client | None = None
        self._closing = asyncio.Event()
        self._changed = asyncio.Event()
        self._life: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()  # why it failed; "" where not
        self._reason = ""  # why it failed, as the transport saw it

    @property
    def is_usable(self) -> bool:
        return self._client is not None and not self.ended.is_set() and not (self.process and self.process.end_reason)

    async def open(self) -> None:
        """Starts the server and reads its tools. Raises ConnectionFailed."""
        self._life = asyncio.create_task(self._live())
        await asyncio.wait([self._ready])
        if reason := self._ready.result():
            await asyncio.wait([self._life])
            raise ConnectionFailed(reason)

    async def close(self) -> None:
        """Ends the server. Takes at most some seconds."""
        self._closing.set()
        life = self._life
        if life is None:
            return
        if not self._ready.done():
            life.cancel()
        await asyncio.wait([life], timeout=CLOSING_SECONDS)
        if not life.done():
            self.kill()
            life.cancel()
            await asyncio.wait([life], timeout=1.0)

    def kill(self) -> None:
        """Ends its process group at once. From any thread."""
        if self.process is not None and self.process.process.returncode is None:
            self.process.kill(force=True)

    async def call(
        self, tool: str, arguments: dict[str, Any], report: Callable[[str], None]
    ) -> mcp_types.CallToolResult:
        """The result of a call. Raises ConnectionFailed where the server ends or breaks the protocol, and MCPError."""
        client = self._client
        assert client is not None

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            report(message or (f"{progress:g} of {total:g}" if total else f"{progress:g}"))

        calling = asyncio.create_task(client.call_tool(tool, arguments, progress_callback=on_progress))
        ending = asyncio.create_task(self.ended.wait())
        try:
            await asyncio.wait([calling, ending], return_when=asyncio.FIRST_COMPLETED)
            if not calling.done():
                raise ConnectionFailed(self.failure)
            return calling.result()
        except ValidationError as error:
            raise ConnectionFailed("sent an invalid tool result") from error
        except MCPError as error:
            if error.code == mcp_types.CONNECTION_CLOSED and await self._ends():  # servers use that code, too
                raise ConnectionFailed(self.failure) from error
            raise
        finally:
            calling.cancel()
            ending.cancel()

    async def _ends(self) -> bool:
        """Whether the connection has ended, or does now."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.ended.wait(), ENDING_SECONDS)
        return self.ended.is_set()

    @property
    def failure(self) -> str:
        """Why it cannot be used, with the last words of its process."""
        process = self.process
        if process is None:
            return self._reason or "closed the connection"
        reason = process.end_reason or self._reason or "closed its output"
        if process.process.returncode is not None and "exited" in reason:
            reason = f"exited with status {process.process.returncode}"
        words = visible_line(process.last_words[-MOST_ERROR_CHARS:])
        return f"{reason}. Its last output: {words}" if words else reason

    async def _live(self) -> None:
        """Connects, serves until it is closed or ends, and cleans up."""
        try:
            async with AsyncExitStack() as stack:
                await self._start(stack)
                self._ready.set_result("")
                await self._serve(stack)
        except Exception as error:  # the edge of a server: whatever it does ends it alone
            cause = _cause(error)
            self._reason = cause if not self._reason or "within" in cause else self._reason
        finally:
            self._client = None
            self.ended.set()
            if not self._ready.done():
                self._reason = self._reason or "was stopped while starting"
                self._ready.set_result(self._reason if "within" in self._reason else self.failure)

    async def _start(self, stack: AsyncExitStack) -> None:
        try:
            async with asyncio.timeout(self._start_seconds):
                await self._connect(stack)
                self.tools = await self._listed()
        except TimeoutError as error:
            raise ConnectionFailed(f"did not start within {self._start_seconds:g} s") from error

    async def _connect(self, stack: AsyncExitStack) -> None:
        def started(process: ServerProcess) -> None:
            self.process = process

        def failed(reason: str) -> None:
            self._reason = reason

        spec = self.spec
        transport = (
            http_transport(spec, failed)
            if spec.url
            else stdio_transport(spec, self._environment, self._folder, started)
        )
        client = Client(
            transport,
            message_handler=self._on_message,
            client_info=mcp_types.Implementation(name="palimpsest", version=version()),
            cache=None,
        )
        self._client = await stack.enter_async_context(client)
        # The SDK checks results against the server's own output schema, whose patterns Python matches without a limit.
        setattr(client.session, "validate_tool_result", _unchecked)  # noqa: B010
        self.protocol = client.protocol_version

    async def _serve(self, stack: AsyncExitStack) -> None:
        """Waits for the end; reads the list of tools again where the server announces a change."""
        listening = asyncio.create_task(self._listen())
        closing = asyncio.create_task(self._closing.wait())
        ending = asyncio.create_task(self._process_end())
        changing = asyncio.create_task(self._relist())
        tasks = (listening, closing, ending, changing)
        try:
            await asyncio.wait([closing, ending], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _process_end(self) -> None:
        if self.process is None:  # HTTP: each request fails by itself
            await self._closing.wait()
            return
        await self.process.ended.wait()
        await asyncio.sleep(0.05)  # for what it wrote last

    async def _listen(self) -> None:
        """Takes changes of tools from a server that speaks a version without sessions."""
        client = self._client
        assert client is not None
        with suppress(ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._changed.set()

    async def _on_message(self, message: object) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self._changed.set()

    async def _relist(self) -> None:
        for _ in range(MOST_RELISTS):
            await self._changed.wait()
            await asyncio.sleep(RELIST_SECONDS)
            self._changed.clear()
            with suppress(TimeoutError, MCPError, ValidationError, ConnectionFailed):
                async with asyncio.timeout(self._start_seconds):
                    self.tools = await self._listed()
                self._on_list()

    async def _listed(self) -> tuple[ServerTool, ...]:
        """Every tool of the server, at most MOST_TOOLS. Raises ConnectionFailed."""
        client = self._client
        assert client is not None
        if client.server_capabilities.tools is None:
            return ()
        tools: dict[str, ServerTool] = {}
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            try:
                page = await client.list_tools(cursor=cursor, cache_mode="bypass")
            except ValidationError as error:
                raise ConnectionFailed("sent an invalid tool list") from error
            for tool in page.tools:
                tools.setdefault(
                    tool.name,
                    ServerTool(name=tool.name, description=tool.description or "", schema=dict(tool.input_schema)),
                )
            cursor = page.next_cursor
            if not cursor or len(tools) >= MOST_TOOLS:
                break
        return tuple(tools.values())[:MOST_TOOLS]


async def _unchecked(name: str, result: object) -> None:
    """Accepts a result whatever the server's output schema says."""


def _cause(error: BaseException) -> str:
    """The first cause, as the end of a sentence."""
    if isinstance(error, BaseExceptionGroup):
        return _cause(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    match error:
        case ConnectionFailed():
            cause = str(error)
        case FileNotFoundError():
            cause = f"cannot be started: {error.filename or 'such program'} not found"
        case OSError():
            cause = f"cannot be started: {error.strerror or error}"
        case MCPError():
            cause = f"answered: {visible_line(error.message)[:MOST_ERROR_CHARS]}"
        case ValidationError():
            cause = "sent an invalid response"
        case RuntimeError() if match := _VERSION.fullmatch(str(error)):
            cause = f"uses an unsupported version of MCP: {visible_line(match[1])[:MOST_VERSION_CHARS]}"
        case _:
            cause = f"failed: {visible_line(str(error))[:MOST_ERROR_CHARS]}" if str(error) else "failed"
    return cause


_VERSION: Final = re.compile(r"Unsupported protocol version from the server: (.*)", re.DOTALL)  # of the SDK
