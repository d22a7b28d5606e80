"""What is copied within tmux reaches the clipboard, or a sentence says what tmux needs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tui.conftest import Open
from tui.output.tmux_clipboard import copy_through_tmux
from tui.passages.text_screen import TextScreen
from tui.widgets.transcript.block import BlockText

pytestmark = pytest.mark.skipif(os.name != "posix", reason="tmux is a program of POSIX systems")
TEXT = "The kiln is hot. 窑很热 🔥\n"


def fake_tmux(folder: Path, monkeypatch: pytest.MonkeyPatch, *, status: int = 0) -> None:
    """A program of this name that keeps its arguments and its input, in an environment within tmux."""
    folder.mkdir()
    program = folder / "tmux"
    script = f'#!/bin/sh\nprintf "%s " "$@" > {folder}/arguments\ncat > {folder}/input\nexit {status}\n'
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")


async def test_what_is_copied_goes_to_tmux_too(
    open_chat: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tmux(tmp_path / "bin", monkeypatch)
    async with open_chat(notifications=True) as chat:
        chat.app.push_screen(TextScreen("kiln", lambda: BlockText(TEXT)))
        await chat.until(lambda: any("The kiln is hot." in line for line in chat.seen))
        await chat.press("c")
        kept = tmp_path / "bin" / "input"
        await chat.until(lambda: kept.exists() and kept.read_text(encoding="utf-8") == TEXT)
        assert (tmp_path / "bin" / "arguments").read_text(encoding="utf-8") == "load-buffer -w - "
        await chat.until(lambda: any("Copied" in line for line in chat.seen))
        assert not any("set-clipboard" in line for line in chat.seen)


async def test_where_tmux_refuses_a_sentence_says_what_it_needs(
    open_chat: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tmux(tmp_path / "bin", monkeypatch, status=1)
    async with open_chat(notifications=True) as chat:
        chat.app.copy_to_clipboard(TEXT)
        await chat.until(lambda: "tmux passes it on" in " ".join("".join(chat.seen).split()))


async def test_outside_of_tmux_no_program_is_asked(
    open_chat: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tmux(tmp_path / "bin", monkeypatch)
    monkeypatch.delenv("TMUX")
    async with open_chat() as chat:
        chat.app.copy_to_clipboard(TEXT)
        await chat.pilot.pause()
        assert not any(worker.group == "clipboard" for worker in chat.app.workers)
        assert not (tmp_path / "bin" / "input").exists()


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here")
def test_a_real_tmux_takes_it_as_it_is_set_by_default(tmp_path: Path) -> None:
    socket = tmp_path / "s"
    tmux = ["tmux", "-f", os.devnull, "-S", str(socket)]
    subprocess.run([*tmux, "new-session", "-d", "sleep 60"], check=True, timeout=20)
    try:
        assert copy_through_tmux(TEXT, {**os.environ, "TMUX": f"{socket},0,0"})
        shown = subprocess.run([*tmux, "show-buffer"], capture_output=True, check=True, timeout=20)
        assert shown.stdout.decode() == TEXT
    finally:
        subprocess.run([*tmux, "kill-server"], check=False, timeout=20)
