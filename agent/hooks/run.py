"""Runs one hook: JSON on standard input, its output and status back, within its time."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final

import msgspec
from msgspec import Struct

from agent.hooks.settings import HookCommand
from agent.tools.commands.process import IS_WINDOWS, CommandStatus, Launch, shell_arguments, start_supervised

MAX_OUTPUT: Final = 256 * 1024  # bytes of each stream that are kept; the rest is read and dropped
_POLL_SECONDS: Final = 0.02
_DRAIN_SECONDS: Final = 1.0


class HookResult(Struct, frozen=True):
    """How a hook ended. `error` says why it could not be run to its end; "" where it was."""

    exit: int
    stdout: str = ""
    stderr: str = ""
    error: str = ""


def run_hook(
    hook: HookCommand,
    message: Mapping[str, Any],
    folder: Path,
    environment: Mapping[str, str],
    is_stopped: Callable[[], bool] = lambda: False,
) -> HookResult:
    """Runs the command in the folder. After `timeout` seconds, or once stopped, it is ended. So is, always, all
    that it leaves behind."""
    try:
        process, source, status = _started(hook.command, folder, environment)
    except OSError as error:
        return HookResult(-1, error=f"it could not be started: {error.strerror or error}")
    streams = [_Reader(stream) for stream in (process.stdout, process.stderr) if stream]
    Thread(target=_feed, args=(source, msgspec.json.encode(message)), daemon=True).start()
    deadline, error = time.monotonic() + hook.timeout, ""
    while process.poll() is None and not error:
        time.sleep(_POLL_SECONDS)
        if is_stopped():
            error = "it was stopped with the turn"
        elif time.monotonic() > deadline:
            error = f"it took more than {hook.timeout:g} s and was ended"
    if error:
        _end(process)
    stdout, stderr = (stream.text() for stream in streams)
    if any(stream.is_alive for stream in streams):  # something that it left behind holds its output
        _end(process)
    ended = _status(process, status)
    if ended.error and not error:
        error = f"it could not be started: {ended.error}"
    return HookResult(-ended.signal or ended.exit, stdout, stderr, error)


def _started(
    command: str, folder: Path, environment: Mapping[str, str]
) -> "tuple[subprocess.Popen[bytes], IO[bytes] | None, int]":
    """The process, its standard input, and the descriptor of its status (-1 on Windows).

    Elsewhere it runs under the supervisor, which ends all that the hook leaves behind.
    """
    if IS_WINDOWS:
        process = subprocess.Popen(
            command,
            shell=True,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        return process, process.stdin, -1
    reading, writing = os.pipe()
    launch = Launch(arguments=shell_arguments(command), folder=folder, environment=environment)
    try:
        process, status = start_supervised(launch, stderr=subprocess.PIPE, source=reading)
    except OSError:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    return process, os.fdopen(writing, "wb"), status


def _status(process: "subprocess.Popen[bytes]", status: int) -> CommandStatus:
    """How the hook ended, once it has."""
    exit_code = process.wait()
    if status < 0:
        return CommandStatus(exit=exit_code)
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    with os.fdopen(status, "rb") as pipe:
        line = pipe.readline()
    return msgspec.json.decode(line, type=CommandStatus) if line else CommandStatus()


class _Reader:
    """Reads a stream to its end, and keeps the first MAX_OUTPUT bytes of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._kept = bytearray()
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with suppress(OSError, ValueError), self._stream as stream:
            while piece := os.read(stream.fileno(), 65_536):
                self._kept += piece[: MAX_OUTPUT - len(self._kept)]

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def text(self) -> str:
        self._thread.join(_DRAIN_SECONDS)
        return self._kept.decode("utf-8", "replace").strip()


def _feed(stream: IO[bytes] | None, message: bytes) -> None:
    """Writes the message; a hook need not read it."""
    with suppress(OSError, ValueError):
        if stream:
            with stream:
                stream.write(message)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends the hook with all that it started."""
    if IS_WINDOWS:
        with suppress(OSError):
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        process.kill()
    elif process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    process.wait()
