"""Sets up and runs: `python3 run.py` opens the chat, `python3 run.py test` passes the tests.

Needs Python ≥ 3.11 with pip, and nothing else. Everything goes into `.venv` beside this file; versions and hashes are
those of requirements/. A second run finds it all there and starts at once.
"""

import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import venv
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = Path(os.environ.get("PALIMPSEST_VENV", HERE / ".venv"))
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
# Ends synchronised output, leaves the alternate screen, wraps lines, shows the cursor, ends mouse, focus, paste and
# colour reports and the keyboard protocol, and takes colours back.
LEAVE_SCREEN = (
    "\x1b[?2026l\x1b[?1049l\x1b[?7h\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"
    "\x1b[?1004l\x1b[?2004l\x1b[?2048l\x1b[?2031l\x1b[<u\x1b[0m\r\n"
)
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")


def main(arguments: list[str]) -> int:
    if sys.version_info < (3, 11):  # noqa: UP036  # an older Python gets this far, and a sentence
        print("Palimpsest needs Python 3.11 or newer; this is", sys.version.split()[0], file=sys.stderr)
        return 1
    testing = arguments[:1] == ["test"]
    set_up("dev" if testing else "core")
    if testing:
        return status(run([PYTHON, HERE / "checks.py", *arguments[1:]]))
    saved = terminal_settings()
    ended = run([PYTHON, "-m", "tui.main", *arguments], {"PALIMPSEST_COMMAND": started_by()}, last=True)
    if ended < 0:
        clean_up(-ended, saved)
    return status(ended)


def started_by() -> str:
    """The command that a person typed, for the hints of the program: `python3 run.py`.

    The interpreter has its short name where the PATH has one of that name, and `~` stands for the home folder. In this
    folder the script is `run.py`, however it was named.
    """
    python, *words = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
    if shutil.which(name := Path(python).name):
        python = name
    if Path.cwd() == HERE:
        words[-1] = "run.py"
    if os.name == "nt":
        return subprocess.list2cmdline([python, *words])
    return " ".join(from_home(word) for word in [python, *words])


def from_home(word: str) -> str:
    """The word quoted for the shell, its home folder as `~`."""
    home = f"{Path.home()}{os.sep}"
    return f"~/{shlex.quote(word[len(home) :])}" if word.startswith(home) else shlex.quote(word)


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
            raise SystemExit(status(code))
    stamp.write_text(digest)


def run(command: list[object], more: "dict[str, str] | None" = None, *, last: bool = False) -> int:
    """Runs it where the caller stands and gives its exit status; a signal's number is negative.

    Ctrl+C reaches the command by itself. SIGTERM and SIGHUP are passed on to it, and it ends in its own way; so is a
    SIGINT that was sent to this process alone. Where the command stops, this process does too: the shell has its
    prompt back, and `fg` wakes both. After the `last` command Ctrl+C does nothing: it was pressed for the command.
    """
    words = [str(word) for word in command]
    environment = {**os.environ, **(more or {}), "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    child = subprocess.Popen(words, env=environment)
    passed_on = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, lambda number, _: send(child, number)) for number in passed_on}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
    stop_passing = pass_interrupts(child)
    try:
        return wait(child)
    finally:
        stop_passing()
        if last:
            before[signal.SIGINT] = signal.SIG_IGN
        for number, handler in before.items():
            signal.signal(number, handler)


def send(child: "subprocess.Popen[bytes]", number: int) -> None:
    """Sends it a signal, if it still runs."""
    if child.returncode is None:
        os.kill(child.pid, number)


def wait(child: "subprocess.Popen[bytes]") -> int:
    """Waits for its end, and stops as often as it stops."""
    if os.name == "nt":
        return child.wait()
    while True:
        _, ended = os.waitpid(child.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(ended):
            child.returncode = os.waitstatus_to_exitcode(ended)
            return child.returncode
        os.kill(os.getpid(), signal.SIGSTOP)


def pass_interrupts(child: "subprocess.Popen[bytes]") -> "Callable[[], None]":
    """Passes on each SIGINT of a process; one of the terminal has reached the child. Gives what ends that.

    Only sigwaitinfo tells the two apart. Where there is none (macOS, Windows), none is passed on.
    """
    if not hasattr(signal, "sigwaitinfo"):
        return lambda: None
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # after the child began, which would inherit it

    def watch() -> None:
        while child.returncode is None:
            if signal.sigwaitinfo([signal.SIGINT]).si_code <= 0:  # more than 0: of the kernel
                send(child, signal.SIGINT)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()

    def stop() -> None:
        if watcher.is_alive() and watcher.ident is not None:
            signal.pthread_kill(watcher.ident, signal.SIGINT)
            watcher.join()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

    return stop


def status(ended: int) -> int:
    """The exit status as a shell has it: 143 after SIGTERM."""
    return ended if ended >= 0 else 128 - ended


# After a chat that was killed


def terminal_settings() -> "list[object] | None":
    """How the terminal is set; None where there is none."""
    if os.name == "nt" or not os.isatty(0):
        return None
    import termios

    try:
        return termios.tcgetattr(0)
    except termios.error:  # it was closed
        return None


def clean_up(number: int, saved: "list[object] | None") -> None:
    """Gives a killed chat's terminal back as it was, and says how the chat ended."""
    settings = terminal_settings()
    if saved is not None and settings is not None and settings != saved:  # else no screen was drawn
        import termios

        sys.stderr.write(LEAVE_SCREEN)
        sys.stderr.flush()
        termios.tcsetattr(0, termios.TCSAFLUSH, saved)
    name = signal.Signals(number).name if number in set(signal.Signals) else f"Signal {number}"
    print(f"{name} ended the chat. What was sent is stored, and the draft is there at the next start.", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
