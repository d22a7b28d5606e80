"""Whether a rule that denies, or asks, is about a command line.

Here a command line is read generously: quotes, backslashes and braces are resolved, wrappers such as `sudo`, `env`,
`xargs` and `sh -c` are seen through, substitutions are read as commands. What cannot be known from the line (a
variable, the input of a shell, code of an interpreter) makes the answer MAYBE, and the person is asked. So does a line
that names the denied command anywhere, unless all of its programs are known to run nothing that they are given.

A rule is about what a command line says, not about what the files that it runs do: that is the sandbox's part.
"""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Final

from agent.permissions.command import PatternWords, pattern_words, runs_code, word_matches
from agent.permissions.programs import (
    RUNNERS,
    SHELLS,
    TAKES_WORDS,
    is_git_command,
    is_running_option,
    program_name,
    runs_nothing,
)
from agent.permissions.shell_reader import UNKNOWN, read_line

MOST_DEPTH: Final = 6
MOST_COMMANDS: Final = 2_000


class Certainty(IntEnum):
    NO = 0
    MAYBE = 1
    YES = 2


def denies(pattern: str, line: str) -> Certainty:
    """Whether a rule with this pattern denies the command line. `*` at its end changes nothing."""
    if pattern.startswith("="):
        return Certainty.YES if line.split() == pattern[1:].split() else Certainty.NO
    wanted = pattern_words(pattern)
    if not wanted.words:
        return Certainty.YES
    commands = list[tuple[str, ...]]()
    is_known = _collect(line, commands, 0)
    certainty = Certainty.NO if is_known else Certainty.MAYBE
    for command in commands:
        certainty = max(certainty, *(_judge(wanted, each) for each in (command, *_completed(command))))
    if certainty is Certainty.NO and not _runs_nothing(line, commands) and _mentions(wanted, line, commands):
        return Certainty.MAYBE
    return certainty


