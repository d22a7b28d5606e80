"""The commands of a session: those that run, the background ones by their handles, and their end with the session."""

import itertools
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock
from typing import Final

from msgspec import Struct

from agent.permissions.action import FilesRead
from agent.tools.commands.environment import command_environment
from agent.tools.commands.process import CommandProcess
from agent.tools.commands.read_files import files_read
from agent.tools.commands.sandbox import STATE, Sandbox, SandboxFolders
from agent.tools.files.concerns import is_instruction
from agent.tools.files.project import ProjectFolders
from agent.tools.port import ToolFailure, ToolSettings
from foundation.figures import counted
from foundation.paths import Workspace, config_dir
from foundation.sizes import MEGABYTE
from foundation.terminal_text import visible_line
from foundation.workspace_trust import TrustStore

STILL_RUNS: Final = "[runs for "  # begins the output of a command that has not ended
MAX_BACKGROUND: Final = 8  # background commands that run at the same time
KEPT_ENDED: Final = 16  # background commands that have ended, whose output can still be read
_LONGEST_TOLD: Final = 60  # characters of a command in a sentence
END_SECONDS: Final = 20.0  # how long the end of a stopped command is waited for


class RunningCommand(Struct, frozen=True):
    """A background command, for a list of them. `ended` is "" while it runs, else how it ended."""

    handle: str
    command: str
    seconds: float
    ended: str = ""


def ended_sentence(command: RunningCommand) -> str:
    """That a background command has ended, for a person."""
    line = visible_line(command.command)
    line = line if len(line) <= _LONGEST_TOLD else f"{line[:_LONGEST_TOLD]}…"
    return f"The background command {command.handle} has ended: {line} · {command.ended}, {command.seconds:.0f} s"


class _Background(Struct, frozen=True):
    command: str
    process: CommandProcess
    inside: bool


def open_commands(
    workspace: Workspace, project: ProjectFolders, settings: ToolSettings, environment: Mapping[str, str]
) -> "Commands":
    """The commands of a session in the workspace. Starts nothing."""
    own = config_dir(environment)
    states = [Path(record.path) / STATE for record in TrustStore(own).records()]
    home = Path(environment.get("HOME") or Path.home())
    more = [Path(name).expanduser() for name in settings.sandbox_folders.split(os.pathsep) if name]
    folders = SandboxFolders(
        writable=[*project.folders, *more],
        read_only=_instructions(workspace.root),
        programs=sorted(project.programs),
        hidden=[own, workspace.state, *states],
        home=home,
        workspace=workspace.root,
        git_settings=_git_settings(environment, home),
    )
    sandbox = Sandbox(folders, enabled=settings.sandbox, network=settings.sandbox_network)
    return Commands(project, sandbox, settings, environment)


