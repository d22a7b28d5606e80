"""MCP servers over HTTP that hang, flood, lie or lead elsewhere: each fails with a sentence, within its limits."""

import gzip
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agent.mcp.configuration import McpConfiguration
from agent.mcp.consent import ConsentStore
from agent.mcp.server_spec import ServerSource, configured_server
from agent.mcp.servers import McpServers
from agent.mcp.settings import McpSettings
from agent.tools.port import ToolFailure
from tests.agent.mcp.conftest import Running

pytestmark = pytest.mark.timeout(30)
TOKEN = "tok-0123456789abcdef"
TOOL = {"name": "echo", "inputSchema": {"type": "object"}}


class Handler(BaseHTTPRequestHandler):
    """Answers as `behaviour` says: the handshake where it begins with `call_`, else everything."""

    behaviour = ""

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.send_error(405)

    def do_DELETE(self) -> None:
        self.send_error(405)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, behaviour = body.get("method"), type(self).behaviour
        if "id" not in body:
            self.send_response(202)
            self.end_headers()
        elif not behaviour.startswith("call_") or method == "tools/call":
            with suppress(OSError):  # the client has left
                self.misbehave(behaviour.removeprefix("call_"), body)
        elif method == "initialize":
            version = body["params"]["protocolVersion"]
            info = {"name": "h", "version": "1"}
            self.reply(body, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
        elif method == "tools/list":
            self.reply(body, {"tools": [TOOL]})
        else:
            self.send_error(404)

    def reply(self, request: Any, result: Any) -> None:
        self.body(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode())

    def body(self, data: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def misbehave(self, behaviour: str, request: Any) -> None:
        match behaviour:
            case "hangs":
                stop.wait(20)
            case "server_error":
                self.send_error(500)
            case "refuses":
                self.send_error(401, TOKEN)
            case "html":
                self.body(b"<html>Hello</html>", "text/html")
            case "no_json":
                self.body(b"{")
            case "zip_bomb":
                data = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"content": [], "x": "0" * 10**8}})
                self.body(gzip.compress(data.encode()), content_encoding="gzip")
            case "huge":
                self.reply(request, {"content": [{"type": "text", "text": "x" * 20_000_000}]})
            case "endless_events":
                self.stream()
                while True:
                    self.wfile.write(b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n' * 1000)
            case "endless_event":
                self.stream()
                self.wfile.write(b"data: ")
                while True:
                    self.wfile.write(b"x" * 65_536)
            case "stream_that_ends":
                self.stream()
            case "redirect":
                self.send_response(307)
                self.send_header("location", f"http://localhost:{self.server.server_address[1]}/other")
                self.end_headers()
            case "cut":
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", "1000")
                self.end_headers()
                self.wfile.write(b'{"jsonrpc"')
                self.connection.shutdown(socket.SHUT_RDWR)
            case "echo_headers":
                self.reply(request, {"content": [{"type": "text", "text": str(dict(self.headers))}]})

    def stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()


stop = threading.Event()


@pytest.fixture
def address() -> Iterator[str]:
    stop.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/mcp?key={TOKEN}"
    stop.set()
    server.shutdown()
    thread.join()
    server.server_close()


def started(address: str, tmp_path: Path) -> Running:
    raw = {"url": address, "headers": {"Authorization": f"Bearer {TOKEN}"}}
    servers = McpServers(
        McpConfiguration((configured_server("far", raw, ServerSource.USER, str(tmp_path)),)),
        McpSettings(start_seconds=3, wait_seconds=10, call_seconds=2),
        dict(os.environ),
        ConsentStore(tmp_path),
        definition_tokens=1_000,
    )
    return Running(servers).start()


BEHAVIOURS = (
    *("hangs", "server_error", "refuses", "html", "no_json", "zip_bomb", "huge", "endless_events", "endless_event"),
    *("stream_that_ends", "redirect", "cut"),
)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_server_that_cannot_be_used_fails_and_says_why(behaviour: str, address: str, tmp_path: Path) -> None:
    Handler.behaviour = behaviour
    running = started(address, tmp_path)
    state, error = running.state("far")
    running.servers.close()
    assert state == "failed"
    assert error
    assert TOKEN not in error + repr(running.servers.statuses())
    if behaviour == "refuses":
        assert "`headers`" in error


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_call_fails_and_says_why(behaviour: str, address: str, tmp_path: Path) -> None:
    Handler.behaviour = "call_" + behaviour
    running = started(address, tmp_path)
    with pytest.raises(ToolFailure) as failure:
        running.call("far__echo")
    running.servers.close()
    assert TOKEN not in failure.value.message
    assert len(failure.value.message) < 3_000


def test_the_headers_are_sent_and_not_shown(address: str, tmp_path: Path) -> None:
    Handler.behaviour = "call_echo_headers"
    running = started(address, tmp_path)
    result = running.call("far__echo")
    running.servers.close()
    assert "Bearer" in result or "redacted" in result
    assert TOKEN not in result


def test_an_address_where_nobody_listens_fails(tmp_path: Path) -> None:
    running = started("http://127.0.0.1:9/mcp", tmp_path)
    assert running.state("far")[0] == "failed"
    assert "cannot be reached" in running.state("far")[1]
    running.servers.close()
