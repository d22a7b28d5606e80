"""Records the README's picture that moves: `python -m scripts.record_demo docs/demo.svg`.

The real program in a real terminal, with the real memory over an imported talk, and no model. Keys are typed at the
speed of a person; what the terminal shows is kept with its time.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from scripts.animated_svg import Frame, animated_svg, frame_of
from tests.e2e.conversation import QUESTION, talk_jsonl
from tests.paths import ROOT
from tests.tui.pty_screen import PROGRAM, Terminal

SIZE: Final = (100, 28)  # columns, rows
KEY_S: Final = 0.045  # between two keys
LEAST_S: Final = 0.08  # between two pictures
ESC, ENTER, DOWN, PAGE_DOWN, CTRL_P = "\x1b", "\r", "\x1b[B", "\x1b[6~", "\x10"

STEPS: Final[Sequence[tuple[str, float]]] = (
    # what is typed, and the seconds that follow; a text of several letters is typed letter by letter
    ("", 1.0),
    (QUESTION, 0.3),
    (ENTER, 3.0),
    ("备用钥匙的密码是什么?", 0.3),
    (ENTER, 2.4),
    ("/context", 0.4),
    (ENTER, 2.2),
    (ESC, 0.5),
    ("/search key", 0.3),
    (ENTER, 1.2),
    (DOWN, 0.6),
    (DOWN, 1.2),
    (ESC, 0.5),
    (CTRL_P, 0.9),
    ("theme", 1.4),
    (ESC, 0.8),
)
KEYS: Final = frozenset({ENTER, ESC, DOWN, PAGE_DOWN, CTRL_P})


class DemoRecording:
    """What a terminal shows, with the seconds since the program's first frame."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal, self._start = terminal, time.monotonic()
        self.frames: list[Frame] = []
        self._look()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    def type(self, text: str) -> None:
        for key in [text] if text in KEYS else text:
            self._terminal.type(key)
            self.wait(KEY_S)

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._terminal.settle(min(LEAST_S, max(end - time.monotonic(), 0.01)))
            self._look()

    def _look(self) -> None:
        frame = frame_of(self._terminal.screen, round(self.seconds, 2))
        if not self.frames or frame.rows != self.frames[-1].rows:
            self.frames.append(frame)


def record(root: Path) -> tuple[list[Frame], float]:
    """The frames, and how long they take."""
    letters, garden = root / "letters.jsonl", root / "garden"
    letters.write_text(talk_jsonl(), encoding="utf-8")
    environment = {
        "HOME": str(root),
        "USERPROFILE": str(root),
        "PALIMPSEST_CONFIG_DIR": str(root / "config"),
        "PALIMPSEST_COMMAND": "palimpsest",
    }
    for words in (("init", str(garden)), ("--workspace", str(garden), "import", str(letters), "--source", "letters")):
        subprocess.run([*PROGRAM, *words], check=True, cwd=ROOT, env={**os.environ, **environment}, capture_output=True)
    columns, rows = SIZE
    in_home = ("/bin/sh", "-c", 'cd "$HOME" && exec "$0" -m tui.main "$@"', sys.executable)
    terminal = Terminal("--workspace", str(garden), program=in_home, columns=columns, rows=rows, **environment)
    try:
        terminal.until(lambda text: "❯" in text)
        terminal.settle(1.0)
        recording = DemoRecording(terminal)
        for text, seconds in STEPS:
            recording.type(text)
            recording.wait(seconds)
        return recording.frames, recording.seconds
    finally:
        terminal.close()


def main(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        frames, seconds = record(Path(folder))
    path.write_text(animated_svg(frames, SIZE[0], seconds), encoding="utf-8")
    sys.stdout.write(f"{path}: {len(frames)} pictures, {seconds:.1f} s, {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/demo.svg"))
