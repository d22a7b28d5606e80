"""Runs commands on a small disk without a free byte: `python -m tests.trust.full_disk_commands DISK`.

A workspace is made on DISK, all room is taken, and each command runs as a process. Prints, by command, its exit
status, stdout and stderr.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.trust.fill_disk import take_room

COMMANDS = {
    "search teapot": ("search", "teapot"),
    "memory list": ("memory", "list"),
    "memory log": ("memory", "log"),
    "check": ("check",),
    "export": ("export", "--dir", "{outside}/exported", "--to", "markdown"),
    "forget teapot --yes": ("forget", "teapot", "--yes"),
    "forget teapot --dry-run": ("forget", "teapot", "--dry-run"),
    "remember": ("remember", "what has no room"),
    "memory edit": ("memory", "edit", "m_000000000000", "what has no room"),
    "config set": ("config", "set", "log.level", "info"),
    "-p": ("-p", "what has no room"),
}


def run(workspace: Path, words: tuple[str, ...], environment: dict[str, str]) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "agent.cli", "--workspace", str(workspace), *words]
    ran = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    return ran.returncode, ran.stdout, ran.stderr


def main() -> None:
    disk = Path(sys.argv[1])
    outside = disk.parent
    workspace = disk / "workspace"
    environment = {
        **os.environ,
        "HOME": str(outside / "home"),
        "PALIMPSEST_CONFIG_DIR": str(outside / "user-config"),
        "PALIMPSEST_DETECT": "off",
        "TMPDIR": str(outside),
    }
    for words in (("init", str(workspace)), ("remember", "the teapot is blue"), ("-p", "where is the teapot?")):
        status, out, err = run(workspace, words, environment)
        assert status == 0, (words, out, err)
    take_room(disk, 0)
    outcomes = {
        name: run(workspace, tuple(word.format(outside=outside) for word in words), environment)
        for name, words in COMMANDS.items()
    }
    (disk / "ballast").unlink()
    outcomes["after"] = run(workspace, ("check",), environment)
    outcomes["forgotten after"] = run(workspace, ("forget", "teapot", "--yes"), environment)
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
