"""No Ctrl+C is lost: not in a callback of the line editor, not before the line is read, not on a busy machine."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT

pytestmark = [
    pytest.mark.screen,
    pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's"),
    pytest.mark.timeout(120),
]

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

_BEGINNING = """
import os, select, signal, time
from tui.screen_reader.interrupts import Interrupts, Leaving
reads, wake = os.pipe()
os.set_blocking(wake, False)
ticks = []
interrupts = Interrupts(wake, lambda: "half a line", lambda: ticks.append(1))
def interrupt(number=signal.SIGINT):
    os.kill(os.getpid(), number)
    time.sleep(0.05)
"""
ROUNDS = 8


def printed(code: str) -> str:
    """What the code prints in a process of its own: signals belong to the main thread."""
    run = subprocess.run(
        [sys.executable, "-c", _BEGINNING + code], capture_output=True, text=True, check=True, cwd=ROOT, timeout=30
    )
    return run.stdout.strip()


def test_an_exception_that_a_callback_lost_is_raised_again() -> None:
    code = """
def read():
    try:
        interrupt()
    except KeyboardInterrupt:
        pass  # as the line editor does with what its callbacks raise
    time.sleep(10)
began = time.monotonic()
try:
    interrupts.reading(read)
except KeyboardInterrupt:
    print(time.monotonic() - began < 5, interrupts.noted_line, interrupts.take(), interrupts.take())
"""
    assert printed(code) == "True half a line True False"


def test_ctrl_c_before_the_line_is_read_ends_it_at_once() -> None:
    code = """
interrupt()
try:
    interrupts.reading(lambda: time.sleep(10))
except KeyboardInterrupt:
    print("ended")
"""
    assert printed(code) == "ended"


def test_ctrl_c_while_nothing_is_read_wakes_and_is_kept() -> None:
    code = """
interrupt()
print(select.select([reads], [], [], 5)[0] == [reads], interrupts.take())
"""
    assert printed(code) == "True True"


def test_a_signal_that_ends_goes_before_ctrl_c() -> None:
    code = """
interrupt()
interrupt(signal.SIGTERM)
try:
    interrupts.take()
except Leaving:
    print("left")
"""
    assert printed(code) == "left"


def test_a_line_that_is_read_ticks() -> None:
    assert printed("interrupts.reading(lambda: time.sleep(1.3)); time.sleep(1.2); print(len(ticks))") == "1"


@pytest.fixture
def busy() -> Iterator[None]:
    """The machine has more to do than it has processors."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    yield
    for burner in burners:
        burner.send_signal(signal.SIGKILL)
        burner.wait()


@pytest.mark.usefixtures("busy")
def test_each_ctrl_c_is_answered_on_a_busy_machine(tmp_path: Path) -> None:
    chat = Terminal("--workspace", str(tmp_path / "notes"), "--screen-reader", columns=200)

    def count(*words: str) -> int:
        return sum(chat.bytes.count(word.encode()) for word in words)

    try:
        chat.until(lambda _: count("You: ") > 0, within=60)
        for round_ in range(ROUNDS):
            before, prompts = count("Stopping.", "Cleared."), count("\nYou: ")
            chat.type("!sleep 600\r")
            time.sleep(0.006 * round_)
            chat.type("\x03")
            chat.until(lambda _, before=before: count("Stopping.", "Cleared.") == before + 1)
            chat.until(lambda _, prompts=prompts: count("\nYou: ") > prompts)
            prompts = count("\nYou: ")
            chat.type("/show\r")  # a second Ctrl+C at an empty prompt would leave
            chat.until(lambda _, prompts=prompts: count("\nYou: ") > prompts)
        chat.type("\x04")
        assert chat.ended() == 0
    finally:
        chat.close()