def _completed(command: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The commands that it may run with words that it reads or finds: `xargs git`, `find -exec git {}`."""
    if program_name(command[0]) not in _APPENDERS and not any("{}" in word for word in command):
        return
    mark = re.search(r"(?<= -I) ?(\S+)", " ".join(command))  # xargs -I% % x
    words = [re.sub(re.escape(mark[1] if mark else "{}"), UNKNOWN, word) for word in command]
    for start, before in enumerate(words[:-1], 1):
        is_name = (
            UNKNOWN not in words[start] or before == UNKNOWN or (before.startswith("-") and before not in {"-I", "-i"})
        )
        if is_name and not words[start].startswith("-"):
            yield (*words[start:], UNKNOWN)


def _runs_nothing(line: str, commands: Sequence[tuple[str, ...]]) -> bool:
    """Whether nothing that the line gives its programs, or sets for them (`PAGER='git push' man x`), is run."""
    sets = any(_ASSIGNMENT.match(words[0]) for words in read_line(line).commands)
    return not sets and all(map(runs_nothing, commands))


_TOKENS: Final = re.compile(rf"[\w.*?\[\]{UNKNOWN}-]+")


def _mentions(wanted: PatternWords, line: str, commands: Sequence[tuple[str, ...]]) -> bool:
    """Whether the words of the pattern that are no options occur in the line, in order, however it is quoted."""
    tokens = [token for word in wanted.words if not word.startswith("-") for token in _TOKENS.findall(word)]
    unquoted, read = re.sub(r"['\"\\]", "", line), " ".join(word for command in commands for word in command)
    return any(
        _has_tokens(each, text, is_open=wanted.is_open)
        for text in (unquoted, re.sub(r"(?<!\S)-\w", " ", unquoted), re.sub(r"\\.", " ", line), read)
        for each in (tokens, ["-".join(tokens)])  # git-push
    )


def _has_tokens(wanted: Sequence[str], text: str, *, is_open: bool) -> bool:
    given = iter(_TOKENS.findall(text))  # each token is looked for behind the one before it
    return all(
        any(_is_token(token, each, is_open=is_open, is_first=not at) for each in given)
        for at, token in enumerate(wanted)
    )


def _is_token(wanted: str, given: str, *, is_open: bool, is_first: bool) -> bool:
    """Whether the text that is given may be the word: in any case, as a glob, or partly unknown (`$X`)."""
    given = given.casefold().removesuffix(".exe")
    is_glob = re.search(r"\w[*?\[]|[*?\]]\w", given) is not None and word_matches(given, wanted)
    known = given.strip(UNKNOWN)
    is_unknown = known != given and known in wanted.casefold() and (known != "" or not is_first)
    return is_glob or is_unknown or wanted == "*" or word_matches(f"{wanted}*" if is_open else wanted, given)


def run_commands(line: str) -> tuple[list[tuple[str, ...]], bool]:
    """Every command that the line may run, as words, and whether all of the line can be known.

    A command that runs another is followed by each of its ends: which word is the other's name is not known.
    """
    collected = list[tuple[str, ...]]()
    is_known = _collect(line, collected, 0)
    commands, parent = list[tuple[str, ...]](), ("",)
    for words in collected:
        is_end = parent[-len(words) :] == words
        parent = parent if is_end else words
        if not (is_end and parent[0] in TAKES_WORDS):
            commands.append(words)
    return commands, is_known


def _collect(line: str, commands: list[tuple[str, ...]], depth: int) -> bool:
    """Adds every command that the line may run. False where some of it cannot be known."""
    if depth > MOST_DEPTH:
        return False
    reading = read_line(line)
    is_known = reading.is_whole
    commands_here = [command for words in reading.commands if (command := _without_prefixes(words))]
    for command in commands_here:
        is_known &= _collect_from(command, commands, depth)
    for inner in reading.substitutions:
        is_known &= _collect(inner, commands, depth + 1)
    if reading.inputs and any(_reads_input(command) for command in commands_here):
        for text in reading.inputs:
            is_known &= _collect(text, commands, depth + 1)
    return is_known and len(commands) < MOST_COMMANDS


def _collect_from(command: tuple[str, ...], commands: list[tuple[str, ...]], depth: int) -> bool:
    """Adds the command, and those that it runs."""
    if len(commands) >= MOST_COMMANDS:
        return False
    commands.append(command)
    name = program_name(command[0])
    is_known = UNKNOWN not in command[0]
    if name == "git" and any(word.startswith(("-c", "--config-env", "--exec-path")) for word in command[1:4]):
        is_known = False  # an alias may be any command
    if runs_code(name) and (_has_code(command) or _reads_input(command)):
        is_known = False
    if name in _CHANGERS:
        is_known = False
    if name not in RUNNERS and not any(is_running_option(command, word) for word in command[1:]):
        return is_known
    for start in range(1, len(command)):
        rest = _without_prefixes(command[start:])
        if rest and program_name(rest[0]) in RUNNERS and rest != command:
            is_known &= not _reads_input(rest)
            is_known &= program_name(rest[0]) not in _CHANGERS
        if rest:
            commands.append(rest)
            is_known &= not (runs_code(rest[0]) and _has_code(rest))
    for word in command[1:]:
        for text in _texts(word):
            is_known &= _collect(text, commands, depth + 1)
    is_known &= not any(UNKNOWN in word for word in command)
    return is_known and not _reads_input(command)


def _texts(word: str) -> Iterator[str]:
    """What of an argument may be a command line: itself, or the value of an option (`--exec=…`, `-S…`)."""
    if re.search(r"[\s;|&$`]", word):
        yield word
        if re.match(r"-[A-Za-z]", word):
            yield word[2:]
    if word.startswith("-") and "=" in word:
        yield word.partition("=")[2]


_APPENDERS: Final = frozenset({"xargs", "parallel"})
"""They run a command with further words, which they read."""
_CHANGERS: Final = frozenset({"source", ".", "alias", "trap", "function", "enable", "hash", "bind", "eval", "coproc"})
"""They change what later commands mean, or run what the line does not say. `eval` is read besides."""
_KEYWORDS: Final = frozenset(
    {"if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "time", "fi", "done"}
)
_ASSIGNMENT: Final = re.compile(rf"[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=|[{UNKNOWN}]+\Z")


def _without_prefixes(words: Sequence[str]) -> tuple[str, ...]:
    """The command without keywords and assignments before it. An unknown word that may be empty stays."""
    start = 0
    while start < len(words) and (
        words[start] in _KEYWORDS or (_ASSIGNMENT.match(words[start]) and "=" in words[start])
    ):
        start += 1
        while words[start - 1] == "time" and start < len(words) and words[start].startswith("-"):
            start += 1
    return tuple(words[start:])


def _reads_input(command: tuple[str, ...]) -> bool:
    """Whether it is a shell or an interpreter that runs what it reads from its input."""
    name = program_name(command[0])
    if name not in SHELLS and not runs_code(name):
        return False
    if name in _NOT_FROM_INPUT:
        return False
    if name in SHELLS and any(re.match(r"-[a-z]*s", word) for word in command[1:]):
        return True
    arguments = [word for word in command[1:] if not word.startswith("-") or word == "-"]
    return arguments in ([], ["-"], ["/dev/stdin"]) and not any(word in _ASKS_ONLY for word in command[1:])


def _has_code(command: tuple[str, ...]) -> bool:
    """Whether code is given as an argument that the line does not let us read."""
    if program_name(command[0]) in {"awk", "gawk", "mawk", "nawk"}:
        return any("system" in word or "|" in word for word in command[1:])
    if program_name(command[0]) in {"sed", "gsed"}:
        return any(re.search(r"(^|[\s;{}0-9/$!])e(\s|$)|/[a-zA-Z]*e[a-zA-Z]*$", word) for word in command[1:])
    if program_name(command[0]) in {"make", "gmake"}:
        return any(word.startswith(("SHELL=", "--eval", "-E")) for word in command[1:])
    return any(
        re.match(r"-[A-Za-z]*[ceErpR]\b|-[ceErp]|--(eval|exec|print|command|execute|run)", w) for w in command[1:]
    )


_NOT_FROM_INPUT: Final = frozenset({"make", "gmake", "sed", "gsed", "awk", "gawk", "mawk", "nawk", "expect"})
_ASKS_ONLY: Final = frozenset({"--version", "-V", "--help", "-h", "-v"})


def _judge(wanted: PatternWords, command: tuple[str, ...]) -> Certainty:
    name = command[0]
    if UNKNOWN in name or (program_name(name) in SHELLS and any(UNKNOWN in word for word in command)):
        return Certainty.MAYBE
    program = wanted.program
    names = {name, name.replace("\\", "/").rpartition("/")[2], name.casefold().rpartition("/")[2].removesuffix(".exe")}
    begins = wanted.is_open and len(wanted.words) == 1
    if not any(word_matches(program, n) or (begins and n.startswith(program)) for n in names):
        if runs_code(name) and any(program in word for word in command[1:]):
            return Certainty.MAYBE  # its code or its file names the program
        return Certainty.NO
    if has_words(wanted, command):
        return Certainty.YES
    is_known = program_name(name) != "git" or is_git_command(command)
    return Certainty.NO if is_known and not any(UNKNOWN in word for word in command[1:]) else Certainty.MAYBE


def has_words(wanted: PatternWords, command: tuple[str, ...]) -> bool:
    """Whether the command has the pattern's options anywhere, and its other words in order.

    Options may stand between them with a word each (`git -C there push`); `-fr` has `-r`, `--force=x` has `--force`.
    """
    options = [word for word in wanted.words[1:] if word.startswith("-") and word != "-"]
    if not all(any(_has_option(option, word) for word in command[1:]) for option in _single(options)):
        return False
    plain = [word for word in wanted.words[1:] if word not in options]
    position, after_option = 0, False
    for word in command[1:]:
        if position == len(plain):
            break
        is_last = wanted.is_open and plain[position] == wanted.words[-1] and position == len(plain) - 1
        if word_matches(plain[position], word) or (is_last and word.startswith(plain[position])):
            position += 1
        elif not word.startswith("-") and not after_option and plain[position] != "*":
            return False
        after_option = word.startswith("-")
    return position == len(plain) or all(word == "*" for word in plain[position:])


def _single(options: Sequence[str]) -> Iterator[str]:
    """The options, clusters of letters one by one."""
    for option in options:
        if re.fullmatch(r"-[A-Za-z]{2,}", option):
            yield from (f"-{letter}" for letter in option[1:])
        else:
            yield option


def _has_option(option: str, word: str) -> bool:
    if not word.startswith("-"):
        return False
    given = word.partition("=")[0]
    if option.startswith("--"):
        return word_matches(option, given) or (len(given) > 3 and option.startswith(given))
    if len(option) == 2 and not word.startswith("--"):
        return option[1] in word[1:]
    return word_matches(option, given) or word.startswith(option)
