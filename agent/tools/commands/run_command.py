"""The tools `run_command` and `command_output`."""

import re
from contextlib import suppress
from typing import Any, Final

from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.command_changes import UnfinishedCommand
from agent.checkpoints.command_checkpoints import BACKGROUND, BACKGROUND_SECONDS
from agent.permissions.action import Access, Action
from agent.permissions.irreversible_commands import is_irreversible
from agent.permissions.network_commands import fetches
from agent.permissions.read_only_commands import read_only_commands
from agent.permissions.tool_facts import OutcomeStyle, SubjectKind, declare_tool
from agent.tools.commands.commands import Commands
from agent.tools.commands.sandbox import SandboxKind
from agent.tools.files.concerns import known_concern
from agent.tools.output import short_summary
from agent.tools.port import (
    ToolFailure,
    ToolPurpose,
    ToolRun,
    UsualTool,
    flag_argument,
    string_argument,
    whole_argument,
)
from foundation.errors import PalimpsestError
from models.messages import Tool
from models.prompts import prompt

LONGEST_COMMAND: Final = 100_000  # characters; Linux takes 128 KiB in one argument
MOST_SECONDS: Final = 3_600
MOST_WAIT: Final = 600


class RunCommand(UsualTool):
    """Runs a command in the project folder."""

    purpose = ToolPurpose.PROJECT
    facts = declare_tool("run_command", Access.RUN, SubjectKind.COMMAND, OutcomeStyle.COMMAND, other_names=("Bash",))
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {
            "type": "object",
            "properties": {
                "command": {"type": "string"},
                "timeout": {"type": "integer"},
                "background": {"type": "boolean"},
                "sandbox": {"type": "boolean"},
            },
            "required": ["command"],
        },
    )

    def __init__(self, commands: Commands, checkpoints: Checkpoints | None = None) -> None:
        """`checkpoints` secure the project's files, and record what the command changes."""
        self._commands = commands
        self._checkpoints = checkpoints
        self._is_unsecured = False  # securing failed the last time

    def action(self, arguments: dict[str, Any]) -> Action:
        command = _command(arguments)
        whole_argument(arguments, "timeout", 1, least=1)
        background = "It keeps running in the background, without a time limit." * flag_argument(
            arguments, "background"
        )
        secured = not self._is_unsecured and (self._checkpoints is None or self._checkpoints.commands.covers)
        return command_action(
            self._commands, command, inside=_is_inside(arguments), background=background, secured=secured
        )

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        command, inside = _command(arguments), _is_inside(arguments)
        if flag_argument(arguments, "background"):
            return self._start(command, run, inside=inside)
        seconds = whole_argument(arguments, "timeout", self._commands.settings.command_seconds, least=1)
        seconds = min(seconds, MOST_SECONDS)
        running = self._secured(command, run, seconds, self.facts.name)
        try:
            return self._commands.run(command, seconds, run.stopped, run.report, inside=inside)
        finally:
            self._recorded(running)

    def _start(self, command: str, run: ToolRun, *, inside: bool) -> str:
        running = self._secured(command, run, BACKGROUND_SECONDS, BACKGROUND)
        try:
            handle = self._commands.start(command, inside=inside)
        except BaseException:
            self._recorded(running)
            raise
        if self._checkpoints and running:
            self._checkpoints.commands.watch(running, lambda: self._commands.is_running(handle))
        return f"[started in the background as {handle}; command_output reads what it prints, and stops it]\n"

    def _secured(self, command: str, run: ToolRun, seconds: float, label: str) -> UnfinishedCommand | None:
        """Secures the project's files before a command that may change some. Raises ToolFailure where that fails and
        the permission did not say so; the next request for it does."""
        if self._checkpoints is None or read_only_commands(command):
            return None
        try:
            running = self._checkpoints.before_command(run.entry, label=label, seconds=seconds, report=run.report)
        except (PalimpsestError, OSError) as error:
            self._is_unsecured = True
            if run.action is not None and run.action.destroys:
                return None
            reason = error.message if isinstance(error, PalimpsestError) else f"{error.strerror or error}."
            message = f"The project's files could not be saved before the command, so /undo could not help: {reason}"
            raise ToolFailure("Not run", message, "Call it again if the user is to decide.") from error
        self._is_unsecured = False
        return running

    def _recorded(self, running: UnfinishedCommand | None) -> None:
        with suppress(PalimpsestError, OSError):
            if self._checkpoints:
                self._checkpoints.after_command(running)


