"""A server on loopback that says exactly what a test wants, byte by byte, and keeps the very bytes it was sent.

    with Loopback() as server:
        server.plays(chat("Hello ", "there."))          # the next POST
        server.answers("/props", json_reply({...}))     # every GET of that path
        …
        assert server.requests[0].json["messages"][-1]["content"] == "hi"

A reply is bytes and steps: bytes are sent as they are, a Pause waits, Stall keeps silent until the client goes
away (`server.client_left` is set then), Cut closes at once.
"""

import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Stall:
    """Silence until the client goes away, or the server is closed."""


@dataclass(frozen=True)
class Cut:
    """The end, in the middle. `reset`: not even politely."""

    reset: bool = False


Step = bytes | Pause | Stall | Cut
Reply = Sequence[Step]


@dataclass(frozen=True)
class Received:
    """One request, to the byte."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def http(
    body: bytes | Iterable[Step] = b"",
    *,
    status: int = 200,
    kind: str = "application/json",
    headers: dict[str, str] | None = None,
    length: bool = True,
) -> Reply:
    """A whole response. Given steps, its length is left out, and it ends with the connection."""
    steps: list[Step] = [body] if isinstance(body, bytes) else list(body)
    lines = [f"HTTP/1.1 {status} Status", f"content-type: {kind}", "connection: close"]
    if length and isinstance(body, bytes):
        lines.append(f"content-length: {len(body)}")
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return [("\r\n".join(lines) + "\r\n\r\n").encode(), *steps]


def json_reply(value: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    return http(json.dumps(value).encode(), status=status, headers=headers)


def stream(*steps: Step) -> Reply:
    """An event stream of these very bytes."""
    return http(steps, kind="text/event-stream")


def chunked(*steps: Step) -> Reply:
    """An event stream in HTTP's chunked coding; without its last chunk where a Cut ends it."""
    coded = [b"%x\r\n%s\r\n" % (len(step), step) if isinstance(step, bytes) else step for step in steps]
    ended = [] if any(isinstance(step, Cut) for step in steps) else [b"0\r\n\r\n"]
    return http([*coded, *ended], kind="text/event-stream", headers={"transfer-encoding": "chunked"})


def data(value: Any, *, event: str = "", newline: str = "\n") -> bytes:
    """One server-sent event."""
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    named = f"event: {event}{newline}" if event else ""
    return f"{named}data: {words}{newline}{newline}".encode()


def delta(finish: str | None = None, **given: Any) -> dict[str, Any]:
    """A chunk of an OpenAI-compatible stream."""
    choice = {"index": 0, "delta": given, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def chat_bytes(*pieces: str, prompt_tokens: int = 12, finish: str = "stop") -> bytes:
    """The whole stream of an ordinary answer."""
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": len(pieces)}
    chunks = [delta(role="assistant", content=""), *(delta(content=piece) for piece in pieces), delta(finish)]
    chunks.append({"id": "c1", "object": "chat.completion.chunk", "choices": [], "usage": usage})
    return b"".join(map(data, chunks)) + data("[DONE]")


def varied(unit: str, times: int) -> str:
    """The unit many times, each time with its number: no loop of a model."""
    return "".join(f"{unit}({number}) " for number in range(times))


def chat(*pieces: str, prompt_tokens: int = 12, finish: str = "stop") -> Reply:
    """An ordinary answer, streamed."""
    return stream(chat_bytes(*pieces, prompt_tokens=prompt_tokens, finish=finish))


def in_pieces(whole: bytes, size: int = 1) -> list[Step]:
    """The same bytes, `size` at a time."""
    return [whole[i : i + size] for i in range(0, len(whole), size)]


@dataclass
class Loopback:
    """The server: a thread that accepts, and one for each connection."""

    requests: list[Received] = field(default_factory=list)
    client_left: threading.Event = field(default_factory=threading.Event)
    _queue: deque[Reply] = field(default_factory=deque)
    _routes: dict[str, Reply] = field(default_factory=dict)
    _always: Callable[[Received], Reply] | None = None
    _closing: threading.Event = field(default_factory=threading.Event)
    port: int = 0  # any free one

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._threads: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        with socket.create_connection(self._listener.getsockname()):
            pass  # wakes the thread that accepts
        self._accepting.join(5)
        for thread in self._threads:
            thread.join(5)
        self._listener.close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def posts(self) -> list[Received]:
        return [request for request in self.requests if request.method == "POST"]

    def plays(self, *replies: Reply) -> None:
        """What the next POSTs get, in order; 500 when there are none left."""
        self._queue.extend(replies)

    def answers(self, path: str, reply: Reply) -> None:
        """What every request for this path gets, GET or POST."""
        self._routes[path] = reply

    def answers_all(self, reply: Callable[[Received], Reply]) -> None:
        """What every other POST gets, by what it asks."""
        self._always = reply

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            if self._closing.is_set():
                connection.close()
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                received = _read(connection)
                if received is None:
                    return
                self.requests.append(received)
                for step in self._reply_to(received):
                    if self._play(step, connection) is False:
                        return
            except OSError:
                self.client_left.set()

    def _reply_to(self, received: Received) -> Reply:
        if received.path in self._routes:
            return self._routes[received.path]
        if received.method == "POST" and self._queue:
            return self._queue.popleft()
        if received.method == "POST" and self._always:
            return self._always(received)
        return json_reply({"error": {"message": "not in the script"}}, status=404)

    def _play(self, step: Step, connection: socket.socket) -> bool:
        match step:
            case Pause(seconds):
                return not self._closing.wait(seconds)
            case Stall():
                connection.settimeout(0.05)
                while not self._closing.is_set():
                    try:
                        if connection.recv(1) == b"":
                            self.client_left.set()
                            return False
                    except TimeoutError:
                        continue
                return False
            case Cut(reset=True):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
            case Cut():
                return False
            case _:
                connection.sendall(step)
                return True


def _read(connection: socket.socket) -> Received | None:
    got = b""
    while b"\r\n\r\n" not in got:
        piece = connection.recv(65536)
        if not piece:
            return None
        got += piece
    head, _, body = got.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    method, path, _ = first.split(" ", 2)
    return Received(method, path, headers, body)
