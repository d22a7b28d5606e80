"""Command lines, parsed far enough to judge them by a prefix of words.

Only plain commands are judged: words, quotes without expansion, and the operators `|`, `||`, `&&`, `;` and `&` between
them. All else that a shell would act on (substitution, redirection, variables, groups, keywords, assignments, globs in
the name of the command) makes a command line opaque: no prefix rule allows it, and any rule that denies or asks for one
of its words still may.
"""

import re
from typing import Final

from msgspec import Struct


class ParsedCommand(Struct, frozen=True):
    """The simple commands of a command line, as words. `is_opaque`: some of it could not be judged."""

    commands: tuple[tuple[str, ...], ...]
    is_opaque: bool


_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t]+)
    |(?P<operator>\|\||&&|[|;&])
    |(?P<single>'[^']*')
    |(?P<double>"[^"$`\\!\n]*")
    |(?P<plain>[^\s|;&'"$`\\<>(){}!\#~*?\[\]\0]+)
    |(?P<glob>[*?\[\]])
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_RUNNERS: Final = {
    *("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select"),
    *("time", "coproc", "in", "[[", "]]", "eval", "exec", "source", ".", "builtin", "command", "trap", "alias"),
    *("unalias", "export", "set", "shopt", "enable", "env", "sudo", "doas", "su", "xargs", "nohup", "nice", "timeout"),
    *("setsid", "stdbuf", "watch", "parallel", "unshare", "chroot", "script", "expect", "ssh", "sh", "bash", "zsh"),
    *("dash", "fish", "ksh", "csh", "tcsh", "busybox"),
}
"""What runs, or changes, other commands: a rule for it would allow all that it runs."""


def parse_command(line: str) -> ParsedCommand:
    """The simple commands of the line."""
    commands: list[tuple[str, ...]] = []
    words: list[str] = []
    word: str | None = None
    is_opaque = False
    for match in _TOKEN.finditer(line):
        kind, text = match.lastgroup, match.group()
        if kind in {"space", "operator"}:
            if word is not None:
                words.append(word)
            word = None
            if kind == "operator":
                commands.append(tuple(words))
                words = []
            continue
        if kind in {"single", "double"}:
            text = text[1:-1]
        elif kind == "glob":
            is_opaque |= not words  # a command's own name must be plain
        elif kind == "other":
            is_opaque = True
        word = (word or "") + text
    if word is not None:
        words.append(word)
    commands.append(tuple(words))
    found = tuple(command for command in commands if command)
    is_incomplete = len(found) < len(commands)  # an operator with nothing on one side of it
    return ParsedCommand(found, is_opaque or is_incomplete or any(map(_runs_others, found)))


def command_matches(pattern: str, line: str, *, whole: bool) -> bool:
    """Whether a rule's pattern matches the command line.

    `whole`: every simple command must match, and nothing may be opaque (a rule that allows). Otherwise one match is
    enough (a rule that asks or denies).
    """
    if whole and line == pattern and not pattern.endswith("*"):
        return True
    wanted, is_prefix = _pattern_words(pattern)
    parsed = parse_command(line)
    if whole:
        return not parsed.is_opaque and all(_starts(command, wanted, is_prefix) for command in parsed.commands)
    return any(_starts(command, wanted, is_prefix) for command in parsed.commands)


def prefix_of(line: str) -> str:
    """The pattern of the rule that “always this command” makes: the command line itself."""
    return line


def _pattern_words(pattern: str) -> tuple[tuple[str, ...], bool]:
    words = tuple(word for command in parse_command(pattern.removesuffix("*")).commands for word in command)
    return words, pattern.endswith("*")


def _starts(command: tuple[str, ...], wanted: tuple[str, ...], is_prefix: bool) -> bool:
    return command[: len(wanted)] == wanted and (is_prefix or len(command) == len(wanted))


def _runs_others(command: tuple[str, ...]) -> bool:
    name = command[0]
    return name.rpartition("/")[2] in _RUNNERS or _ASSIGNMENT.match(name) is not None