class CommandOutput(UsualTool):
    """Reads what a background command printed, or stops it."""

    purpose = ToolPurpose.BACKGROUND
    facts = declare_tool("command_output", Access.MEMORY, outcome=OutcomeStyle.COMMAND)
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {
            "type": "object",
            "properties": {
                "handle": {"type": "string"},
                "wait": {"type": "integer"},
                "stop": {"type": "boolean"},
            },
            "required": ["handle"],
        },
    )

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    def action(self, arguments: dict[str, Any]) -> Action:
        handle = string_argument(arguments, "handle")
        command, inside = self._commands.background(handle)
        verb = "stop" if flag_argument(arguments, "stop") else "read the output of"
        return Action(
            tool=self.facts.name,
            access=self.facts.access,  # what was started with permission is read and ended without
            summary=f"{verb} command {short_summary(handle)}",
            subject=handle,
            is_from_network=_reads_network(self._commands, command, inside=inside),
        )

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        handle = string_argument(arguments, "handle")
        if flag_argument(arguments, "stop"):
            return self._commands.stop(handle)
        seconds = min(whole_argument(arguments, "wait", 0), MOST_WAIT)
        return self._commands.output(handle, seconds, run.stopped, run.report)


def command_action(
    commands: Commands, command: str, *, inside: bool = True, background: str = "", secured: bool = True
) -> Action:
    """The action of running the command. Blocks. `background` is a sentence on what runs beside the turn. `secured`:
    the project's files are secured before it."""
    state, concern = commands.sandbox.state, ""
    has_sandbox = state.kind is not SandboxKind.NONE
    if has_sandbox and not inside:
        concern = "It requests to run outside the sandbox, where it can write any of your files and use the network."
    is_confined = inside and state.holds
    reads = commands.files_read(command) if is_confined else None
    return Action(
        tool=RunCommand.facts.name,
        access=RunCommand.facts.access,
        summary=f"run {short_summary(command)}",
        subject=command,
        detail=command,
        concern=concern,
        circumstances=" ".join(filter(None, ("" if concern else state.circumstances, background))),
        destroys=is_irreversible(command) or not (secured or read_only_commands(command)),
        is_from_network=_reads_network(commands, command, inside=inside and has_sandbox),
        reads=reads,
        is_contained=(reads is not None and not reads.asks)
        or (is_confined and state.no_network and not _names_guarded_file(command)),
    )


def _names_guarded_file(command: str) -> bool:
    """Whether the line names a file that models, editors or programs obey: the sandbox lets a command write these."""
    return any(known_concern(tuple(word.split("/")), "") for word in re.split(r"[\s<>|;&=:,()\"']+", command) if word)


def _reads_network(commands: Commands, command: str, *, inside: bool) -> bool:
    return fetches(command) and not (inside and commands.sandbox.state.no_network)


def _command(arguments: dict[str, Any]) -> str:
    command = string_argument(arguments, "command")
    if "\0" in command:
        raise ToolFailure("Not a command", "A command has no NUL character.")
    if any("\ud800" <= letter <= "\udfff" for letter in command):
        raise ToolFailure("Not a command", "A command is Unicode text; this has half of a surrogate pair.")
    if len(command.encode()) > LONGEST_COMMAND:
        raise ToolFailure(
            "Too long", f"A command has at most {LONGEST_COMMAND:,} bytes.", "Write a script file and run it."
        )
    return command


def _is_inside(arguments: dict[str, Any]) -> bool:
    return "sandbox" not in arguments or flag_argument(arguments, "sandbox")
