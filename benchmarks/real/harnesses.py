"""Other programs at the same server: `--against NAME=COMMAND`, judged by what they leave and print.

COMMAND is a shell command in which {text} is the message, {url} the server (http://127.0.0.1:PORT/v1) and {model} its
name. It is run in the project's folder with a home folder of its own, for at most 15 minutes a message.
"""

import os
import shlex
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

LIMIT_S = 900


@dataclass(frozen=True)
class Harness:
    name: str
    command: str
    url: str
    model: str
    home: Path

    def send(self, text: str, folder: Path) -> tuple[str, float]:
        """What it printed, and the seconds that it took."""
        command = self.command.replace("{text}", shlex.quote(text))
        command = command.replace("{url}", self.url).replace("{model}", self.model)
        self.home.mkdir(parents=True, exist_ok=True)
        began = time.perf_counter()
        try:
            done = subprocess.run(
                command,
                shell=True,
                cwd=folder,
                env={**os.environ, "HOME": str(self.home)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT_S,
                check=False,
            )
            printed = done.stdout
        except subprocess.TimeoutExpired as limit:
            printed = (limit.stdout or b"").decode("utf-8", "replace")
        return printed, time.perf_counter() - began
