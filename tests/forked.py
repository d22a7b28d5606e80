"""The program in processes of its own, without the second of imports that each would begin with.

A server process imports the program once and forks a child for each start. The child is a fresh process in all else:
its own memory, environment, folder and standard streams; it ends as the interpreter ends. For Linux: on macOS
a process that has loaded the system's frameworks cannot be forked safely, on Windows none can.
"""

import atexit
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Self

from tests.paths import ROOT

HEADLESS, SCREEN = "agent.cli", "tui.main"
IMPORTED = (
    "agent.cli.chat",
    "agent.headless.run",
    "agent.importers",
    "anyio._backends._asyncio",
    "httpcore2",
    "httpx2",
    "memory.search.query_executor",
    "models.chat.openai.provider",
    "numpy.ma",
    "truststore",
    "yaml",
)
"""What most commands load when they run."""
IMPORTED_BY_SCREEN = ("tui.launch", "tui.app", "tui.chat.screen", "textual.drivers.linux_driver")


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
        server = _server(HEADLESS)
        child = server.start(order)
        if (told := server.ended(child, seconds)) is None:
            os.kill(child, signal.SIGKILL)
            told = server.ended(child, None)
        assert told
        status = os.waitstatus_to_exitcode(told["status"])
        took = time.monotonic() - began
        peak_kb = int(peak.read_text()) if peak.exists() else told["peak_kb"]
        return Ended(status, out.read_bytes(), err.read_bytes(), peak_kb / 2**10, took, told["cpu"])


class Piped:
    """The program under way, headless; `stdin` and `stdout` are pipes. Ask it as a `subprocess.Popen`."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        self._server = _server(HEADLESS)
        with tempfile.TemporaryDirectory() as kept:
            streams = [str(Path(kept, name)) for name in ("in", "out")]
            for name in streams:
                os.mkfifo(name)
            order = {"words": list(words), "environment": dict(environment), "folder": str(ROOT), "streams": streams}
            self.pid = self._server.start(order)
            self.stdin = os.fdopen(os.open(streams[0], os.O_WRONLY), "wb")
            self.stdout = os.fdopen(os.open(streams[1], os.O_RDONLY), "rb")

    def send_signal(self, sent: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, sent)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        told = self._server.ended(self.pid, timeout)
        assert told, f"it runs after {timeout} seconds"
        return os.waitstatus_to_exitcode(told["status"])

    @property
    def returncode(self) -> int | None:
        told = self._server.ended(self.pid, 0)
        return told and os.waitstatus_to_exitcode(told["status"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.stdin.close()
        self.wait()


class OnTerminal:
    """The program, started on the terminal of this name; `pid` is its process.

    HEADLESS opens no chat, and its standard input is empty.
    """

    def __init__(
        self, words: Sequence[str], environment: Mapping[str, str], terminal: str, program: str = SCREEN
    ) -> None:
        order = {"words": list(words), "environment": dict(environment), "folder": str(ROOT), "terminal": terminal}
        self._server = _server(program)
        self.pid = self._server.start(order)

    def status(self) -> int | None:
        """The exit status, a signal's number negative; None while it runs."""
        told = self._server.ended(self.pid, 0)
        return told and os.waitstatus_to_exitcode(told["status"])


class _Server:
    """The process that forks."""

    def __init__(self, program: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PALIMPSEST_", "COV_"))}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.forked", program],
            cwd=ROOT,
            # Threads do not survive a fork: the libraries of numpy are to start none.
            env={**kept, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self._begun = b""
        self._started: list[int] = []
        self._ended: dict[int, dict[str, Any]] = {}
        atexit.register(self._process.communicate)

    def start(self, order: dict[str, Any]) -> int:
        """Has a child begin; gives its process id."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        while not self._started:
            self._listen(None)
        return self._started.pop()

    def ended(self, child: int, seconds: float | None) -> dict[str, Any] | None:
        """How the child ended; None where it runs on for so many seconds."""
        end = None if seconds is None else time.monotonic() + seconds
        while child not in self._ended:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not self._listen(left):
                return None
        return self._ended[child]

    def _listen(self, seconds: float | None) -> bool:
        """Takes what the server tells within so many seconds; whether it told anything."""
        assert self._process.stdout
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            return False
        piece = os.read(self._process.stdout.fileno(), 65_536)
        assert piece, "the server that forks has ended"
        *lines, self._begun = (self._begun + piece).split(b"\n")
        for told in map(json.loads, lines):
            if "status" in told:
                self._ended[told["pid"]] = told
            else:
                self._started.append(told["pid"])
        return True


@cache
def _server(program: str) -> _Server:
    return _Server(program)


def serve(program: str) -> int:
    """Forks a child for each line of standard input, and tells of each its id and how it ended."""
    for name in IMPORTED + (IMPORTED_BY_SCREEN if program == SCREEN else ()):
        import_module(name)
    gc.freeze()
    orders, told = os.fdopen(os.dup(0), "rb", buffering=0), os.dup(1)
    running: dict[int, int] = {}
    while True:
        for ready in select.select([orders.fileno(), *running], [], [])[0]:
            if ready in running:
                os.write(told, _end_of(running.pop(ready)))
                os.close(ready)
            elif line := orders.readline():
                child = os.fork()
                if not child:
                    for number in (orders.fileno(), told, *running):
                        os.close(number)
                    return _obey(json.loads(line), program)
                running[os.pidfd_open(child)] = child
                os.write(told, json.dumps({"pid": child}).encode() + b"\n")
            else:
                return 0


def _end_of(child: int) -> bytes:
    _, status, usage = os.wait4(child, 0)
    cpu = usage.ru_utime + usage.ru_stime
    return json.dumps({"pid": child, "status": status, "peak_kb": usage.ru_maxrss, "cpu": cpu}).encode() + b"\n"


def _obey(order: dict[str, Any], program: str) -> int:
    from agent.cli import main

    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    if "terminal" in order:
        _take_terminal(order["terminal"])
        if program == HEADLESS:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            return main(None, order["words"])
        from tui.main import open_screen

        return main(open_screen, order["words"])
    for number, path in enumerate(order["streams"]):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    try:
        return main(None, order["words"])
    finally:
        if "peak" in order:
            Path(order["peak"]).write_text(str(_peak_kb()))


def _take_terminal(name: str) -> None:
    """Makes the terminal that of this process, and its standard streams."""
    import fcntl
    import termios

    os.setsid()
    opened = os.open(name, os.O_RDWR)
    fcntl.ioctl(opened, termios.TIOCSCTTY, 0)
    for number in range(3):
        os.dup2(opened, number)
    os.close(opened)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # files, as the interpreter opened them


def _peak_kb() -> int:
    """Of this process alone; what `wait4` tells has its children in it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    sys.exit(serve(sys.argv[1]))
