"""Commands of the program in processes of their own, without the second of imports that each would begin with.

A server process imports the program once and forks a child for each command. The child is a fresh process in all else:
its own memory, environment, folder and standard streams; it ends as the interpreter ends. For Linux: on macOS
a process that has loaded the system's frameworks cannot be forked safely, on Windows none can.
"""

import atexit
import gc
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from tests.paths import ROOT

IMPORTED = (
    "agent.cli.chat",
    "agent.headless.run",
    "agent.importers",
    "anyio._backends._asyncio",
    "httpcore2",
    "httpx2",
    "memory.search.engine",
    "models.chat.openai.provider",
    "numpy.ma",
    "truststore",
    "yaml",
)
"""What most commands load when they run."""


class Ended(NamedTuple):
    """`peak_mb` is the largest resident set of the process without its own children, `cpu` seconds of all threads."""

    status: int
    out: bytes
    err: bytes
    peak_mb: float
    seconds: float
    cpu: float


def run(
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdin: Path = Path(os.devnull),
    folder: Path = ROOT,
    seconds: float = 60,
) -> Ended:
    """Runs one command line of the program; a process that takes longer than `seconds` is killed: its status is -9."""
    with tempfile.TemporaryDirectory() as kept:
        out, err, peak = (Path(kept, name) for name in ("out", "err", "peak"))
        order = {
            "words": list(words),
            "environment": dict(environment),
            "folder": str(folder),
            "streams": [str(stdin), str(out), str(err)],
            "peak": str(peak),
        }
        began = time.monotonic()
        told = _server().ended(order, seconds)
        status = os.waitstatus_to_exitcode(told["status"])
        took = time.monotonic() - began
        peak_kb = int(peak.read_text()) if peak.exists() else told["peak_kb"]
        return Ended(status, out.read_bytes(), err.read_bytes(), peak_kb / 2**10, took, told["cpu"])


class _Server:
    """The process that forks."""

    def __init__(self) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PALIMPSEST_", "COV_"))}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.forked"],
            cwd=ROOT,
            # Threads do not survive a fork: the libraries of numpy are to start none.
            env={**kept, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        atexit.register(self.close)

    def ended(self, order: dict[str, Any], seconds: float) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        child = json.loads(self._process.stdout.readline())["pid"]
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            os.kill(child, 9)
        told: dict[str, Any] = json.loads(self._process.stdout.readline())
        return told

    def close(self) -> None:
        self._process.communicate()


@cache
def _server() -> _Server:
    return _Server()


def serve() -> int:
    """Forks a child for each line of standard input, and tells of each its id and how it ended."""
    for name in IMPORTED:
        import_module(name)
    gc.freeze()
    orders, told = os.fdopen(os.dup(0), "rb"), os.dup(1)
    for line in iter(orders.readline, b""):
        child = os.fork()
        if not child:
            orders.close()
            os.close(told)
            return _obey(json.loads(line))
        os.write(told, json.dumps({"pid": child}).encode() + b"\n")
        _, status, usage = os.wait4(child, 0)
        cpu = usage.ru_utime + usage.ru_stime
        answer = {"status": status, "peak_kb": usage.ru_maxrss, "cpu": cpu}
        os.write(told, json.dumps(answer).encode() + b"\n")
    return 0


def _obey(order: dict[str, Any]) -> int:
    from agent.cli import main

    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    for number, path in enumerate(order["streams"]):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    try:
        return main(None, order["words"])
    finally:
        Path(order["peak"]).write_text(str(_peak_kb()))


def _peak_kb() -> int:
    """Of this process alone; what `wait4` tells has its children in it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    sys.exit(serve())
