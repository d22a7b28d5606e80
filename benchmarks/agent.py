"""What an agent's work costs: 100 scripted reads of 100 files, and the bytes that each request sends.

    python -m benchmarks.agent [--checkout DIR …] [--calls 100] [--window 131072] [--json]

A server on loopback, a process of its own, answers each request with a call of `read_file` for the next file, and says
how many tokens it read (bytes / 4). It counts what each request repeats of the one before, from its first byte on: the
tools, then the messages. A client, a process too, drives `Session.send` with every permission granted, in a workspace
that holds 100 files of Python's own library of about 19 kB each. `--checkout` measures another version beside this one.

`weighted` is the price of a server that caches: 0.1 for what repeats the request before, 1.25 for what is new.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

REPEATED, NEW = 0.1, 1.25  # prices of cached and of new input, as a share of the usual one
FILE_SIZE = 19_000  # bytes of the files that are read, about
HERE = Path(__file__).resolve().parent.parent


def library_files(count: int) -> list[Path]:
    """Files of Python's library whose sizes are nearest to FILE_SIZE, by name."""
    every = [path for path in Path(sysconfig.get_path("stdlib")).glob("*.py") if path.stat().st_size > 1_000]
    every += [path for path in Path(sysconfig.get_path("stdlib")).glob("[a-z]*/*.py") if "site-" not in str(path)]
    nearest = sorted(every, key=lambda path: (abs(path.stat().st_size - FILE_SIZE), str(path)))[:count]
    return sorted(nearest)


class Requests:
    """What the server was sent."""

    def __init__(self, names: list[str], window: int) -> None:
        self._names = names
        self._window = window
        self._before = b""
        self.sent: list[tuple[int, int]] = []  # bytes of each request, and those that are new
        self.rejected = self.others = 0
        self._call = 0

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
        if not asked.get("tools"):
            self.others += 1  # a request of the client's own: a summary
            return 200, self._text("A summary.", body)
        if self._call == len(self._names):
            return 200, self._text("All are read.", body)
        self._call += 1
        arguments = json.dumps({"path": self._names[self._call - 1]})
        call = {"index": 0, "id": f"call_{self._call}", "type": "function"}
        delta = {"tool_calls": [{**call, "function": {"name": "read_file", "arguments": arguments}}]}
        return 200, [_choice(delta), _choice({}, "tool_calls"), self._usage(body)]

    def _text(self, text: str, body: bytes) -> list[dict[str, Any]]:
        return [_choice({"content": text}), _choice({}, "stop"), self._usage(body)]

    def _usage(self, body: bytes) -> dict[str, Any]:
        return {"choices": [], "usage": {"prompt_tokens": len(body) // 4, "completion_tokens": 20}}


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


async def serve(names: list[str], window: int) -> None:
    """The scripted server; prints its port, and its counts when standard input ends."""
    requests = Requests(names, window)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = next((int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:")), 0)
        body = await reader.readexactly(length)
        path = head.split(" ", 2)[1]
        if path.endswith("/chat/completions"):
            status, events = requests.answer(body)
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
    sizes, new = [size for size, _ in requests.sent], sum(new for _, new in requests.sent)
    figures = {
        "requests": len(sizes),
        "sent": sum(sizes),
        "first": sizes[0] if sizes else 0,
        "largest": max(sizes, default=0),
        "new": new,
        "weighted": round(REPEATED * (sum(sizes) - new) + NEW * new),
        "rejected": requests.rejected,
        "model_calls_besides": requests.others,
    }
    print(json.dumps(figures), flush=True)


CLIENT = """
import asyncio, os, sys
from pathlib import Path

from agent.session import Session
from foundation.paths import Workspace
from models.settings import ModelSettings

try:
    from agent.config.config import Config
except ImportError:  # 0.3.0
    from agent.config import Config
try:
    from agent.tools.port import ToolSettings
except ImportError:
    from agent.tools.toolbox import ToolSettings


async def main(root, address, window, calls):
    workspace = Workspace(Path(root))
    config = Config(
        model=f"openai:m@{address}/v1",
        environment=dict(os.environ),
        models=ModelSettings(tools=True, window=window),
        tools=ToolSettings(most_calls=calls + 1),
    )
    session = Session.open(workspace, config)
    last = None
    async for event in session.send("Read every file, one after another."):
        last = event
        answer = getattr(event, "answer", None)
        if answer is not None and not answer.done():
            try:
                from agent.permissions.action import PermissionAnswer

                answer.set_result(PermissionAnswer(True))
            except ImportError:
                answer.set_result(True)
    print(type(last).__name__, getattr(last, "message", ""))
    await session.close()


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
"""


def measure(checkout: Path, calls: int, window: int) -> dict[str, Any]:
    """The figures of one version of this program."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "ws"
        environment = {
            **os.environ,
            "PYTHONPATH": str(checkout),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PALIMPSEST_CONFIG_DIR": f"{folder}/config",
            "PALIMPSEST_DETECT": "off",
        }
        init = [sys.executable, "-P", "-m", "tui.main", "init", str(root)]
        subprocess.run(init, cwd=folder, env=environment, check=True, capture_output=True)
        names: list[str] = []
        for path in library_files(calls):
            names.append(f"{path.parent.name}_{path.name}")
            (root / names[-1]).write_bytes(path.read_bytes())
        arguments = ["--serve", json.dumps(names), "--window", str(window)]
        server = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.agent", *arguments],
            cwd=HERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdin is not None
        assert server.stdout is not None
        port = int(server.stdout.readline())
        begun = time.monotonic()
        client = subprocess.Popen(
            [sys.executable, "-P", "-c", CLIENT, str(root), f"http://127.0.0.1:{port}", str(window), str(calls)],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert client.stdout is not None
        ending = client.stdout.read().strip()
        _, status, used = os.wait4(client.pid, 0)
        client.returncode = os.waitstatus_to_exitcode(status)
        figures, _ = server.communicate("")
        size = sum((root / name).stat().st_size for name in names)
    return {
        "version": checkout.name,
        "ended": ending,
        "files": calls,
        "bytes_of_files": size,
        **json.loads(figures.strip().splitlines()[-1]),
        "cpu_s": round(used.ru_utime + used.ru_stime, 1),
        "wall_s": round(time.monotonic() - begun, 1),
        "peak_mb": round(used.ru_maxrss / 1024, 1),
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--checkout", type=Path, action="append", default=[], help="another version, beside this one")
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--window", type=int, default=131_072)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.serve:
        asyncio.run(serve(json.loads(chosen.serve), chosen.window))
        return 0
    rows = [measure(path.resolve(), chosen.calls, chosen.window) for path in (*chosen.checkout, HERE)]
    if chosen.json:
        print(json.dumps({"benchmark": "agent", "window": chosen.window, "rows": rows}))
        return 0
    print(
        f"{'version':12} {'sent MB':>8} {'new %':>6} {'weighted':>9} {'first kB':>9} {'largest kB':>11} "
        f"{'calls besides':>14} {'rejected':>9} {'CPU s':>6} {'peak MB':>8}"
    )
    for row in rows:
        print(
            f"{row['version']:12} {row['sent'] / 1e6:8.1f} {100 * row['new'] / max(row['sent'], 1):6.1f} "
            f"{row['weighted'] / 1e6:9.1f} {row['first'] / 1e3:9.1f} {row['largest'] / 1e3:11.0f} "
            f"{row['model_calls_besides']:14} {row['rejected']:9} {row['cpu_s']:6.1f} {row['peak_mb']:8.0f}"
        )
        if row["ended"].split()[0:1] != ["AnswerStored"]:
            print(f"  it ended with {row['ended']}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
