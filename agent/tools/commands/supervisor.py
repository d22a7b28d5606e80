"""Supervises one command and ends every process of it when it ends, when it is stopped, and when the program dies.

Runs as processes of its own, with the standard library alone. Descriptor 0 is the control pipe: a line of JSON with the
command, then nothing; the command is stopped when the program closes it, or ends in any way. The standard outputs are
the command's. The descriptor that the first argument names gets one line of JSON with the status. `input` in the JSON
is a descriptor that becomes the command's standard input, null for none.

There are two processes. The *reaper* starts the command, and adopts and ends what the command leaves behind. The
*guard* starts the reaper, and ends what is left should the reaper be killed. In a sandbox of namespaces the reaper is
the first process of a process namespace: the kernel ends all others with it.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NoReturn

from agent.tools.commands import linux
from agent.tools.commands.confinement import Confinement, arrange_mounts, confine, enter_namespaces

IS_LINUX: Final = sys.platform.startswith("linux")
GRACE_AFTER_END: Final = 0.5  # seconds for what a command left behind, between SIGTERM and SIGKILL
KILL_SECONDS: Final = 10.0  # how long processes are killed that multiply meanwhile
MARKER: Final = "PALIMPSEST_COMMAND"
"""The environment variable by which processes of a command are known where there is no subreaper."""

_IGNORED: Final = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGTSTP")


def main() -> NoReturn:
    """The guard."""
    status = int(sys.argv[1])
    os.set_inheritable(status, False)
    for name in _IGNORED:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    command = _read_command()
    plan = Confinement(**command["sandbox"]) if command["sandbox"] else None
    try:
        if IS_LINUX:
            linux.become_subreaper()
        if plan is not None and plan.namespaces:
            enter_namespaces(plan)
    except OSError as error:
        _report(status, {"error": str(error)})
        os._exit(1)
    reaper = os.fork()
    if reaper == 0:
        Reaper(command, plan, status).run()
    os.close(status)
    if command["input"] is not None:
        os.close(command["input"])
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    _await(reaper)
    if plan is None or not plan.namespaces:  # there, they end with the reaper
        end_processes(lambda: descendants(command["marker"]), 0)
    os._exit(0)


def _await(process: int) -> None:
    while True:
        try:
            if os.wait()[0] == process:
                return
        except ChildProcessError:
            return


def _read_command() -> dict[str, Any]:
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 65536)
        if not piece:
            os._exit(1)
        line += piece
    return json.loads(line)


def _report(descriptor: int, status: dict[str, Any]) -> None:
    with suppress(OSError):
        os.write(descriptor, json.dumps(status).encode() + b"\n")


class Reaper:
    """Starts the command, waits for its end or for the control pipe's, and ends the rest."""

    def __init__(self, command: dict[str, Any], plan: Confinement | None, status: int) -> None:
        self._command = command
        self._plan = plan
        self._status = status
        self._ended: int | None = None  # the command's wait status

    def run(self) -> NoReturn:
        try:
            self._run()
        except BaseException as error:  # the edge of a process
            _report(self._status, {"error": f"{type(error).__name__}: {error}"})
        os._exit(0)

    def _run(self) -> None:
        stopped, stop = os.pipe()
        signal.set_wakeup_fd(_non_blocking(stop))
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, _ignore)
        if IS_LINUX:
            linux.die_with_parent(signal.SIGTERM)
            linux.become_subreaper()
        if self._plan is not None and self._plan.namespaces:
            arrange_mounts(self._plan)
        main = os.fork()
        if main == 0:
            self._become_command()
        if self._command["input"] is not None:
            os.close(self._command["input"])
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (1, 2):  # the output ends with the command's processes
            os.dup2(null, descriptor)
        was_stopped = self._await_end(main, stopped)
        left = self._alive(main)
        count = len([one for one in left if one != main])
        grace = self._command["grace"] if was_stopped else GRACE_AFTER_END
        end_processes(lambda: self._alive(main), grace)
        self._collect(main)
        _report(self._status, {**_outcome(self._ended), "left": count, "stopped": was_stopped})

    def _await_end(self, main: int, wakeup: int) -> bool:
        """Waits for the command's end; True where it was stopped before."""
        poll = select.poll()
        poll.register(0, select.POLLIN | select.POLLHUP)
        poll.register(wakeup, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == 0:
                    return True
                if signal.SIGTERM in os.read(wakeup, 4096):
                    return True
            if self._collect(main):
                return False

    def _alive(self, main: int) -> list[int]:
        self._collect(main)
        return descendants(self._command["marker"], main)

    def _collect(self, main: int) -> bool:
        """Reaps every child that has ended; whether the command is among them, now or before."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == main:
                    self._ended = ended[1]
        return self._ended is not None

    def _become_command(self) -> NoReturn:
        try:
            os.setsid()
            if IS_LINUX:
                linux.die_with_parent(signal.SIGKILL)
            source = self._command["input"]
            os.dup2(os.open(os.devnull, os.O_RDONLY) if source is None else source, 0)
            if source is not None:
                os.close(source)
            signal.set_wakeup_fd(-1)
            for name in (*_IGNORED, "SIGCHLD", "SIGPIPE", "SIGXFSZ"):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
            os.chdir(self._command["folder"])
            if self._plan is not None:
                confine(self._plan)
            arguments = self._command["arguments"]
            os.execvpe(arguments[0], arguments, os.environ)
        except BaseException as error:  # the edge of a process
            _report(self._status, {"error": f"{self._command['arguments'][0]}: {error}"})
        os._exit(127)


def _ignore(_number: int, _frame: object) -> None:
    """The wakeup descriptor has the signal."""


def _non_blocking(descriptor: int) -> int:
    os.set_blocking(descriptor, False)
    return descriptor


def _outcome(status: int | None) -> dict[str, int]:
    if status is None:  # killed, and never reaped: it cannot be
        return {"exit": -1, "signal": 0}
    if os.WIFSIGNALED(status):
        return {"exit": -1, "signal": os.WTERMSIG(status)}
    return {"exit": os.WEXITSTATUS(status), "signal": 0}


def end_processes(alive: Callable[[], list[int]], grace: float) -> None:
    """Ends processes and those that they start meanwhile: SIGTERM, `grace` seconds, then SIGKILL until none is left."""
    if grace:
        for process in alive():
            _send(process, signal.SIGTERM)
            _send(process, signal.SIGCONT)  # a stopped one would not see it
        until = time.monotonic() + grace
        while alive() and time.monotonic() < until:
            time.sleep(0.01)
    until = time.monotonic() + KILL_SECONDS
    while (processes := alive()) and time.monotonic() < until:
        for process in processes:
            _send(process, signal.SIGKILL)
        time.sleep(0.001)


def _send(process: int, number: int) -> None:
    with suppress(OSError):
        os.kill(process, number)


def descendants(marker: str, main: int = 0) -> list[int]:
    """The processes below this one that have not ended. On Linux orphans are among them.

    Elsewhere they are found by the group of `main` and by the marker in their environment too.
    """
    if not IS_LINUX:
        return _listed_by_ps(marker, main)
    if os.getpid() == 1:
        return [process for process in _all_processes() if process != 1 and _state(process) != "Z"]
    found: list[int] = []
    pending = [os.getpid()]
    while pending:
        for child in _children(pending.pop()):
            pending.append(child)
            if _state(child) != "Z":
                found.append(child)
    return found


def _all_processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _children(process: int) -> list[int]:
    children: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children", "rb") as listed:
                children += map(int, listed.read().split())
    except FileNotFoundError:
        if os.path.exists("/proc/self/task") and not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
            return [other for other in _all_processes() if _parent(other) == process]
    except OSError:
        pass
    return children


def _stat(process: int) -> list[bytes]:
    """The fields of /proc/PID/stat after the name; none where the process has ended."""
    try:
        with open(f"/proc/{process}/stat", "rb") as status:
            return status.read().rpartition(b")")[2].split()
    except OSError:
        return []


def _state(process: int) -> str:
    """Its state's letter; Z where it has ended."""
    return fields[0].decode() if (fields := _stat(process)) else "Z"


def _parent(process: int) -> int:
    return int(fields[1]) if (fields := _stat(process)) else 0


def _listed_by_ps(marker: str, main: int) -> list[int]:
    """As macOS and the BSDs list them; `-E` adds the environment of the user's own processes."""
    own = os.getpid()
    command = ["/bin/ps", "-axEww", "-o", "pid=,ppid=,pgid=,stat=,command="]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as lister:
        listed = lister.communicate()[0].decode("utf-8", "replace")
    rows = [row.split(None, 4) for row in listed.splitlines()]
    processes = [(int(row[0]), int(row[1]), int(row[2]), row[3], row[-1]) for row in rows if len(row) >= 4]
    above = {own, os.getppid(), lister.pid}
    family = {own} if main == 0 else {own, main}
    while True:  # parents may be listed after their children
        added = {
            pid
            for pid, parent, group, _, text in processes
            if pid not in family | above and (parent in family or group == main != 0 or f"{MARKER}={marker}" in text)
        }
        if not added:
            break
        family |= added
    alive = {pid for pid, _, _, state, _ in processes if not state.startswith("Z")}
    return sorted((family - above) & alive)


if __name__ == "__main__":
    main()
