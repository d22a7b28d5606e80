"""`python3 run.py` in a real terminal: the status of the chat passes through it, and it cleans up after a kill."""

import os
import signal
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.tui.test_terminal import ready

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

pytestmark = [
    pytest.mark.screen,
    pytest.mark.skipif(sys.platform != "linux", reason="it finds the child in /proc"),
    pytest.mark.timeout(60),
]


def started(folder: Path, script: str, *arguments: str) -> "Terminal":
    """run.py with an environment that is set up already, whose Python is a shell script."""
    python = folder / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    wanted = (ROOT / "requirements" / "core.txt").read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    (folder / "venv" / "set-up-core").write_text(sha256(wanted).hexdigest())
    program = (sys.executable, "run.py")
    return Terminal(*arguments, program=program, columns=200, PALIMPSEST_VENV=str(folder / "venv"))


@pytest.fixture
def terminal(tmp_path: Path) -> "Iterator[Terminal]":
    opened = started(tmp_path, f'exec "{sys.executable}" "$@"', "--workspace", str(tmp_path / "notes"))
    yield opened
    opened.close()


def child(terminal: "Terminal") -> int:
    return int(Path(f"/proc/{terminal.pid}/task/{terminal.pid}/children").read_text().split()[0])


def test_a_killed_chat_leaves_a_usable_terminal_and_a_sentence(terminal: "Terminal") -> None:
    before = terminal.settings
    ready(terminal)
    terminal.type("half a thought")
    terminal.until(lambda text: "❯ half a thought" in text)
    assert terminal.settings != before
    drawn = len(terminal.bytes)
    os.kill(child(terminal), signal.SIGKILL)
    assert terminal.ended() == 128 + signal.SIGKILL
    assert terminal.settings == before
    left = terminal.bytes[drawn:]
    for code in (
        b"\x1b[?1049l",
        b"\x1b[?7h",
        b"\x1b[?25h",
        b"\x1b[?1000l",
        b"\x1b[?1003l",
        b"\x1b[?1006l",
        b"\x1b[?2004l",
    ):
        assert code in left
    assert "SIGKILL ended the chat" in left.decode()
    assert "next start" in left.decode()


def test_a_signal_to_run_py_ends_the_chat_in_its_own_way(terminal: "Terminal", tmp_path: Path) -> None:
    ready(terminal)
    terminal.type("unsent")
    terminal.until(lambda text: "❯ unsent" in text)
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.ended() == 128 + signal.SIGTERM
    (draft,) = (tmp_path / "notes" / ".palimpsest" / "drafts").glob("*.md")
    assert draft.read_text() == "unsent"
    assert "ended the chat" not in terminal.bytes.decode()


def test_a_normal_end_adds_nothing(terminal: "Terminal") -> None:
    ready(terminal)
    terminal.type("\x04")
    assert terminal.ended() == 0
    assert "ended the chat" not in terminal.bytes.decode()


def test_ctrl_c_is_left_to_the_command_that_runs(tmp_path: Path) -> None:
    """A run of `-p` stores what came before it ends with 130: run.py waits for it, however long that takes."""
    script = "trap 'sleep 0.6; echo stored; exit 130' INT\necho running\nsleep 20 & wait"
    opened = started(tmp_path, script, "-p", "x")
    try:
        opened.until(lambda text: "running" in text)
        opened.settle(0.2)
        opened.type("\x03")
        assert opened.ended() == 130
        assert "stored" in opened.text
    finally:
        opened.close()
