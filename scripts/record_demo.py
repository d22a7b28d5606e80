"""Records the README's picture that moves: `python -m scripts.record_demo MODEL.gguf [docs/demo.svg]`.

The real program in a real terminal, in a project with an AGENTS.md, with an imported talk as its memory and a real
model at a llama.cpp server. Keys are typed at the speed of a person; what the terminal shows is kept with its time.
The time that the model takes is shortened by SHORTENED.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from benchmarks.real.llama import llama
from scripts.animated_svg import Frame, animated_svg, frame_of
from tests.paths import ROOT
from tests.tui.pty_screen import PROGRAM, Terminal

SIZE: Final = (100, 30)  # columns, rows
KEY_S: Final = 0.045  # between two keys
LEAST_S: Final = 0.08  # between two pictures
LONGEST_S: Final = 600  # for one answer
SHORTENED: Final = 8
ESC, ENTER, CTRL_T = "\x1b", "\r", "\x14"
KEYS: Final = frozenset({ENTER, ESC, CTRL_T})

TALK: Final = (
    ("2026-10-14T09:12:00Z", "user", "The payment gateway restarts every night and our client gives up too early."),
    ("2026-10-14T09:13:00Z", "assistant", "How long does a restart take, and how often does the client try?"),
    ("2026-10-14T09:15:00Z", "user", "About 20 seconds. We decided with Priya that MAX_RETRIES is 5. Not more."),
    ("2026-10-14T09:16:00Z", "assistant", "Understood: five retries, as agreed with Priya."),
)
PROJECT: Final = {
    "AGENTS.md": "Payments client. Python 3, standard library only. Keep changes small.\n",
    "client.py": "MAX_RETRIES = 3\nTIMEOUT = 2.0\n\n\ndef delays():\n"
    "    return [TIMEOUT * 2**n for n in range(MAX_RETRIES)]\n",
}
MESSAGE: Final = "Set MAX_RETRIES in client.py to what we decided with Priya"


class DemoRecording:
    """What a terminal shows, with the seconds since the program's first frame."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal, self._start = terminal, time.monotonic()
        self._left_out = 0.0
        self.frames: list[Frame] = []
        self._look()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start - self._left_out

    def type(self, text: str) -> None:
        for key in [text] if text in KEYS else text:
            self._terminal.type(key)
            self.wait(KEY_S)

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._terminal.settle(min(LEAST_S, max(end - time.monotonic(), 0.01)))
            self._look()

    def wait_for_model(self, is_there: Callable[[str], bool]) -> None:
        """Until the screen's text is as it should be. Fails with the screen after LONGEST_S."""
        begin = time.monotonic()
        while not is_there(self._terminal.text):
            assert time.monotonic() < begin + LONGEST_S, self._terminal.text
            before = time.monotonic()
            self._terminal.settle(LEAST_S)
            self._left_out += (time.monotonic() - before) * (1 - 1 / SHORTENED)
            self._look()

    def _look(self) -> None:
        frame = frame_of(self._terminal.screen, round(self.seconds, 2))
        if not self.frames or frame.rows != self.frames[-1].rows:
            self.frames.append(frame)


def record(root: Path, address: str, model: str) -> tuple[list[Frame], float]:
    """The frames, and how long they take."""
    project, workspace, talk = root / "payments", root / "palimpsest", root / "talk.jsonl"
    project.mkdir()
    for name, text in PROJECT.items():
        (project / name).write_text(text, encoding="utf-8")
    entries = [{"conversation": "gateway", "time": at, "role": role, "text": text} for at, role, text in TALK]
    talk.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    environment = {
        "HOME": str(root),
        "USERPROFILE": str(root),
        "PALIMPSEST_CONFIG_DIR": str(root / "config"),
        "PALIMPSEST_COMMAND": "palimpsest",
    }
    for words in (("init", str(workspace)), ("--workspace", str(workspace), "import", str(talk), "--source", "talks")):
        command = [*PROGRAM, *words]
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **environment}, capture_output=True)
    terminal = _opened(workspace, project, f"openai:{model}@{address}/v1", environment)
    try:
        return _session(terminal)
    finally:
        terminal.close()


def _opened(workspace: Path, project: Path, model: str, environment: Mapping[str, str]) -> Terminal:
    start = ("/bin/sh", "-c", f'cd "{project}" && exec "$0" -m tui.main "$@"', sys.executable)
    columns, rows = SIZE
    path = {"PYTHONPATH": str(ROOT)}
    words = ("--workspace", str(workspace), "--model", model)
    terminal = Terminal(*words, program=start, columns=columns, rows=rows, **environment, **path)
    terminal.until(lambda text: "AGENTS.md" in text)
    terminal.settle(1.0)
    return terminal


def _session(terminal: Terminal) -> tuple[list[Frame], float]:
    recording = DemoRecording(terminal)
    recording.wait(1.5)
    recording.type(CTRL_T)  # the project's AGENTS.md is trusted
    recording.wait(1.0)
    recording.type(MESSAGE)
    recording.wait(0.4)
    recording.type(ENTER)
    recording.wait_for_model(lambda text: "1 Once" in text)
    recording.wait(2.5)
    recording.type("1")  # the edit is permitted
    recording.wait(0.5)
    recording.wait_for_model(lambda text: "esc" not in text.lower().splitlines()[-1])
    recording.wait(2.5)
    for command, seconds in (("/diff", 2.5), ("/undo", 2.0), ("/context", 3.0)):
        recording.type(command)
        recording.wait(0.3)
        recording.type(ENTER)
        recording.wait(seconds)
        recording.type(ESC)
        recording.wait(0.5)
    return recording.frames, recording.seconds


def main(model: Path, path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, llama(model, context=16384, threads=2) as address:
        frames, seconds = record(Path(folder), address, model.stem)
    path.write_text(animated_svg(frames, SIZE[0], seconds), encoding="utf-8")
    sys.stdout.write(f"{path}: {len(frames)} pictures, {seconds:.1f} s, {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "docs/demo.svg"))
