"""Stands between the program and a real server, and keeps the very bytes that the server received."""

import contextlib
import json
import socket
import threading
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit


@dataclass
class RecordingProxy:
    """Forwards every connection to `upstream` (http://host:port) as it comes."""

    upstream: str
    _streams: list[bytearray] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)
    _sockets: list[socket.socket] = field(default_factory=list)
    _closing: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.1)
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        for thread in list(self._threads):
            thread.join(5)
        for one in (self._listener, *self._sockets):
            one.close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def chats(self) -> list[dict[str, Any]]:
        """The bodies of the chat requests, in order, as JSON."""
        return [json.loads(body) for path, body in self._requests() if path.endswith("/chat/completions")]

    def sent(self, n: int = -1) -> str:
        """All the words of the n-th chat request's messages, as they went over the wire."""
        return "\n".join(_words(message["content"]) for message in self.chats[n]["messages"])

    def _requests(self) -> list[tuple[str, bytes]]:
        found: list[tuple[str, bytes]] = []
        for stream in self._streams:
            rest = bytes(stream)
            while b"\r\n\r\n" in rest:
                head, _, rest = rest.partition(b"\r\n\r\n")
                lines = head.decode("latin-1").split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in lines[1:])
                length = int(headers.get("content-length", "0"))
                found.append((lines[0].split(" ")[1], rest[:length]))
                rest = rest[length:]
        return found

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            where = urlsplit(self.upstream)
            server = socket.create_connection((where.hostname, where.port))
            kept = bytearray()
            self._streams.append(kept)
            self._sockets += [client, server]
            self._start(self._pump, client, server, kept)
            self._start(self._pump, server, client, None)

    def _pump(self, source: socket.socket, target: socket.socket, kept: bytearray | None) -> None:
        source.settimeout(0.1)
        try:
            while not self._closing.is_set():
                try:
                    piece = source.recv(65536)
                except TimeoutError:
                    continue
                if not piece:
                    break
                if kept is not None:
                    kept += piece
                target.sendall(piece)
        except OSError:
            pass  # the other pump shut it down
        finally:
            for end in (source, target):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def _start(self, run: Any, *arguments: Any) -> None:
        thread = threading.Thread(target=run, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [])
