"""The whole loop of checks, as `python3 run.py test` and CI run it: format, lint, imports, tests, types.

Types are checked on one core while the tests begin; their result comes last. Of the expensive tests a run takes the
seventh of its day (tests/parts.py); PALIMPSEST_PART=0 to 6 names another one, PALIMPSEST_PART=all takes all.

`--only NAME` runs one of them; what follows `--` goes to pytest, which then takes all tests that it names.
"""

import os
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

HERE = Path(__file__).resolve().parent
WORKERS = (os.cpu_count() or 1) + 3
"""More than there are cores: many tests wait, for a screen, a server or a process."""
PYTHON = [sys.executable, "-m"]
CHECKS = {
    "format": [*PYTHON, "ruff", "format", "--check", "."],
    "lint": [*PYTHON, "ruff", "check", "."],
    "imports": [str(Path(sys.executable).parent / "lint-imports")],
    "test": [*PYTHON, "pytest", "-q", "-n", str(WORKERS), "--dist", "worksteal", "-m", "not soak"],
    "types": [*PYTHON, "basedpyright", "--pythonpath", sys.executable],
}


def main(arguments: list[str]) -> int:
    extra = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
    tests = os.environ.get("PALIMPSEST_PART") or ("all" if extra else str(date.today().toordinal() % 7))
    os.environ["PALIMPSEST_PART"] = tests
    chosen = [arguments[arguments.index("--only") + 1]] if "--only" in arguments else list(CHECKS)
    with TemporaryFile() as output:
        types = begin(CHECKS["types"], output) if {"types", "test"} <= set(chosen) else None
        if types:  # meanwhile, compile once what each of the tests' workers would compile in a new environment
            begin([*PYTHON, "pytest", "-q", "-n", "0", "--collect-only", "-m", "not soak"], subprocess.DEVNULL).wait()
        failed: list[str] = []
        for name in chosen:
            part = f", of the expensive ones part {tests} of 0 to 6" if name == "test" and tests != "all" else ""
            print(f"── {name}{part}", flush=True)
            began = time.monotonic()
            if name == "types" and types:
                status = types.wait()
                output.seek(0)
                print(output.read().decode(errors="replace"), end="")
            else:
                status = begin(CHECKS[name] + (extra if name == "test" else []), None).wait()
            if status:
                failed.append(name)
            print(f"── {name}: {'FAILED' if status else 'ok'} in {time.monotonic() - began:.0f} s", flush=True)
    if failed:
        print("failed:", ", ".join(failed))
    return bool(failed)


def begin(command: list[str], output: "IO[bytes] | int | None") -> subprocess.Popen[bytes]:
    """Starts a command of the checks; None prints its output as it comes."""
    return subprocess.Popen(command, cwd=HERE, env=environment(), stdout=output, stderr=output)


def environment() -> dict[str, str]:
    """Ours, and bytecode is kept: in the virtual environment where the folders of the sources are to stay clean.

    The tests start hundreds of processes, which would else compile the same modules again and again.
    """
    kept = dict(os.environ)
    if kept.pop("PYTHONDONTWRITEBYTECODE", ""):
        kept["PYTHONPYCACHEPREFIX"] = str(Path(sys.prefix) / "bytecode")
    return kept


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
