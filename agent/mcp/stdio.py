"""Stdio transport of the SDK's client, with bounds.

The SDK's own one buffers a line of any length, reads as fast as the server writes, and leaves the children of a server
that exits by itself. Here a message has a largest size, a flood waits in the server's pipe, the end of standard error
is kept, and the whole process group is ended.
"""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import anyio
import mcp_types
from mcp.shared.message import SessionMessage

from agent.mcp.rate_limit import BURST_BYTES, MESSAGE_BYTES, RateLimit, ServerFlood
from agent.mcp.server_spec import ServerSpec

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    Incoming = MemoryObjectSendStream[SessionMessage | Exception]
    Outgoing = MemoryObjectReceiveStream[SessionMessage]

KEPT_STDERR: Final = 4_000  # bytes of the end of standard error
CLOSING_SECONDS: Final = 1.0  # for a server to exit once its standard input is closed, and again after SIGTERM
_PIECE: Final = 65_536
INHERITED: Final = (
    *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMDATA"),
    *("PROGRAMFILES", "COMSPEC", "SYSTEMDRIVE", "SYSTEMROOT", "USERNAME", "USERPROFILE", "WINDIR"),
)
"""The variables that a server gets besides those of its `env`, and `LC_*`: none that holds a key."""


class ServerProcess:
    """The process of a server. `end_reason` says why it can no longer be used; "" while it can."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.end_reason = ""
        self.ended = asyncio.Event()  # set with `end_reason`
        self.unreadable = 0  # lines that were no message
        self.stderr = bytearray()

    def end(self, reason: str) -> None:
        """Notes that it can no longer be used; the first reason stays."""
        self.end_reason = self.end_reason or reason
        self.ended.set()

    @property
    def last_words(self) -> str:
        """The end of what it wrote to standard error."""
        return self.stderr.decode("utf-8", "replace").strip()

    def kill(self, force: bool) -> None:
        """Sends SIGTERM, or SIGKILL, to the process group. Windows has but one kind."""
        if sys.platform == "win32":
            if self.process.returncode is None:
                subprocess.run(
                    ["taskkill", "/F", "/T", "/PID", str(self.process.pid)],
                    capture_output=True,
                    check=False,
                    timeout=CLOSING_SECONDS * 5,
                )
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL if force else signal.SIGTERM)


def server_environment(spec: ServerSpec, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of the server's process: nothing of ours but INHERITED, and its own `env`."""
    kept = {name: value for name, value in environment.items() if name in INHERITED or name.startswith("LC_")}
    return {**kept, **spec.env}


@asynccontextmanager
async def stdio_transport(
    spec: ServerSpec, environment: Mapping[str, str], folder: str, started: Callable[[ServerProcess], None]
) -> AsyncGenerator[Any, None]:
    """The streams of a server that is started. Raises OSError and ValueError where it cannot be."""
    server = ServerProcess(await _spawned(spec, environment, folder))
    started(server)
    incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read_messages(server, incoming)),
        asyncio.create_task(_write_messages(server, outgoing)),
        asyncio.create_task(_read_stderr(server)),
    ]
    try:
        yield read_stream, write_stream
    finally:
        with anyio.CancelScope(shield=True):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=CLOSING_SECONDS)
            await _end(server)
            for stream in (incoming, read_stream, write_stream, outgoing):
                stream.close()


async def _spawned(spec: ServerSpec, environment: Mapping[str, str], folder: str) -> asyncio.subprocess.Process:
    env = server_environment(spec, environment)
    flags: dict[str, Any] = (
        {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        if sys.platform == "win32"
        else {"start_new_session": True}
    )
    cwd = os.path.join(folder, os.path.expanduser(spec.cwd)) if spec.cwd else folder  # noqa: PTH111, PTH118
    return await asyncio.create_subprocess_exec(
        os.path.expanduser(spec.command),  # noqa: PTH111
        *spec.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=cwd,
        env=env,
        **flags,
    )


async def _read_messages(server: ServerProcess, incoming: "Incoming") -> None:
    """Reads a message a line. What is no message is counted; the stream ends with the server, or where it floods."""
    stdout, limit = server.process.stdout, RateLimit()
    assert stdout is not None
    line = bytearray()
    try:
        while chunk := await stdout.read(_PIECE):
            *whole, rest = chunk.split(b"\n")
            await limit.take(len(whole), len(chunk))
            for part in whole:
                line += part
                await _deliver(server, bytes(line), incoming)
                line.clear()
            line += rest
            if len(line) > MESSAGE_BYTES:
                server.end(f"sent a message of more than {MESSAGE_BYTES // 2**20} MB")
                server.kill(force=True)
                return
        server.end("has exited")
    except ServerFlood as flood:
        server.end(str(flood))
        server.kill(force=True)
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        pass  # the session is gone
    except OSError as error:
        server.end(f"cannot be read: {error.strerror or error}")
    finally:
        incoming.close()


async def _deliver(server: ServerProcess, line: bytes, incoming: "Incoming") -> None:
    if not line.strip():
        return
    try:
        message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except (ValueError, RecursionError):
        server.unreadable += 1
        if (answered := _ANSWERED.match(line)) is None:
            return
        unreadable = mcp_types.ErrorData(code=mcp_types.PARSE_ERROR, message=UNREADABLE)
        message = mcp_types.JSONRPCError(jsonrpc="2.0", id=int(answered[1]), error=unreadable)
    await incoming.send(SessionMessage(message))


UNREADABLE: Final = "unreadable data: not a JSON-RPC message, or nested too deeply"
_ANSWERED: Final = re.compile(
    rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*([0-9]{1,15})\s*,\s*"(?:result|error)"'
)
"""The beginning of an answer: whoever asked would wait for it until the limit."""


async def _write_messages(server: ServerProcess, outgoing: "Outgoing") -> None:
    stdin = server.process.stdin
    assert stdin is not None
    try:
        async for message in outgoing:
            stdin.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await stdin.drain()
    except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        server.end("no longer reads its input")
        outgoing.close()


async def _read_stderr(server: ServerProcess) -> None:
    stderr, limit = server.process.stderr, RateLimit(size=BURST_BYTES / 8)
    assert stderr is not None
    with contextlib.suppress(OSError, ServerFlood):  # a flood waits in the pipe from then on
        while chunk := await stderr.read(_PIECE):
            server.stderr += chunk
            del server.stderr[:-KEPT_STDERR]
            await limit.take(0, len(chunk))


async def _end(server: ServerProcess) -> None:
    """Closes its input, waits, and ends what is left of its process group."""
    process = server.process
    if process.stdin is not None:
        process.stdin.close()
    if not await _exited(process):
        server.kill(force=False)
        await _exited(process)
    server.kill(force=True)  # its children too, where it exited by itself
    await _exited(process)
    transport: Any = getattr(process, "_transport", None)
    if transport is not None:  # a child that left the group may hold the pipes open
        transport.close()


async def _exited(process: asyncio.subprocess.Process) -> bool:
    """Whether the process ends within CLOSING_SECONDS. `wait` would wait for the pipes too."""
    deadline = asyncio.get_running_loop().time() + CLOSING_SECONDS
    while process.returncode is None:
        if asyncio.get_running_loop().time() >= deadline:
            return False
        await asyncio.sleep(0.01)
    return True
