"""The command that started this program, for the commands that hints and messages print.

After `python3 run.py` there is no command `palimpsest`. Each printed command is built from `PROGRAM` or by
`own_command`; an error says how to type it where the script is not on the PATH.
"""

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from foundation.shell_words import command_line, shell_quote

VARIABLE: Final = "PALIMPSEST_COMMAND"
"""Whoever starts the program as a child (run.py) names the command that a person typed here."""

_NAME: Final = "palimpsest"
_SCRIPTS: Final = frozenset({_NAME, "pal"})
_MODULES: Final = frozenset({"tui.main", "agent.cli"})


def started_by(
    original: Sequence[str],
    arguments: Sequence[str],
    environment: Mapping[str, str],
    which: Callable[[str], str | None] = shutil.which,
) -> str:
    """The command as it can be typed again: `palimpsest`, `pal`, `python3 run.py`, `python -m tui.main`.

    `original` is sys.orig_argv, `arguments` sys.argv. `palimpsest` where the program runs inside of another.
    """
    if named := environment.get(VARIABLE):
        return named
    script = Path(arguments[0]) if arguments else Path()
    if script.stem in _SCRIPTS:
        executable = which(script.stem)
        is_found = executable is not None and _without_suffix(executable) == _without_suffix(script)
        return script.stem if is_found else shell_quote(str(script))
    command = original[: len(original) - len(arguments) + 1]
    if command and command[-1].removeprefix("-m") in _MODULES:
        python = Path(command[0]).name
        return command_line(python if which(python) else command[0], *command[1:])
    return _NAME


def _without_suffix(path: str | Path) -> Path:
    """The file behind the links; Windows may leave `.exe` out."""
    return Path(path).resolve().with_suffix("")


TYPED: Final = started_by(sys.orig_argv, sys.argv, os.environ)
"""The command that works where the program was started."""


def short_command(typed: str) -> str:
    """`palimpsest` for a script that is named by its path; any other command as it is."""
    name = typed.replace("\\", "/").rpartition("/")[2].strip("'\"").removesuffix(".exe")
    return name if name in _SCRIPTS else typed


PROGRAM: Final = short_command(TYPED)


def own_command(*words: str, program: str = PROGRAM) -> str:
    """A command of this program, its words quoted for the shell: `palimpsest -r 'c1; touch x'`."""
    return " ".join([program, *map(shell_quote, words)])
