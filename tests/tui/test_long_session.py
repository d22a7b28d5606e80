"""A day of use: the memory of the chat stays flat over thousands of turns."""

import os
import sys
import time
from pathlib import Path

import pytest

from tests.loopback import Loopback, chat

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(sys.platform != "linux", reason="a pty is POSIX's, and /proc is Linux's"),
    pytest.mark.timeout(7200),
]

if sys.platform != "win32":
    from tests.tui.pty_screen import PROGRAM, Terminal

TURNS = int(os.environ.get("PALIMPSEST_SOAK_TURNS", "10000"))
MOST_GROWN_MB = 25.0  # in the second half of the turns; in the first the search fills its caches of analysed texts
WORDS = ("harbour", "boiler", "Hansen", "winter", "`zones`", "**twice**", "page", "letter", "window", "station")


def test_the_second_half_of_ten_thousand_turns_takes_no_more_memory(tmp_path: Path) -> None:
    config = str(tmp_path / "config")
    with Loopback() as server:
        terminal = Terminal(
            *("--workspace", str(tmp_path / "notes"), "--model", f"openai:m@{server.address}/v1"),
            program=PROGRAM,
            PALIMPSEST_CONFIG_DIR=config,
        )
        terminal.until(lambda text: "mode ask" in text)
        memory: list[float] = []
        seconds: list[float] = []
        for turn in range(TURNS):
            start = time.perf_counter()
            take_turn(terminal, server, turn)
            seconds.append(time.perf_counter() - start)
            if (turn + 1) % max(TURNS // 10, 1) == 0:
                memory.append(resident_mb(terminal.pid))
                mean = sum(seconds[-TURNS // 10 :]) / (TURNS // 10)
                print(f"{turn + 1} turns: {memory[-1]:.1f} MB, {1000 * mean:.0f} ms a turn", flush=True)
        terminal.close()
    assert memory[-1] - memory[len(memory) // 2 - 1] < MOST_GROWN_MB, memory


def take_turn(terminal: "Terminal", server: Loopback, turn: int) -> None:
    """Sends a message and waits until its answer is on the screen."""
    words = " ".join(WORDS[(turn * step) % len(WORDS)] for step in (1, 3, 7))
    reply = chat(f"Answer {turn}: the {words}.\n\n", f"- one of {turn}\n- two")
    server.answers_all(lambda _: reply)
    terminal.type(f"\x1b[200~turn {turn} about the {words}\x1b[201~\r")  # pasted: a key each would take half the time
    terminal.until(lambda text: f"Answer {turn}:" in text and "Esc" not in text, within=60)
    terminal.bytes = b""
    server.requests.clear()


def resident_mb(pid: int) -> float:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
