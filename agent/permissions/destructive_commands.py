"""Whether a command deletes or overwrites what nothing can bring back: /undo knows only what tools wrote.

A command line is read as for a rule that denies. Where part of it cannot be read, the name of such a program anywhere
in it counts. What the files that it runs do is not known, nor what a program does beside its purpose (`sed -i`).
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from agent.permissions.command import PatternWords
from agent.permissions.denied_command import has_words, run_commands
from agent.permissions.programs import RUNNERS, program_name
from agent.permissions.shell_reader import UNKNOWN, read_line

_DELETERS: Final = frozenset({"rm", "unlink", "shred", "srm", "truncate", "wipefs", "dd", "del", "erase", "rd"})
_SUBCOMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "git": (
        *("reset --hard", "reset --merge", "reset --keep", "clean", "checkout --", "checkout .", "checkout -f"),
        *("checkout --force", "restore", "switch -f", "switch --force", "switch --discard-changes", "stash drop"),
        *("stash clear", "branch -D", "branch --delete", "rm", "worktree remove", "reflog expire", "gc --prune"),
        *("update-ref -d", "read-tree --reset", "checkout-index -f", "filter-branch"),
    ),
    "find": ("-delete", "-fprint", "-fprintf", "-fls"),
    "rsync": ("--delete", "--remove-source-files"),
    "rmdir": ("/s",),
}
_SAFE: Final[dict[str, tuple[str, ...]]] = {"git": ("clean -n", "clean --dry-run", "restore --staged")}
_OVERWRITERS: Final = frozenset({"cp", "mv", "install", "ln", "tee"})
_KEEPS: Final = re.compile(r"-[a-z]*[nab]|--no-clobber|--backup.*|--append")
_NAMES: Final = re.compile(
    r"(?<![\w-])(?:rm|unlink|shred|truncate|rmtree|rmdir|removedirs|rmSync|unlinkSync|rm_rf|"
    r"os\.remove|git\s+(?:reset|clean|checkout|restore))(?![\w-])"
)
_DEVICE: Final = re.compile(r"/dev/(?:null|stdout|stderr|tty|fd/\d+)|-|\d+")
_CHANGES_FOLDER: Final = frozenset({"cd", "pushd", "popd"})


def destroys(line: str, is_file: Callable[[str], bool]) -> bool:
    """Whether the command line deletes files, or overwrites one that `is_file` says is there."""
    commands, is_known = run_commands(line)
    moves = any(program_name(command[0]) in _CHANGES_FOLDER for command in commands)

    def may_be_file(path: str) -> bool:
        return moves or UNKNOWN in path or is_file(path)

    if any(_destroys(command, may_be_file) for command in commands):
        return True
    if any(not _DEVICE.fullmatch(path) and may_be_file(path) for path in _truncated(line, commands)):
        return True
    return not is_known and _NAMES.search(line) is not None


def _destroys(command: tuple[str, ...], may_be_file: Callable[[str], bool]) -> bool:
    name = program_name(command[0])
    if UNKNOWN in command[0] or name in _DELETERS or name.startswith("mkfs"):
        return True
    plain = [word for word in command[1:] if not word.startswith("-")]
    if name in _OVERWRITERS:
        written = plain if name == "tee" else plain[-1:]
        return not any(map(_KEEPS.fullmatch, command[1:])) and any(map(may_be_file, written))
    if _matches(name, command, _SAFE) and "--worktree" not in command and "-W" not in command:
        return False
    is_checkout = name == "git" and "checkout" in plain
    return _matches(name, command, _SUBCOMMANDS) or (is_checkout and any(map(may_be_file, plain[1:])))


def _matches(name: str, command: tuple[str, ...], table: dict[str, tuple[str, ...]]) -> bool:
    patterns = (PatternWords((name, *words.split()), True, False) for words in table.get(name, ()))
    return any(has_words(pattern, (name, *command[1:])) for pattern in patterns)


def _truncated(line: str, commands: Sequence[tuple[str, ...]]) -> list[str]:
    """The files that redirections empty first (`>`), also in lines within the line."""
    runners = [command for command in commands if program_name(command[0]) in RUNNERS]
    inner = [word for command in runners for word in command[1:] if ">" in word]
    readings = [read_line(text) for text in (line, *inner)]
    readings += [read_line(text) for reading in readings for text in (*reading.substitutions, *reading.inputs)]
    return [path for reading in readings for path in reading.truncated]
