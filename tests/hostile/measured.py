"""A command run in a process of its own, with the most memory that it took."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

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


def palimpsest(workspace: Path, *words: str, stdin: Path | None = None, seconds: float = 60) -> Measured:
    """The command line in a fresh process, without the developer's own settings."""
    environment = {"PALIMPSEST_CONFIG_DIR": str(workspace.parent / "user-config"), "PALIMPSEST_DETECT": "off"}
    command = [sys.executable, "-m", "agent.cli", "--workspace", str(workspace), *words]
    return measured(command, environment, stdin=stdin, seconds=seconds)


def measured(
    command: list[str], environment: Mapping[str, str], *, stdin: Path | None = None, seconds: float = 60
) -> Measured:
    """Runs it; a process that takes longer is killed, and its status is -9."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        (stdin or Path(os.devnull)).open("rb") as given,
    ):
        began = time.monotonic()
        process = subprocess.Popen(
            command, cwd=ROOT, env={**kept, **environment, "PYTHONPATH": str(ROOT)}, stdin=given, stdout=out, stderr=err
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


def _peak_mb(pid: int) -> float:
    """As Linux tells while it runs; 0 elsewhere."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 2**10 for line in status.splitlines() if line.startswith("VmHWM")), 0.0)
