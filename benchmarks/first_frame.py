"""The first usable frame, beside an empty Textual app: CPU and memory of a real process in a real terminal.

    python -m benchmarks.first_frame [--runs 5] [--json]

Each program runs in a pty of 80×24. The moment is the one at which its prompt is drawn (for the empty app: its one
word); then the process's CPU time and its peak memory are read. Marks: at most 2× the CPU, 1.5× the memory.
"""

import argparse
import json
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("READY")
Empty().run()
"""
LIMIT = 60  # seconds


def cpu_seconds(pid: int) -> float:
    """User and system time of a running process."""
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists():
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    told = subprocess.run(["ps", "-o", "cputime=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout
    minutes, seconds = told.strip().replace("-", ":").split(":")[-2:]
    return 60 * int(minutes) + float(seconds)


def peak_mb(pid: int) -> float:
    """The most memory the process has held, in MiB."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout
    return int(told) / 1024


def first_frame(command: list[str], mark: bytes) -> dict[str, float]:
    """Runs the command until `mark` is drawn."""
    import fcntl
    import termios

    start = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", PALIMPSEST_DETECT="off")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each start compiles us, which no installed program does
        os.execv(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    seen = b""
    try:
        while mark not in seen:
            if time.perf_counter() - start > LIMIT or not select.select([terminal], [], [], LIMIT)[0]:
                raise TimeoutError(f"{mark!r} was not drawn within {LIMIT} s; the last bytes: {seen[-300:]!r}")
            seen += os.read(terminal, 65_536)
        return {"cpu_s": cpu_seconds(pid), "wall_s": time.perf_counter() - start, "memory_mb": peak_mb(pid)}
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def measure(runs: int) -> dict[str, dict[str, float]]:
    """The medians of each program, run in turn."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "empty.py"
        script.write_text(EMPTY)
        programs = {
            "empty": ([sys.executable, str(script)], b"READY"),
            "palimpsest": ([sys.executable, "-m", "tui.main", "--workspace", f"{folder}/notes"], "❯".encode()),
        }
        taken: dict[str, list[dict[str, float]]] = {name: [] for name in programs}
        for _ in range(runs):
            for name, (command, mark) in programs.items():
                taken[name].append(first_frame(command, mark))
    return {
        name: {key: round(statistics.median(run[key] for run in found), 3) for key in found[0]}
        for name, found in taken.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found: dict[str, Any] = measure(asked.runs)
    ratios = {key: round(found["palimpsest"][key] / found["empty"][key], 2) for key in ("cpu_s", "memory_mb")}
    if asked.json:
        print(json.dumps({"schema": 1, "runs": found, "ratios": ratios}))
        return
    print(f"{'program':12} {'CPU s':>7} {'wall s':>7} {'peak MB':>8}")
    for name, run in found.items():
        print(f"{name:12} {run['cpu_s']:7.2f} {run['wall_s']:7.2f} {run['memory_mb']:8.1f}")
    print(f"CPU {ratios['cpu_s']}× (at most 2), memory {ratios['memory_mb']}× (at most 1.5)")


if __name__ == "__main__":
    main()