def _git_settings(environment: Mapping[str, str], home: Path) -> list[Path]:
    """The user's and the system's settings of git."""
    folder = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    named = [Path(environment[name]) for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM") if environment.get(name)]
    return [*named, home / ".gitconfig", folder / "git/config", Path("/etc/gitconfig")]


def _instructions(workspace: Path) -> list[Path]:
    """The workspace's memory and instructions, which are written only with a yes."""
    with suppress(OSError):
        return [path for path in workspace.iterdir() if is_instruction((path.name,))]
    return []


class Commands:
    """Starts the commands of a session. Safe for concurrent calls."""

    def __init__(
        self, project: ProjectFolders, sandbox: Sandbox, settings: ToolSettings, environment: Mapping[str, str]
    ) -> None:
        self.sandbox = sandbox
        self.project = project
        self.settings = settings
        self._environment = command_environment(environment, settings.command_environment.split())
        self._background: dict[str, _Background] = {}
        self._running: set[CommandProcess] = set()
        self._confined: set[CommandProcess] = set()  # those in the sandbox
        self._numbers = itertools.count(1)
        self._told: set[str] = set()  # handles of background commands whose end the person knows
        self._told_model: set[str] = set()
        self._lock = Lock()
        self._closed = False

    def files_read(self, command: str) -> FilesRead | None:
        """What the command reads; None where it may do more. Blocks."""
        return files_read(command, self.project)

    def run(
        self, command: str, seconds: float, stopped: Event, report: Callable[[str], None], *, inside: bool = True
    ) -> str:
        """Runs the command, and gives how it ended and its output. It and all that it started have ended then."""
        process = self._start(command, inside=inside)
        try:
            in_time = process.wait(seconds, stopped, report)
        finally:
            self._end(process)
            note = self._after(process, inside)
        if in_time:
            return _told(process, note=note)
        if stopped.is_set():
            return _told(process, "stopped by the user", note=note)
        return _told(
            process, f"ended at its time limit of {seconds:g} s; `timeout` sets it, `background` has none", note=note
        )

    def start(self, command: str, *, inside: bool = True) -> str:
        """Starts the command in the background; gives its handle. Raises ToolFailure where too many run."""
        with self._lock:
            running = [one for one in self._background.values() if not one.process.ended.is_set()]
        if len(running) >= MAX_BACKGROUND:
            raise ToolFailure(
                "Too many commands",
                f"{MAX_BACKGROUND} background commands run already.",
                "Stop one with command_output and `stop`.",
            )
        process = self._start(command, inside=inside)
        handle = f"c{next(self._numbers)}"
        with self._lock:
            self._background[handle] = _Background(command, process, inside)
            ended = [name for name, one in self._background.items() if one.process.ended.is_set()]
            for name in ended[: max(len(ended) - KEPT_ENDED, 0)]:
                del self._background[name]
        return handle

    def output(self, handle: str, seconds: float, stopped: Event, report: Callable[[str], None]) -> str:
        """What the background command printed since the last call; waits for its end, `seconds` at most."""
        found = self._find(handle)
        found.process.wait(seconds, stopped, report)
        if found.process.ended.is_set():
            self._told.add(handle)
            self._told_model.add(handle)
        return _told(found.process, new_only=True, note=self._after(found.process, found.inside))

    def background(self, handle: str) -> tuple[str, bool]:
        """The command line of a background command, and whether it is in the sandbox; "" where there is none."""
        with self._lock:
            found = self._background.get(handle)
        return (found.command, found.inside) if found else ("", True)

    def stop(self, handle: str) -> str:
        """Ends a background command with all that it started; gives what it printed since the last call."""
        found = self._find(handle)
        self._told.add(handle)
        self._told_model.add(handle)
        self._end(found.process)
        return _told(found.process, new_only=True, note=self._after(found.process, found.inside))

    def is_running(self, handle: str) -> bool:
        """Whether the background command has not ended."""
        return any(command.handle == handle and not command.ended for command in self.listed())

    def listed(self) -> tuple[RunningCommand, ...]:
        """The background commands, oldest first."""
        with self._lock:
            known = list(self._background.items())
        return tuple(
            RunningCommand(
                handle, one.command, one.process.seconds, one.process.status.text if one.process.status else ""
            )
            for handle, one in known
        )

    def take_ended(self) -> tuple[RunningCommand, ...]:
        """The background commands that ended by themselves since the last call."""
        ended = tuple(command for command in self.listed() if command.ended and command.handle not in self._told)
        self._told.update(command.handle for command in ended)
        return ended

    def ended_notes(self) -> list[str]:
        """A sentence for the model about each background command that ended by itself, each given once."""
        ended = [command for command in self.listed() if command.ended and command.handle not in self._told_model]
        self._told_model.update(command.handle for command in ended)
        return [f"{ended_sentence(command)}. command_output reads what it printed." for command in ended]

    @property
    def status(self) -> str:
        """For the status bar: `2 commands run`; "" where none runs in the background."""
        count = sum(not command.ended for command in self.listed())
        return f"{counted(count, 'command')} run{'s' if count == 1 else ''}" if count else ""

    def close(self) -> None:
        """Ends every command, and waits for that. None starts afterwards."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for process in running:
            process.stop()
        for process in running:
            process.ended.wait(END_SECONDS)
        self.sandbox.close()

    def _after(self, process: CommandProcess, inside: bool) -> str:
        """Undoes what a command in the sandbox must not leave; gives a sentence about that, and what it did not see."""
        self.sandbox.accept(self.project.written)
        notes = [
            self.sandbox.after_command(inside=inside),
            self.sandbox.missed(process.output.text()) if inside else "",
        ]
        return "; ".join(filter(None, notes))

    def _start(self, command: str, *, inside: bool) -> CommandProcess:
        alone = all(process.ended.is_set() for process in self._confined)
        launch = self.sandbox.launch(command, self.project.root, self._environment, inside=inside, alone=alone)
        with self._lock:  # a command that starts while the session closes would outlive it
            if self._closed:
                raise ToolFailure("Closed", "The session has ended; no command starts.")
            process = CommandProcess(launch, self.settings.command_output_mb * MEGABYTE)
            self._running = {one for one in self._running if not one.ended.is_set()} | {process}
            self._confined = (self._confined & self._running) | ({process} if inside else set())
        return process

    def _find(self, handle: str) -> _Background:
        with self._lock:
            found = self._background.get(handle)
        if found is None:
            handles = ", ".join(self._background) or "none"
            raise ToolFailure("No such command", f"There is no background command “{handle}”. There are: {handles}.")
        return found

    def _end(self, process: CommandProcess) -> None:
        if not process.ended.is_set():
            process.stop()
            process.ended.wait(END_SECONDS)


def _told(process: CommandProcess, why: str = "", *, new_only: bool = False, note: str = "") -> str:
    """How the command ended, in brackets, and its output."""
    status = process.status
    if status is None:
        facts = [why or f"{STILL_RUNS[1:]}{process.seconds:.1f} s"]
    else:
        if status.error:
            raise ToolFailure("Not run", f"The command was not run: {status.error}.")
        facts = [why or f"{status.text} after {status.seconds:.1f} s"]
        if why:
            facts.append(f"{status.text} after {status.seconds:.1f} s")
        if status.left and not status.stopped:
            facts.append(f"{status.left} process{'es' if status.left > 1 else ''} left running stopped")
    facts += [note] * bool(note)
    text = process.output.new_text() if new_only else process.output.text()
    if not text:
        facts.append("no new output" if new_only else "no output")
    return f"[{'; '.join(facts)}]\n{text}"
