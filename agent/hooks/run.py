"""Runs one hook: JSON on standard input, its output and status back, within its time."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final

import msgspec
from msgspec import Struct

from agent.hooks.settings import HookCommand

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
    """Runs the command in the folder. After `timeout` seconds, or once stopped, it is ended with its process group."""
    try:
        process = subprocess.Popen(
            hook.command,
            shell=True,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return HookResult(-1, error=f"it could not be started: {error.strerror or error}")
    streams = [_Reader(stream) for stream in (process.stdout, process.stderr) if stream]
    Thread(target=_feed, args=(process.stdin, msgspec.json.encode(message)), daemon=True).start()
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
    return HookResult(process.wait(), stdout, stderr, error)


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
    """Ends the process with all of its group."""
    if sys.platform == "win32":
        with suppress(OSError):
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
