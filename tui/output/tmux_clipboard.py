"""Copies a text through tmux, which by default keeps a program's own sequence for the clipboard to itself."""

import subprocess
from collections.abc import Mapping
from typing import Final

LIMIT_S: Final = 3.0  # seconds after which tmux is killed
REFUSED: Final = "Sent to the terminal. tmux passes it on only with `set -g set-clipboard on`."


def is_in_tmux(environment: Mapping[str, str]) -> bool:
    return bool(environment.get("TMUX"))


def copy_through_tmux(text: str, environment: Mapping[str, str]) -> bool:
    """Whether tmux took the text, for its own buffer and for the clipboard of its terminal. Blocks."""
    try:
        done = subprocess.run(
            ["tmux", "load-buffer", "-w", "-"],
            input=text.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
