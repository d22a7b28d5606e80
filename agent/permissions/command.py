"""Command lines, parsed far enough to allow them by a prefix of words.

Only plain commands are judged: words, quotes without expansion, and the operators `|`, `||`, `&&`, `;` and `&` between
them. All else that a shell would act on (substitution, redirection, variables, groups, keywords, assignments, globs
that may expand to an option, hidden characters) makes a command line opaque: no prefix rule allows it. So do programs
and options that run other commands. What denies is judged by `agent.permissions.denied_command`.
"""

import os
import re
import unicodedata
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct

from agent.permissions.programs import (
    INTERPRETERS,
    PROGRAMS,
    RUNNERS,
    Program,
    is_running_option,
    program_name,
)


class ParsedCommand(Struct, frozen=True):
    """The simple commands of a command line, as words. `is_opaque`: some of it could not be judged."""

    commands: tuple[tuple[str, ...], ...]
    is_opaque: bool


EXACT: Final = "="
"""Before a pattern: it is the whole command line, whatever stands in it (`=ls *`)."""

_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t]+)
    |(?P<operator>\|\||&&|[|;&])
    |(?P<single>'[^']*')
    |(?P<double>"[^"$`\\!\n]*")
    |(?P<plain>[^\s|;&'"$`\\<>(){}!\#~*?\[\]\0]+)
    |(?P<glob>[*?\[\]])
    |(?P<inner>[~\#])
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_JOINERS: Final = "\u200c\u200d"  # within emoji and words of many scripts


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
            is_opaque |= _is_hidden(text, kind) or os.name == "nt"  # cmd.exe knows no such quotes
            text = text[1:-1]
        elif kind == "glob":  # the name of a command must be plain, and no file name may become an option
            is_opaque |= not words or not word or word.startswith("-")
        elif kind == "inner":  # `HEAD~1` and `a#b` are plain; `~/x`, `a=~` and `# …` are not
            is_opaque |= not word or not word[-1].isalnum()
        else:
            is_opaque |= kind == "other" or _is_hidden(text, "plain") or (not word and text.startswith("="))
            is_opaque |= os.name == "nt" and bool(set(text) & set("%^"))
        word = (word or "") + text
    if word is not None:
        words.append(word)
    commands.append(tuple(words))
    found = tuple(command for command in commands if command)
    is_incomplete = len(found) < len(commands)  # an operator with nothing on one side of it
    return ParsedCommand(found, is_opaque or is_incomplete or any(map(_runs_others, found)))


def allows(pattern: str, line: str) -> bool:
    """Whether a rule with this pattern allows the command line: the very line, or a prefix of each simple command."""
    if pattern.startswith(EXACT):
        return line == pattern.removeprefix(EXACT)
    if line == pattern and not pattern.endswith("*"):
        return True
    parsed = parse_command(line)
    wanted = pattern_words(pattern)
    return not parsed.is_opaque and all(_allows(wanted, command) for command in parsed.commands)


def exact_pattern(line: str) -> str:
    """The pattern that allows this very command line and no other."""
    return EXACT + line if line.endswith("*") or line.startswith(EXACT) else line


class PatternWords(Struct, frozen=True):
    """The words of a pattern. `is_prefix`: others may follow; `is_open`: the last word is the beginning of one."""

    words: tuple[str, ...]
    is_prefix: bool
    is_open: bool

    @property
    def program(self) -> str:
        return self.words[0] if self.words else ""


def pattern_words(pattern: str) -> PatternWords:
    """The pattern, read as words."""
    is_prefix = pattern.endswith("*")
    parsed = parse_command(pattern.removesuffix("*"))
    words = tuple(word for command in parsed.commands for word in command)
    return PatternWords(words, is_prefix, is_prefix and bool(words) and not pattern[:-1].endswith((" ", "\t")))


def pattern_problem(pattern: str, *, allows: bool) -> str:
    """Why the pattern of a rule for commands cannot hold, as a sentence; "" where it can."""
    if pattern.startswith(EXACT) or (allows and not pattern.endswith("*")):
        return ""
    parsed = parse_command(pattern.removesuffix("*").replace("*", "x") if not allows else pattern.removesuffix("*"))
    if len(parsed.commands) > 1 or _has_syntax(pattern):
        return "A pattern is the beginning of one command followed by *. Write one rule per command."
    if allows and "*" in pattern.removesuffix("*"):
        return "In an allow rule, * is only valid at the end."
    return ""


def suggested_prefix(line: str) -> str:
    """A prefix that a person may want to allow for good, such as `git status *`; "" where none is safe to offer."""
    parsed = parse_command(line)
    if parsed.is_opaque or len(parsed.commands) != 1:
        return ""
    name, *rest = command = parsed.commands[0]
    if any(is_running_option(_judged(command), word) for word in rest):
        return ""
    for prefix in PROGRAMS.get(name, Program()).prefixes:
        head = rest[: len(prefix)]
        fits = (
            wanted == word or (wanted == "+" and not word.startswith("-"))
            for wanted, word in zip(prefix, head, strict=False)
        )
        if len(head) == len(prefix) and all(fits) and all(map(_is_plain, head)):
            return " ".join([name, *head, "*"])
    return ""


def _is_plain(word: str) -> bool:
    """Whether a pattern reads the word as it is."""
    return re.fullmatch(r"[\w./:@%+,-]+", word) is not None


def _allows(wanted: PatternWords, command: tuple[str, ...]) -> bool:
    count = len(wanted.words)
    if len(command) < count or (len(command) > count and not wanted.is_prefix):
        return False
    for index, (word, typed) in enumerate(zip(wanted.words, command, strict=False)):
        is_beginning = wanted.is_open and index == count - 1
        if not (typed.startswith(word) if is_beginning else typed == word):
            return False
    return not any(is_running_option(_judged(command), word) for word in command[count:] + _old_style(command, count))


def _judged(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command whose options count: of `python3 -m pytest`, that is pytest."""
    match command:
        case (name, "-m", *module) if module and program_name(name).rstrip("0123456789.") in {"python", "pypy"}:
            return tuple(module)
        case _:
            return command


def _old_style(command: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Options of tar without their hyphen: `tar xIf PROGRAM archive`."""
    is_plain = command[0] == "tar" and count < 2 <= len(command) and not command[1].startswith("-")
    return (f"-{command[1]}",) if is_plain else ()


_PLAIN_BUILTIN: Final = re.compile(r"test (?:! )?-[defrswx] [^-]\S*|printf [^-][^$`]*", re.DOTALL)
"""Forms of `test` and `printf` of which no shell judges a word as code."""


def _runs_others(command: tuple[str, ...]) -> bool:
    name = command[0]
    if _PLAIN_BUILTIN.fullmatch(" ".join(command)):
        return False
    return name.rpartition("/")[2] in RUNNERS or program_name(name) in RUNNERS or _ASSIGNMENT.match(name) is not None


def _is_hidden(text: str, kind: str) -> bool:
    """Whether it holds characters that a person cannot see, or blanks that are none to a shell."""
    free = "" if kind == "plain" else _JOINERS + "\n\t "
    return any(unicodedata.category(letter)[0] in "CZ" and letter not in free for letter in text)


def _has_syntax(pattern: str) -> bool:
    return re.search(r"[|;&<>`$\n\r\0]", re.sub(r"'[^']*'|\"[^\"]*\"", "", pattern)) is not None


def word_matches(pattern: str, word: str) -> bool:
    """Whether a word of a rule that denies or asks matches a word of a command; `*` stands for any characters."""
    return word == pattern or fnmatchcase(word.casefold(), pattern.casefold())


def runs_code(name: str) -> bool:
    """Whether the program runs a program that it is given."""
    return program_name(name) in INTERPRETERS or name.rpartition("/")[2] in INTERPRETERS
