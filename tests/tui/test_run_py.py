"""`python3 run.py` in a real terminal: the status of the chat passes through it, and it cleans up after a kill."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.tui.test_terminal import ready

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

LEFT = b"\x1b[?1049l"  # the other screen of the terminal

pytestmark = [
    pytest.mark.screen,
    pytest.mark.skipif(sys.platform != "linux", reason="it finds the child in /proc"),
    pytest.mark.timeout(60),
]


def environment(folder: Path, script: str) -> dict[str, str]:
    """An environment for run.py that is set up already, whose Python is a shell script."""
    python = folder / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    wanted = (ROOT / "requirements" / "core.txt").read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    (folder / "venv" / "set-up-core").write_text(sha256(wanted).hexdigest())
    return {"PALIMPSEST_VENV": str(folder / "venv")}


def started(folder: Path, script: str, *arguments: str) -> "Terminal":
    """run.py with such an environment."""
    program = (sys.executable, "run.py")
    return Terminal(*arguments, program=program, columns=200, **environment(folder, script))


def started_in_a_shell(folder: Path) -> "Terminal":
    """A shell with job control, in which `run` is run.py with the real chat."""
    script = f'exec "{sys.executable}" "$@"'
    profile = folder / "profile"
    profile.write_text(f"PS1='$ '\nalias run='\"{sys.executable}\" run.py --workspace \"{folder / 'notes'}\"'\n")
    program = ("bash", "--noprofile", "--rcfile", str(profile), "-i")
    return Terminal(program=program, columns=100, **environment(folder, script))


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


def test_further_ctrl_c_while_it_leaves_says_nothing(terminal: "Terminal") -> None:
    ready(terminal)
    for _ in range(20):
        terminal.type("\x03")
        terminal.settle(0.05)
    assert terminal.ended() == 0
    shown = terminal.bytes.decode()
    assert "ended the chat" not in shown and "Traceback" not in shown


@pytest.mark.parametrize(("last", "status"), [(True, 0), (False, -signal.SIGINT)])
def test_a_ctrl_c_after_the_last_command_changes_nothing(last: bool, status: int) -> None:
    script = f"import os, run, signal; run.run(['true'], last={last}); os.kill(os.getpid(), signal.SIGINT)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.DEVNULL).returncode == status


def test_ctrl_c_is_left_to_the_command_that_runs(tmp_path: Path) -> None:
    """A run of `-p` stores what came before it ends with 130: run.py waits for it, however long that takes."""
    script = "trap 'sleep 0.6; echo stored; exit 130' INT\necho running\nwhile :; do sleep 0.1; done"
    opened = started(tmp_path, script, "-p", "x")
    try:
        opened.until(lambda text: "running" in text)
        opened.settle(0.2)
        opened.type("\x03")
        assert opened.ended() == 130
        assert "stored" in opened.text
    finally:
        opened.close()


def test_ctrl_z_gives_the_shell_back_and_fg_draws_the_chat_again(tmp_path: Path) -> None:
    shell = started_in_a_shell(tmp_path)
    try:
        shell.until(lambda text: text.rstrip().endswith("$"))
        shell.type("run\r")
        ready(shell)
        shell.type("half a thought 锅")
        shell.until(lambda text: "❯ half a thought 锅" in text)
        shell.type("\x03")  # moves it to the history: nothing is to be undone
        shell.until(lambda text: "half a thought" not in text)
        shell.type("\x1a")
        shell.until(lambda text: "Stopped" in text)
        shell.type("echo at the $((40 + 2)) shell\r")
        shell.until(lambda text: "at the 42 shell" in text)
        shell.type("fg\r")
        ready(shell)
        assert "at the 42" not in shell.text
        shell.type("and on")
        shell.until(lambda text: "❯ and on" in text)
        shell.type("\x1a")
        shell.until(lambda text: "❯ and on" not in text)  # an edit is undone instead
        assert shell.bytes.count(LEFT) == 1
        shell.type("\x03\x04")
        shell.until(lambda _: shell.bytes.count(LEFT) == 2 and b"$ " in shell.bytes.rpartition(LEFT)[2])
        shell.type("exit 7\r")
        assert shell.ended() == 7
    finally:
        shell.close()


def test_an_interrupt_that_is_sent_to_run_py_alone_reaches_the_command(tmp_path: Path) -> None:
    opened = started(tmp_path, "trap 'echo stored; exit 130' INT\necho running\nsleep 20 & wait", "-p", "x")
    try:
        opened.until(lambda text: "running" in text)
        opened.settle(0.2)
        os.kill(opened.pid, signal.SIGINT)
        assert opened.ended() == 130
        assert "stored" in opened.text
    finally:
        opened.close()


def test_ctrl_c_reaches_the_command_once(tmp_path: Path) -> None:
    opened = started(tmp_path, "trap 'echo once' INT\necho running\nsleep 1 & wait; sleep 0.5; exit 3", "-p", "x")
    try:
        opened.until(lambda text: "running" in text)
        opened.settle(0.2)
        opened.type("\x03")
        assert opened.ended() == 3
        assert opened.bytes.count(b"once") == 1
    finally:
        opened.close()
