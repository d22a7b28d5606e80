"""Commands that the person runs in the terminal itself, while the screen is away: `!!make`, `!vim notes.md`."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from textual.app import SuspendNotSupported
from textual.dom import DOMNode

from foundation.terminal_text import visible_line
from tui.lent_terminal import lent_terminal

_GO_BACK: Final = "\n[{}. Press Enter to return to the chat] "


def run_in_terminal(node: DOMNode, line: str, folder: Path, *, waits: bool) -> str:
    """Runs the line in the person's shell; gives how it ended. Blocks until it has.

    `waits`: what it printed stays until Enter. It has the whole environment: nothing of it reaches a model.
    """
    try:
        with lent_terminal(node):
            ended = _run(line, folder)
            if waits:
                _wait_for_enter(_GO_BACK.format(ended))
    except SuspendNotSupported:
        ended = "this terminal cannot run a command in the foreground"
    return ended


def _run(line: str, folder: Path) -> str:
    shell = os.environ.get("SHELL") or "/bin/sh"
    command: str | list[str] = line if sys.platform == "win32" else [shell, "-c", line]
    sys.stdout.flush()
    try:
        status = subprocess.run(command, cwd=folder, shell=sys.platform == "win32", check=False).returncode
    except (OSError, ValueError) as error:
        return f"it could not be started: {visible_line(str(error))}"
    return f"exit {status}" if status >= 0 else f"ended by signal {-status}"


def _wait_for_enter(question: str) -> None:
    out, keys = sys.__stdout__, sys.__stdin__
    if out is None or keys is None:
        return
    with suppress(OSError, ValueError):  # the terminal has gone
        out.write(question)
        out.flush()
        keys.readline()
