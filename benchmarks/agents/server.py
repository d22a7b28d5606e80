"""The scripted server: it asks for what the trace says, and counts what each request sends.

    python -m benchmarks.agents.server TRACE.json WINDOW [llama]

It says how many tokens it read (bytes / 4). What a request repeats of the one before is counted from its first byte on:
the tools, then the messages. With `llama` a real llama.cpp reads each request too, before it is answered. The port goes
to standard output, and the counts when standard input ends.
"""

import asyncio
import json
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.agents.controls import NEW, REPEATED
from benchmarks.agents.prefill import LlamaPrefill
from benchmarks.agents.traces import Call, Trace


class Requests:
    """What the server was sent, and what it answers."""

    def __init__(self, trace: Trace, window: int, llama: LlamaPrefill | None = None) -> None:
        self._steps: list[Call | str] = [step for turn in trace.turns for step in (*turn.calls, turn.answer)]
        self._window = window
        self._llama = llama
        self._before = b""
        self.sent: list[tuple[int, int]] = []  # bytes of each request, and those that are new
        self.rejected = self.others = 0
        self._step = 0

    def answer(self, body: bytes) -> tuple[int, list[dict[str, Any]]]:
        """The status, and the events of the stream."""
        asked = json.loads(body)
        whole = json.dumps([asked.get("tools"), asked["messages"]], ensure_ascii=False).encode()
        new = len(whole) - _common(self._before, whole)
        self._before = whole
        self.sent.append((len(body), new))
        if len(body) / 4 > self._window:
            self.rejected += 1
            return 400, [{"error": {"message": "the request exceeds the context window"}}]
        if self._llama is not None:
            self._llama.read(asked)
        if not asked.get("tools"):
            self.others += 1  # a request of the client's own: a summary
            return 200, self._text("A summary.", body)
        if self._step == len(self._steps):
            return 200, self._text("Nothing is left to do.", body)
        step = self._steps[self._step]
        self._step += 1
        if isinstance(step, str):
            return 200, self._text(step, body)
        call = {"index": 0, "id": f"call_{self._step}", "type": "function"}
        delta = {"tool_calls": [{**call, "function": {"name": step.name, "arguments": json.dumps(step.arguments)}}]}
        return 200, [_choice(delta), _choice({}, "tool_calls"), self._usage(body)]

    def figures(self) -> dict[str, Any]:
        sizes, new = [size for size, _ in self.sent], sum(new for _, new in self.sent)
        return {
            "requests": len(sizes),
            "sent": sum(sizes),
            "first": sizes[0] if sizes else 0,
            "largest": max(sizes, default=0),
            "new": new,
            "weighted": round(REPEATED * (sum(sizes) - new) + NEW * new),
            "stability": round(1 - _lost(self.sent) / max(1, sum(sizes[:-1])), 4),
            "rejected": self.rejected,
            "model_calls_besides": self.others,
            "sizes": sizes,
            **(
                {"llama_tokens": self._llama.prompt_tokens, "llama_read": self._llama.read_tokens}
                if self._llama
                else {}
            ),
        }

    def _text(self, text: str, body: bytes) -> list[dict[str, Any]]:
        return [_choice({"content": text}), _choice({}, "stop"), self._usage(body)]

    def _usage(self, body: bytes) -> dict[str, Any]:
        return {"choices": [], "usage": {"prompt_tokens": len(body) // 4, "completion_tokens": 20}}


def _lost(sent: list[tuple[int, int]]) -> int:
    """Bytes of each request that the next one does not begin with."""
    return sum(max(0, before - (size - new)) for (before, _), (size, new) in pairwise(sent))


def _choice(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _common(first: bytes, second: bytes) -> int:
    """Bytes at the head that both share."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[:middle] == second[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


async def serve(trace: Trace, window: int, llama: LlamaPrefill | None) -> None:
    requests = Requests(trace, window, llama)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = next((int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:")), 0)
        body = await reader.readexactly(length)
        path = head.split(" ", 2)[1]
        if path.endswith("/chat/completions"):
            status, events = await asyncio.to_thread(requests.answer, body)
            kind = "text/event-stream" if status == 200 else "application/json"
            lines = [f"data: {json.dumps(event)}\n\n" for event in events] if status == 200 else [json.dumps(events[0])]
            text = "".join(lines) + ("data: [DONE]\n\n" if status == 200 else "")
        else:
            status, kind, text = 404, "application/json", "{}"
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n{text}".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=2**24)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(json.dumps(requests.figures()), flush=True)


if __name__ == "__main__":
    _trace, _window = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Trace), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as _folder:
        asyncio.run(serve(_trace, _window, LlamaPrefill(Path(_folder), _window) if "llama" in sys.argv[3:] else None))
