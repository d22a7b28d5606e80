"""A command run in a process of its own, with the most memory that it took."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from agent.cli import main
from tests import forked
from tests.paths import ROOT


class Measured(NamedTuple):
    """`peak_mb` is the largest resident set of the process; on Linux its own children are not in it.

    `cpu` are seconds of all its threads.
    """

    status: int
    out: str
    err: str
    peak_mb: float
    seconds: float
    cpu: float


def palimpsest(
    workspace: Path, *words: str, stdin: Path | None = None, seconds: float = 60, **settings: object
) -> Measured:
    """The command line in a fresh process, without the developer's own settings: `IMPORTS_LINE_MB=4` is one of ours."""
    environment = own(workspace) | {f"PALIMPSEST_{name}": str(value) for name, value in settings.items()}
    return command_line(["--workspace", str(workspace), *words], environment, stdin=stdin, seconds=seconds)


def command_line(
    words: Sequence[str], environment: Mapping[str, str], *, stdin: Path | None = None, seconds: float = 60
) -> Measured:
    """`palimpsest WORDS` in a fresh process, which begins with its modules loaded where that is possible."""
    if sys.platform != "linux":
        return measured([sys.executable, "-m", "agent.cli", *words], environment, stdin=stdin, seconds=seconds)
    stdin = stdin or Path(os.devnull)
    ended = forked.run(words, {**_kept(), **environment}, stdin=stdin, seconds=seconds)
    texts = (text.decode("utf-8", "replace") for text in (ended.out, ended.err))
    return Measured(ended.status, *texts, ended.peak_mb, ended.seconds, ended.cpu)


def own(workspace: Path) -> dict[str, str]:
    """Settings beside the workspace instead of the developer's, and no server is looked for."""
    return {"PALIMPSEST_CONFIG_DIR": str(workspace.parent / "user-config"), "PALIMPSEST_DETECT": "off"}


def each_in_one_process(workspace: Path, commands: Sequence[Sequence[str]], seconds: float = 60) -> Measured:
    """Runs the commands one after another in one fresh process; stderr names each before it runs."""
    program = (
        "import json, sys; from agent.cli import main\n"
        "for words in json.loads(sys.argv[1]):\n"
        "    print('──', *words, file=sys.stderr, flush=True)\n"
        "    main(None, ['--workspace', sys.argv[2], *words])"
    )
    command = [sys.executable, "-c", program, json.dumps(commands), str(workspace)]
    return measured(command, own(workspace), seconds=seconds)


def initialised(workspace: Path) -> Path:
    """A new workspace, made by `init` in this process."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PALIMPSEST_CONFIG_DIR", str(workspace.parent / "user-config"))
        assert main(None, ("--workspace", str(workspace), "init")) == 0
    return workspace


def measured(
    command: list[str], environment: Mapping[str, str], *, stdin: Path | None = None, seconds: float = 60
) -> Measured:
    """Runs it; a process that takes longer is killed, and its status is -9."""
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        (stdin or Path(os.devnull)).open("rb") as given,
    ):
        began = time.monotonic()
        process = subprocess.Popen(
            command, cwd=ROOT, env={**_kept(), **environment}, stdin=given, stdout=out, stderr=err
        )
        peak = 0.0
        while True:
            peak = max(peak, _peak_mb(process.pid))
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - began > seconds:
                process.kill()
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, err):
            file.seek(0)
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return Measured(
            process.returncode,
            out.read().decode("utf-8", "replace"),
            err.read().decode("utf-8", "replace"),
            peak or usage.ru_maxrss / unit,
            time.monotonic() - began,
            usage.ru_utime + usage.ru_stime,
        )


def _kept() -> dict[str, str]:
    """Of our own environment what a program needs to run, and where it finds this one."""
    names = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPYCACHEPREFIX")
    return {"PYTHONPATH": str(ROOT)} | {name: os.environ[name] for name in names if name in os.environ}


def _peak_mb(pid: int) -> float:
    """As Linux tells while it runs; 0 elsewhere."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 2**10 for line in status.splitlines() if line.startswith("VmHWM")), 0.0)
