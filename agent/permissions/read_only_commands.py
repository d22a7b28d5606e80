"""Commands that only read, as data: they run without a question wherever the sandbox holds.

A redirection to /dev/null or between the outputs changes nothing. What makes a line opaque (other redirections,
substitution, variables, assignments, wrappers: agent.permissions.command) voids it, and so do the options of
`PROGRAMS`. The choice follows Codex's list of safe commands and Claude Code's.
"""

import os
import re
from typing import Final

from agent.permissions.command import parse_command
from agent.permissions.programs import is_running_option


def _without(options: str) -> str:
    return rf"(?!(?:.* )?(?:{options})).*"


_NAMES: Final = """
ls cat head tail stat file df pwd which whoami id uname echo true false basename dirname realpath readlink cut tr nl
paste rev seq comm cmp column fold od strings md5sum sha1sum sha256sum cksum find date printf test
"""
_GIT: Final = "status diff log show blame shortlog describe rev-parse rev-list ls-files ls-tree merge-base check-ignore"
_READ_ONLY: Final[dict[str, str]] = {
    **dict.fromkeys((*_NAMES.split(), *(f"git {verb}" for verb in _GIT.split()), "git --version"), ".*"),
    **dict.fromkeys(("wc", "du", "sort"), _without("--fil")),
    **dict.fromkeys(("grep", "egrep", "fgrep"), _without(r"-\w*R|--deref")),
    "diff": _without(r"-\w*r|--rec"),
    "rg": _without(r"-\w*[uL]|--unrestricted|--no-ignore|--follow"),
    "tree": _without("--from"),
    "cd": r"[^-].*",
    "sed": r"-n \d+(?:,(?:\d+|\$))?p(?: [^- ]\S*)*",
    **dict.fromkeys(("python", "python3", "node", "ruby", "perl", "php", "gcc", "clang", "cmake"), "-V|--version"),
    "git grep": _without("--no-|--untr"),
    "git branch": r"(?: ?(?:-[arv]+|--(?:all|remotes|list|show-current|merged|no-merged|(?:sort|format)=\S*)))*",
    "git tag": r"(?: ?(?:-l|--list|-n\d*|--sort=\S*))*",
    "git remote": "|-v|--verbose",
    "git stash": "list",
    "git worktree": "list(?: --porcelain)?",
}
"""What the words after the program, or after git's subcommand, match where it only reads."""
_REDIRECTION: Final = re.compile(
    r"""('[^']*'|"[^"]*")|(?<=[ \t])(?:(?:[12]?>>?|&>)[ \t]*/dev/null|[12]?>&[12])(?=[ \t;|&]|\Z)"""
)
"""A quoted text, or a redirection that writes no file."""
_PRINTS_BELOW: Final = re.compile(
    r"rg|git (?:.* )?(?:diff|log|show|blame|grep)|[ef]?grep (?:.* )?(?:-\w*[rd]|--rec|--dir)"
)
_FLAGS_OF_RG: Final = re.compile(r"-[cFHiIlnoPqsvwx]+|--[\w-]+=.*")
_FLAGS_OF_GREP: Final = re.compile(r"-[cEFHiIlnoPqrsvwx]+|--[\w-]+=.*")


def read_only_commands(line: str) -> tuple[tuple[str, ...], ...]:
    """The commands of a line that only reads; none where it may do more, or where that is not known."""
    parsed = parse_command(line if os.name == "nt" else _REDIRECTION.sub(lambda match: match[1] or "", line))
    return () if parsed.is_opaque or not all(map(_only_reads, parsed.commands)) else parsed.commands


def searched_paths(command: tuple[str, ...]) -> tuple[str, ...]:
    """Where a command that only reads prints from files that it does not name; none where it prints from no such."""
    if not _PRINTS_BELOW.match(" ".join(command)):
        return ()
    flags = _FLAGS_OF_RG if command[0] == "rg" else _FLAGS_OF_GREP
    options = [word for word in command[1:] if word.startswith("-")]
    plain = [word for word in command[1:] if not word.startswith("-")]  # the expression, then paths
    is_known = command[0] != "git" and all(map(flags.fullmatch, options))  # no option takes one of them as its value
    return tuple(plain[1:] if is_known else ()) or (".",)


def path_texts(words: tuple[str, ...]) -> list[str]:
    """What in the words after a program may be a path: a word, the value of an option, the path of `HEAD:path`."""
    texts = [part for word in words for part in (word, *re.split("[=:]", word), word[word.startswith("-") * 2 :])]
    return [text for text in dict.fromkeys(texts) if text.strip("-") and not text.startswith("-")]


def _only_reads(command: tuple[str, ...]) -> bool:
    name, *words = command
    if name == "git":
        words = words[next((at for at, word in enumerate(words) if word not in {"--no-pager", "-P"}), len(words)) :]
        name, words = " ".join([name, *words[:1]]), words[1:]
    options = (word for word in words if word.startswith("-") or "::" in word)
    takes = None if " " in command[0] else _READ_ONLY.get(name)
    if takes is None or any(is_running_option(command, option) for option in options):
        return False
    return re.fullmatch(takes, " ".join(words), re.DOTALL) is not None
