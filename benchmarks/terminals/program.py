"""A program in a pseudo-terminal: its output, CPU time, memory and how long a typed key takes to appear."""

import itertools
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

LIMIT_S = 120.0
HANGUL = 0xAC00  # code point of the first letter typed
_KEPT = 400_000  # bytes of output kept
_SCHEDULED = 2  # the clock of the time that a process ran, as clock_getcpuclockid(3) names it


class TerminalProgram:
    """Runs `command` in a pty of `columns`×`rows`. A thread reads all that it writes; use it as a context manager."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 120,
        rows: int = 40,
        folder: Path | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        import fcntl
        import termios

        self.started = time.perf_counter()
        self.written = 0  # bytes
        self.writes = 0  # reads that returned bytes
        self._recent = bytearray()
        self._news = threading.Condition()
        self._letters = itertools.count(HANGUL)
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            time.sleep(0.05)  # until the window has its size
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # no installed program is compiled at each start
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", PALIMPSEST_DETECT="off")
            os.environ.update(environment or {})
            os.chdir(folder or Path.cwd())
            os.execvp(command[0], list(command))
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self._reader.join(5)
        os.close(self._terminal)

    def _read(self) -> None:
        while True:
            try:
                select.select([self._terminal], [], [])
                data = os.read(self._terminal, 262_144)
            except OSError:  # the program has ended
                data = b""
            with self._news:
                self.written += len(data)
                self.writes += 1
                self._recent += data
                if len(self._recent) > 2 * _KEPT:
                    del self._recent[:-_KEPT]
                self._news.notify_all()
            if not data:
                return

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def forget(self) -> None:
        """Drops the output kept so far: `wait_for` looks at what comes after."""
        with self._news:
            self._recent.clear()

    def wait_for(self, mark: str, within: float = LIMIT_S) -> float:
        """Waits until the output holds `mark`; gives the seconds it took. Raises TimeoutError."""
        start, data = time.perf_counter(), mark.encode()
        with self._news:
            if not self._news.wait_for(lambda: data in self._recent, within):
                raise TimeoutError(
                    f"{mark!r} was not drawn within {within} s; the last: {bytes(self._recent[-300:])!r}"
                )
        return time.perf_counter() - start

    def wait_until_quiet(self, seconds: float, within: float = LIMIT_S) -> float:
        """Waits until it has written something and then nothing for so long; gives the seconds to its last output."""
        start = last = time.perf_counter()
        written = 0
        while time.perf_counter() - start < within:
            time.sleep(0.05)
            if self.written != written:
                written, last = self.written, time.perf_counter()
            elif written and time.perf_counter() - last > seconds:
                return last - self.started
        raise TimeoutError(f"it was not quiet within {within} s")

    def echo(self) -> float:
        """Types a letter that nothing else draws; gives the seconds until it is drawn."""
        letter = chr(next(self._letters))
        self.forget()
        start = time.perf_counter()
        self.type(letter)
        self.wait_for(letter)
        return time.perf_counter() - start

    @property
    def cpu_s(self) -> float:
        """User and system time so far of all its threads, in seconds: to the nanosecond where the system tells."""
        if sys.platform == "linux":
            return time.clock_gettime((~self.pid << 3) | _SCHEDULED)
        days, _, clock = self._ps("cputime").rpartition("-")
        hours, minutes, seconds = ("0:0:" + clock).split(":")[-3:]
        return 86_400 * int(days or 0) + 3600 * int(hours) + 60 * int(minutes) + float(seconds)

    @property
    def memory_mb(self) -> float:
        """Resident memory now, in MiB."""
        return self._memory("VmRSS")

    @property
    def peak_mb(self) -> float:
        """The most resident memory so far, in MiB; what is resident now, where the system does not say."""
        return self._memory("VmHWM")

    def _memory(self, field: str) -> float:
        status = Path(f"/proc/{self.pid}/status")
        if status.exists():
            line = next(line for line in status.read_text().splitlines() if line.startswith(field))
            return int(line.split()[1]) / 1024
        return int(self._ps("rss")) / 1024

    def _ps(self, field: str) -> str:
        command = ["ps", "-o", f"{field}=", "-p", str(self.pid)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
