"""The real program in a real terminal: bytes in, bytes out, and the screen they draw."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyte

from tests import forked
from tests.own_instructions import decline_own_instructions
from tests.paths import ROOT

PROGRAM = (sys.executable, "-m", "tui.main")


class Terminal:
    """`palimpsest` in a pty of its own. It is forked from a process that has loaded it, where that can be."""

    def __init__(
        self,
        *arguments: str,
        program: Sequence[str] = (),
        columns: int = 80,
        rows: int = 24,
        screen: pyte.Screen | None = None,
        **environment: str,
    ) -> None:
        self.screen = screen or pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.bytes = b""
        self.status: int | None = None
        settings = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PALIMPSEST_DETECT": "off"}
        settings |= {"PALIMPSEST_SCREEN_THEME": "palimpsest", **environment}  # `auto` asks, and nobody answers here
        if config := {**os.environ, **settings}.get("PALIMPSEST_CONFIG_DIR"):
            decline_own_instructions(Path(config))
        size = struct.pack("HHHH", rows, columns, 0, 0)
        self._forked: forked.OnTerminal | None = None
        if sys.platform == "linux" and not program:
            self._fd, there = pty.openpty()
            fcntl.ioctl(self._fd, termios.TIOCSWINSZ, size)
            self._forked = forked.OnTerminal(arguments, {**os.environ, **settings}, os.ttyname(there))
            self.pid = self._forked.pid
            self._read(20)  # it has opened its end when it writes
            os.close(there)
            return
        program = program or PROGRAM
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.environ.update(settings)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell ignores it for what it runs in the background
            os.execvp(program[0], [*program, *arguments])
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, size)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)

    @property
    def settings(self) -> list[object]:
        """How the terminal is set: raw, or with an echo and lines."""
        return termios.tcgetattr(self._fd)

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def resize(self, columns: int, rows: int) -> None:
        """The window has another size now."""
        self.screen.resize(rows, columns)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def quiet(self, seconds: float = 0.3, within: float = 20) -> None:
        """Reads until nothing was written for so long, and it did not wait for the processor either."""
        end, since, size = time.monotonic() + within, time.monotonic(), len(self.bytes)
        while time.monotonic() < since + seconds:
            assert time.monotonic() < end, f"after {within} s it still works:\n{self.text}"
            self._read(0.05)
            if size != len(self.bytes) or self._wants_processor():
                since, size = time.monotonic(), len(self.bytes)

    def _wants_processor(self) -> bool:
        """Whether a thread computes or waits for its turn to, which on a busy machine can take a second."""
        for stat in Path(f"/proc/{self.pid}/task").glob("*/stat"):  # nothing elsewhere than on Linux
            try:
                if stat.read_text("ascii", "replace").rpartition(")")[2].split()[0] in "RD":
                    return True
            except OSError:  # it ended
                continue
        return False

    def until(self, holds: Callable[[str], bool], within: float = 20) -> str:
        """Reads until the screen's text is as it should be; fails with the screen where it is not."""
        end = time.monotonic() + within
        while not holds(self.text):
            assert time.monotonic() < end, f"after {within} s the screen is:\n{self.text}"
            self._read(0.05)
        return self.text

    def settle(self, seconds: float) -> None:
        """Reads for a while: an Esc alone is known by what does not follow it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._read(0.05)

    def ended(self, within: float = 20) -> int:
        """The exit status; fails where it does not end. A signal's number is negative."""
        end = time.monotonic() + within
        while self.status is None:
            assert time.monotonic() < end, f"it did not end within {within} s:\n{self.text}"
            self._read(0.05)
            self.status = self._ended()
        return self.status

    @property
    def is_running(self) -> bool:
        self.status = self._ended() if self.status is None else self.status
        return self.status is None

    def _ended(self) -> int | None:
        if self._forked is not None:
            return self._forked.status()
        done, status = os.waitpid(self.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if done else None

    def close_terminal(self) -> None:
        """The window is gone."""
        os.close(self._fd)
        self._fd = -1

    def close(self) -> None:
        if self.status is None:
            os.kill(self.pid, 9)
            if self._forked is None:
                os.waitpid(self.pid, 0)
        if self._fd >= 0:
            self.close_terminal()

    def _read(self, seconds: float) -> None:
        if self._fd < 0:
            time.sleep(seconds)
            return
        if not select.select([self._fd], [], [], seconds)[0]:
            return
        try:
            found = os.read(self._fd, 65_536)
        except OSError:  # the other end is closed
            found = b""
        self.bytes += found
        self._stream.feed(found)
