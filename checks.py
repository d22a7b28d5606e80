"""The whole loop of checks, as `python3 run.py test` and CI run it: format, lint, types, imports, tests.

`--only NAME` runs one of them; what follows `--` goes to pytest.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORKERS = (os.cpu_count() or 1) + 2
"""More than there are cores: many tests wait, for a screen, a server or a process."""
PYTHON = [sys.executable, "-m"]
CHECKS = {
    "format": [*PYTHON, "ruff", "format", "--check", "."],
    "lint": [*PYTHON, "ruff", "check", "."],
    "imports": [str(Path(sys.executable).parent / "lint-imports")],
    "types": [*PYTHON, "basedpyright", "--pythonpath", sys.executable],
    "test": [*PYTHON, "pytest", "-q", "-n", str(WORKERS), "--dist", "worksteal", "-m", "not soak"],
}


def main(arguments: list[str]) -> int:
    extra = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
    chosen = [arguments[arguments.index("--only") + 1]] if "--only" in arguments else list(CHECKS)
    failed: list[str] = []
    warming = compiling() if {"types", "test"} <= set(chosen) else None
    for name in chosen:
        if name == "test" and warming:
            warming.wait()
        print(f"── {name}", flush=True)
        began = time.monotonic()
        command = CHECKS[name] + (extra if name == "test" else [])
        if subprocess.call(command, cwd=HERE, env=environment()):
            failed.append(name)
        print(f"── {name}: {'FAILED' if name in failed else 'ok'} in {time.monotonic() - began:.0f} s", flush=True)
    if failed:
        print("failed:", ", ".join(failed))
    return bool(failed)


def compiling() -> subprocess.Popen[bytes]:
    """Compiles what the tests import while the types are checked on the other core.

    In a new environment nothing is compiled, and each of the workers would compile all of it.
    """
    command = [*PYTHON, "pytest", "-q", "-n", "0", "--collect-only", "-m", "not soak"]
    return subprocess.Popen(command, cwd=HERE, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


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
