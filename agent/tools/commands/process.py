"""A running command: starts it under its supervisor, reads its output, and stops it with all that it started."""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Final

import msgspec
from msgspec import Struct

from agent.tools.commands.captured_output import CapturedOutput
from agent.tools.commands.confinement import Confinement
from agent.tools.commands.supervisor import MARKER
from agent.tools.port import ToolFailure

IS_WINDOWS: Final = sys.platform == "win32"
GRACE: Final = 2.0  # seconds between SIGTERM and SIGKILL for a command that is stopped
REPORT_SECONDS: Final = 0.1  # between two reports of output
_DRAIN_SECONDS: Final = 1.0  # for the last output, once the supervisor has ended
_PIECE: Final = 65_536
_SUPERVISOR: Final = (
    f"import sys; sys.path.append({str(Path(__file__).parents[3])!r}); "
    "from agent.tools.commands.supervisor import main; main()"
)


class Launch(Struct, frozen=True, kw_only=True):
    """How a command is started. `arguments` are its shell's; a sandbox's program may stand before them."""

    arguments: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    confinement: Confinement | None = None


class CommandStatus(Struct, frozen=True):
    """How a command ended: its exit status, or the signal that ended it.

    `left` counts processes that it left and that were ended; `error` says why it could not be run. `exit` is -1 where
    it is not known.
    """

    exit: int = -1
    signal: int = 0
    left: int = 0
    stopped: bool = False
    error: str = ""
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """`exit 0`, `ended by SIGSEGV`."""
        if self.error:
            return f"not run: {self.error}"
        if self.signal:
            return f"ended by {_signal_name(self.signal)}"
        return f"exit {self.exit}" if self.exit >= 0 else "ended, its status unknown"


class CommandProcess:
    """A command that runs, or has ended. `ended` is set once `status` is known and no process of it is left."""

    def __init__(self, launch: Launch, most_output: int) -> None:
        """Starts it. `most_output`: bytes of output that are kept. Raises ToolFailure where it cannot be started."""
        self.output = CapturedOutput(most_output)
        self.begun = time.monotonic()
        self.ended = Event()
        self.status: CommandStatus | None = None
        try:
            self._process, self._status_pipe = _start(launch)
        except OSError as error:
            raise ToolFailure("Not started", f"The command could not be started: {error.strerror}.") from error
        Thread(target=self._follow, name="command-output", daemon=True).start()

    @property
    def seconds(self) -> float:
        """How long it has run, or ran."""
        return self.status.seconds if self.status else time.monotonic() - self.begun

    def stop(self) -> None:
        """Ends it with all that it started; returns at once."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        if IS_WINDOWS:
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(self._process.pid)], capture_output=True, check=False)

    def wait(self, seconds: float, stopped: Event, report: Callable[[str], None]) -> bool:
        """Waits for its end and reports output meanwhile; whether it has ended. Returns early once `stopped` is set."""
        until = time.monotonic() + seconds
        while not self.ended.is_set() and not stopped.is_set() and (left := until - time.monotonic()) > 0:
            self.ended.wait(min(REPORT_SECONDS, left))
            if text := self.output.take_recent():
                report(text)
        return self.ended.is_set()

    def _follow(self) -> None:
        """Reads the output, then the status."""
        output = self._process.stdout
        try:
            if output is None or IS_WINDOWS:
                status = self._follow_on_windows()
            else:
                status = self._follow_supervisor(output.fileno())
        except OSError as error:
            status = CommandStatus(error=str(error))
        self._process.wait()
        for pipe in (output, self._process.stdin):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self.status = msgspec.structs.replace(status, seconds=time.monotonic() - self.begun)
        self.ended.set()

    def _follow_supervisor(self, output: int) -> CommandStatus:
        line, open_pipes = b"", {output, self._status_pipe}
        with selectors.DefaultSelector() as selector:  # `select` takes no descriptor above 1,023
            for pipe in open_pipes:
                selector.register(pipe, selectors.EVENT_READ)
            while open_pipes:
                drained = self._status_pipe not in open_pipes
                ready = selector.select(_DRAIN_SECONDS if drained else None)
                if not ready:
                    break  # a process that was not found holds the output open
                for key, _ in ready:
                    data = os.read(key.fd, _PIECE)
                    if not data:
                        selector.unregister(key.fd)
                        open_pipes.remove(key.fd)
                    elif key.fd == output:
                        self.output.add(data)
                    else:
                        line += data
        os.close(self._status_pipe)
        first = line.split(b"\n", 1)[0]
        return msgspec.json.decode(first, type=CommandStatus) if first else CommandStatus()

    def _follow_on_windows(self) -> CommandStatus:
        if self._process.stdout is not None:
            while data := os.read(self._process.stdout.fileno(), _PIECE):
                self.output.add(data)
        return CommandStatus(exit=self._process.wait())


def shell_arguments(command: str) -> list[str]:
    """The shell that runs the command; it reads no profile."""
    if IS_WINDOWS:
        return ["cmd.exe", "/d", "/s", "/c", command]
    return ["/bin/sh", "-c", command]


def _start(launch: Launch) -> tuple[subprocess.Popen[bytes], int]:
    """The supervisor's process, and the descriptor of its status (-1 for none)."""
    if IS_WINDOWS:
        flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0)
        line = subprocess.list2cmdline(launch.arguments[:-1]) + f' "{launch.arguments[-1]}"'  # cmd /s strips the quotes
        return subprocess.Popen(
            line,
            cwd=launch.folder,
            env=dict(launch.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            creationflags=flags,
        ), -1
    return start_supervised(launch)


def start_supervised(
    launch: Launch, *, stderr: int = subprocess.STDOUT, source: int | None = None
) -> tuple[subprocess.Popen[bytes], int]:
    """The supervisor's process and the descriptor of its status, one line of CommandStatus. Not on Windows.

    Closing the process's `stdin` stops the command. `source` is a descriptor for the command's standard input.
    Raises OSError.
    """
    marker = f"{os.getpid()}-{time.monotonic_ns()}"
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _SUPERVISOR, str(writing)],
            cwd="/",
            env={**launch.environment, MARKER: marker},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            pass_fds=(writing,) if source is None else (writing, source),
            start_new_session=True,
            bufsize=0,
        )
    except OSError:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    specification = {
        "arguments": list(launch.arguments),
        "folder": str(launch.folder),
        "grace": GRACE,
        "input": source,
        "marker": marker,
        "sandbox": launch.confinement and launch.confinement._asdict(),
    }
    if process.stdin is not None:
        with suppress(BrokenPipeError):  # it could not begin, and its status says why
            process.stdin.write(json.dumps(specification).encode() + b"\n")
    return process, reading


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
