"""Whether a terminal is light or dark: a real pty, whose other end answers as terminals do."""

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="Windows has no pty")

ROOT = Path(__file__).parents[3]
PROGRAM = """
import os
from tui.themes.terminal import GroundQuestion
question = GroundQuestion(os.environ)
question.start()
print("asked", flush=True)
ground = question.finish()
print("told", ground.is_dark, repr(ground.typed), flush=True)
"""
ATTRIBUTES = b"\x1b[?62;c"


def told(answer: bytes, **environment: str) -> str:
    """What the program prints where the terminal answers so."""
    ours, theirs = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name != "COLORFGBG"}
    running = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        env={**inherited, "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    output, answered, deadline = b"", False, time.monotonic() + 30
    try:
        while b"\ntold " not in output or not output.rstrip(b" ").endswith(b"\n"):
            assert time.monotonic() < deadline, output
            if not select.select([ours], [], [], 0.1)[0]:
                continue
            output += os.read(ours, 4_096)
            if not answered and b"\x1b[c" in output:
                answered = True
                os.write(ours, answer)
    finally:
        running.wait(10)
        os.close(ours)
    return output.decode().rpartition("told ")[2].strip()


@pytest.mark.parametrize(
    ("answer", "is_dark"),
    [
        (b"\x1b]11;rgb:0000/0000/0000\x1b\\", True),
        (b"\x1b]11;rgb:ffff/ffff/ffff\x07", False),
        (b"\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\", False),
        (b"\x1b]11;rgba:1c/1c/1c/ff\x1b\\", True),
        (b"", None),
    ],
)
@pytest.mark.timeout(60)
def test_the_terminal_tells_its_ground(answer: bytes, is_dark: bool | None) -> None:
    assert told(answer + ATTRIBUTES) == f"{is_dark} ''"


@pytest.mark.timeout(60)
def test_what_was_typed_meanwhile_is_kept() -> None:
    assert told(b"wa" + b"\x1b]11;rgb:0/0/0\x1b\\" + "s 锅".encode() + ATTRIBUTES) == "True 'was 锅'"


@pytest.mark.timeout(60)
def test_a_terminal_that_answers_nothing_is_not_waited_for_long() -> None:
    assert told(b"", COLORFGBG="0;15") == "False ''"


@pytest.mark.timeout(60)
def test_a_terminal_without_answers_is_not_asked() -> None:
    inherited = {**os.environ, "TERM": "dumb", "COLORFGBG": ""}
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", PROGRAM], stdin=theirs, stdout=theirs, cwd=ROOT, env=inherited, check=True)
    printed = os.read(ours, 4_096)
    os.close(ours)
    os.close(theirs)
    assert printed == b"asked\r\ntold None ''\r\n"
