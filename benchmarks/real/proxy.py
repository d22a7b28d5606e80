"""A proxy before the server that records each request for an answer, the answer, and the server's figures.

It caps `max_tokens` and sets a seed, so that a model in a loop ends and a run can be repeated. Nothing else is changed.
"""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

NOT_FORWARDED = {"host", "connection", "content-length", "accept-encoding", "transfer-encoding", "keep-alive"}


@dataclass(frozen=True)
class Exchange:
    """One request for an answer. Times in seconds from the request."""

    request: dict[str, Any]
    text: str
    calls: list[dict[str, Any]]  # as the server parsed them
    status: int
    first_s: float | None  # to the first token of the answer
    total_s: float
    cached_tokens: int | None
    read_tokens: int | None
    finish: str | None


@dataclass
class Recorder:
    """Exchanges since the last `take`."""

    address: str = ""
    _exchanges: list[Exchange] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, exchange: Exchange) -> None:
        with self._lock:
            self._exchanges.append(exchange)

    def take(self) -> list[Exchange]:
        with self._lock:
            taken, self._exchanges = self._exchanges, []
        return taken


@contextmanager
def recording(upstream: str, *, answer_tokens: int, seed: int = 1) -> Iterator[Recorder]:
    """A proxy before `upstream`, as long as the block runs."""
    recorder = Recorder()
    target = urlsplit(upstream)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def log_message(self, *_: Any) -> None: ...

        def _forward(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(size) if size else b""
            request = _parsed(body)
            asks = isinstance(request, dict) and "messages" in request and self.path.endswith("/chat/completions")
            if asks:
                body = json.dumps(capped(request, answer_tokens, seed), ensure_ascii=False).encode()
            began = time.perf_counter()
            connection = http.client.HTTPConnection(target.hostname or "", target.port, timeout=3600)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in NOT_FORWARDED}
            try:
                connection.request(self.command, self.path, body, headers)
                reply = connection.getresponse()
                pieces = self._relay(reply)
            except OSError:
                return  # either end has gone: the client sees a broken connection, as it would without a proxy
            finally:
                connection.close()
            if asks:
                recorder.add(exchange(request, reply.status, pieces, began))

        def _relay(self, reply: http.client.HTTPResponse) -> list[tuple[float, bytes]]:
            self.send_response(reply.status)
            for name, value in reply.getheaders():
                if name.lower() not in NOT_FORWARDED:
                    self.send_header(name, value)
            self.end_headers()
            pieces: list[tuple[float, bytes]] = []
            while piece := reply.read1(65536):
                pieces.append((time.perf_counter(), piece))
                try:
                    self.wfile.write(piece)
                    self.wfile.flush()
                except OSError:
                    break  # the client stopped the answer: what came until then is recorded
            return pieces

        do_GET = do_POST = _forward

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    recorder.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        server.server_close()


def capped(request: dict[str, Any], answer_tokens: int, seed: int) -> dict[str, Any]:
    name = "max_completion_tokens" if "max_completion_tokens" in request else "max_tokens"
    asked = request.get(name)
    return {"seed": seed, **request, name: min(asked or answer_tokens, answer_tokens)}


def exchange(request: dict[str, Any], status: int, pieces: list[tuple[float, bytes]], began: float) -> Exchange:
    """The answer put together from a stream or a single object."""
    text, finish, first, figures = "", None, None, {}
    calls: dict[int, dict[str, Any]] = {}
    for when, chunk in _chunks(pieces):
        figures = chunk.get("timings") or figures
        for choice in chunk.get("choices") or []:
            delta = choice.get("delta") or choice.get("message") or {}
            finish = choice.get("finish_reason") or finish
            text += delta.get("content") or ""
            for n, call in enumerate(delta.get("tool_calls") or []):
                known = calls.setdefault(call.get("index", n), {"name": "", "arguments": ""})
                for name, value in (call.get("function") or {}).items():
                    known[name] = known.get(name, "") + value
            if first is None and (delta.get("content") or delta.get("tool_calls") or delta.get("reasoning_content")):
                first = when - began
    return Exchange(
        request=request,
        text=text,
        calls=list(calls.values()),
        status=status,
        first_s=first,
        total_s=time.perf_counter() - began,
        cached_tokens=figures.get("cache_n"),
        read_tokens=figures.get("prompt_n"),
        finish=finish,
    )


def _chunks(pieces: list[tuple[float, bytes]]) -> Iterator[tuple[float, dict[str, Any]]]:
    """Each JSON object of the answer, with the time when its last byte came."""
    rest = b""
    for when, piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if isinstance(chunk := _parsed(line.removeprefix(b"data:")), dict):
                yield when, chunk
    if pieces and isinstance(chunk := _parsed(rest.removeprefix(b"data:")), dict):
        yield pieces[-1][0], chunk


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None
