"""Sets up and runs: `python3 run.py` opens the chat, `python3 run.py test` passes the tests.

Needs Python ≥ 3.11 with pip, and nothing else. Everything goes into `.venv` beside this file; versions and hashes are
those of requirements/. A second run finds it all there and starts at once.
"""

import hashlib
import os
import shlex
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = Path(os.environ.get("PALIMPSEST_VENV", HERE / ".venv"))
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")


def main(arguments: list[str]) -> int:
    if sys.version_info < (3, 11):  # noqa: UP036  # an older Python gets this far, and a sentence
        print("Palimpsest needs Python 3.11 or newer; this is", sys.version.split()[0], file=sys.stderr)
        return 1
    testing = arguments[:1] == ["test"]
    set_up("dev" if testing else "core")
    if testing:
        return run([PYTHON, HERE / "checks.py", *arguments[1:]])
    return run([PYTHON, "-m", "tui.main", *arguments], {"PALIMPSEST_COMMAND": started_by()})


def started_by() -> str:
    """The command that a person typed, for the hints of the program: `python3 run.py`."""
    words = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def set_up(kind: str) -> None:
    """Makes the virtual environment, or brings it up to date."""
    wanted = HERE / "requirements" / f"{kind}.txt"
    digest = hashlib.sha256(wanted.read_bytes() + (HERE / "pyproject.toml").read_bytes()).hexdigest()
    stamp = VENV / f"set-up-{kind}"
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == digest:
        return
    print("Setting up .venv (once; a minute or two) …", file=sys.stderr)
    if not PYTHON.exists():
        venv.EnvBuilder(with_pip=False, symlinks=os.name != "nt").create(VENV)
    pip = [sys.executable, "-m", "pip", "--python", PYTHON, "--disable-pip-version-check", "install"]
    pip += ["--quiet", "--no-compile"]
    # The file lists everything, so pip need not resolve: its resolver asks for a newer release of what has an extra.
    for step in (
        ["--no-deps", "--require-hashes", "-r", wanted],
        ["--no-deps", "--no-build-isolation", "--editable", HERE],
    ):
        if code := run([*pip, *step]):
            print("Setting up failed: see pip's words above.", file=sys.stderr)
            raise SystemExit(code)
    stamp.write_text(digest)


def run(command: list[object], more: "dict[str, str] | None" = None) -> int:
    """Runs it in this folder for tests, else where the caller stands."""
    words = [str(word) for word in command]
    environment = {**os.environ, **(more or {}), "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    try:
        return subprocess.call(words, env=environment)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
