"""Resolves a hook's command line to the files that it runs, if the line names them literally.

Only simple forms are resolved: a script by its path, an interpreter followed by a script, and programs that are known
to run nothing of the project. Any other line (`cd`, variables, modules, globs, `make`, wrappers) may run any file.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from agent.permissions.command import runs_code
from agent.permissions.programs import PROGRAMS, RUNNERS, Program, program_name, runs_nothing
from agent.permissions.read_only_commands import read_only_commands
from agent.permissions.shell_reader import UNKNOWN, read_line
from agent.tools.files.concerns import comparable
from agent.tools.files.project import PROJECT_VARIABLE, named_paths
from foundation.files import resolve_path
from foundation.shell_words import command_line

_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_INTERPRETERS: Final = _SHELLS | {"python", "python3", "node", "ruby", "perl"}
"""They run the file that follows them, and load nothing from the folder that they start in."""
_RUN_NOTHING: Final = frozenset(
    {"ruff", "black", "gofmt", "rustfmt", "shfmt", "notify-send", "terminal-notifier", "say", "afplay", "paplay"}
)
_BUILTINS: Final = frozenset({"test", "[", "printf"})  # of those that may run a command, with plain arguments
_COPIES: Final = frozenset({"cp", "mv", "ln", "gunzip"})
_SHEBANG: Final = re.compile(r"#!\s*(?:/\S*/env\s+)?((?:/\S*/)?[\w.]+)(?:\s+-[eux]+)?\s*")
_LOADING: Final = re.compile(r"PYTHON(?:PATH|HOME)|NODE_(?:PATH|OPTIONS)|(?:RUBY|PERL5?)(?:LIB|OPT)|(?:LD|DYLD)_\w+")
"""Variables by which programs load code. Options count as if they did."""
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*(?:\[.*\])?\+?=")


class CommandFiles:
    """Resolves the command lines of a session's hooks. They start in the first of the folders."""

    def __init__(self, folders: Sequence[Path], environment: Mapping[str, str]) -> None:
        """`folders` are those whose files may change, without links."""
        self._folders = folders
        self._start = folders[0]
        entries = environment.get("PATH", os.defpath).split(os.pathsep)
        entries = [*([""] if os.name == "nt" else []), *entries]  # cmd.exe looks in the current folder first
        self._path = os.pathsep.join(str(self._start / entry) for entry in entries)
        loading = (
            part
            for name, value in environment.items()
            if _LOADING.fullmatch(name) and value
            for part in re.split(rf"[{os.pathsep}\s]", value)
        )
        self._loads_code = any(self._holds(self._start / part) for part in loading)

    def resolve(self, line: str) -> frozenset[Path] | None:
        """Returns the files and folders that the line may run code from; None if it may run any file."""
        line = PROJECT_VARIABLE.sub(".", line)
        reading = read_line(line)
        is_expanded = os.name == "nt" and not set(line).isdisjoint("%^")
        is_unclear = not reading.is_whole or reading.substitutions or reading.inputs or is_expanded or "\0" in line
        if is_unclear or self._loads_code:
            return None
        found, scripts, others = set[Path](), set[str](), list[tuple[str, ...]]()
        unwritten = list[str]()  # words of commands that write no script
        for command in reading.commands:
            if UNKNOWN in command[0] or _ASSIGNMENT.match(command[0]) or any("$(" in w or "`" in w for w in command):
                return None
            if (script := self._script(command)) is None:
                others.append(command)
                unwritten += command if program_name(command[0]) in {"test", "["} else ()
            elif script and (loaded := self._loaded(command, script)) is not None:
                found |= loaded
                scripts.add(script.rpartition("/")[2])
                unwritten += command
            else:
                return None
        is_written = any(line.count(name) > " ".join(unwritten).count(name) for name in scripts)
        if is_written or not all(_runs_nothing(command, beside_script=bool(scripts)) for command in others):
            return None
        return frozenset(found)

    def _script(self, command: tuple[str, ...]) -> str | None:
        """The word that names the script which the command runs; None if it runs none, "" if that is not known."""
        word, name = command[0], program_name(command[0])
        program, is_tool = self._program(word), name in PROGRAMS or name in RUNNERS or runs_code(name)
        if self._holds(program):
            return word if "/" in word and not is_tool else ""
        if "/" in word and not is_tool:
            on_path = shutil.which(program.name, path=self._path)
            if (
                not on_path
                or resolve_path(Path(on_path)) != resolve_path(program)
                or program_name(_interpreter(program)) in _SHELLS
            ):
                return word  # one of the person's own
        if name not in _INTERPRETERS:
            return None
        words = list(command[1:])
        while words and name in _SHELLS and re.fullmatch(r"-[eux]+", words[0]):
            del words[0]
        return words[0] if words and not words[0].startswith("-") else ""

    def _loaded(self, command: tuple[str, ...], script: str) -> frozenset[Path] | None:
        """The script, its folder (it may load what lies beside it), and the files that its arguments name.

        None if it may load any file: a script that imports modules, at the top of a folder.
        """
        if any(UNKNOWN in word for word in command):
            return None
        found = set[Path]()
        path = self._start / self._program(f"./{script}" if "/" not in script else script)
        if resolve_path(path).is_relative_to(resolve_path(Path(tempfile.gettempdir()))):  # a command may write there
            found.add(path)
        for place in filter(self._is_in, {path, resolve_path(path)}):
            program = command[0] if script != command[0] else _interpreter(place)
            interpreter = program_name(program)
            if interpreter not in _INTERPRETERS or self._holds(self._program(program)):
                return None
            found.add(place)
            if place.is_dir() or place.parent not in self._folders:
                found.add(place if place.is_dir() else place.parent)
            elif place.exists() and interpreter not in _SHELLS:
                return None
            if interpreter == "node":
                found.update(folder / "node_modules" for folder in place.parents if self._is_in(folder))
        for folder in self._folders:
            found.update(each for each in named_paths(command[1:], folder, [self._start]) if each.is_file())
        return None if found & set(self._folders) else frozenset(found)

    def _program(self, word: str) -> Path:
        if "/" not in word:
            return Path(shutil.which(word, path=self._path) or "/")
        return Path(os.path.normpath(self._start / os.path.expanduser(word)))  # noqa: PTH111  # unlike Path, never raises

    def _holds(self, path: Path) -> bool:
        return self._is_in(path) or self._is_in(resolve_path(path))

    def _is_in(self, path: Path) -> bool:
        name = comparable(str(path))  # the case of a name may not matter
        return any(Path(name).is_relative_to(comparable(str(folder))) for folder in self._folders)


def _runs_nothing(command: tuple[str, ...], *, beside_script: bool) -> bool:
    """Whether the command is known to run no file of the project. Beside a script it must not copy files, either."""
    name = program_name(command[0])
    program = PROGRAMS.get(name, Program(options="?"))
    if name == "cd":  # later words are relative to the new folder
        return command[1:] == (".",)
    if command == ("env",) or name in _RUN_NOTHING or read_only_commands(command_line(*command)):
        return True
    is_builtin_runner = name in RUNNERS and name not in _BUILTINS
    writes = beside_script and (program.options or name in _COPIES)
    is_open = program.options and (program.offers or any(UNKNOWN in word for word in command))
    return not (is_builtin_runner or writes or is_open) and runs_nothing(command)


def _interpreter(path: Path) -> str:
    """The name of the program that runs the script; "" if it has options or lies in no usual place."""
    try:
        with path.open("rb") as file:
            start = file.read(200)
    except OSError:
        return "sh"  # missing
    if not start.startswith(b"#!"):
        return "sh"
    match = _SHEBANG.fullmatch(start.partition(b"\n")[0].decode("utf-8", "replace"))
    return match[1] if match else ""
