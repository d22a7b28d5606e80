"""Whether a command removes what /undo cannot bring back: the history of version control, what is at a remote, ignored
files, databases of a server.

Files of the project are secured before a command, whatever it is, and are not looked for here. A command line is read
as for a rule that denies. Where part of it cannot be read, such words anywhere in it count.
"""

import re
from typing import Final

from agent.permissions.command import PatternWords
from agent.permissions.denied_command import has_words, run_commands
from agent.permissions.programs import program_name
from agent.permissions.shell_reader import UNKNOWN

_GIT: Final = (
    *("stash drop", "stash clear", "branch -D", "branch --delete", "branch -f", "branch --force"),
    *("branch -M", "branch -C", "checkout -B", "switch -C", "switch --force-create", "tag -d", "tag --delete"),
    *("tag -f", "tag --force", "worktree remove", "worktree prune", "reflog expire", "reflog delete", "gc", "prune"),
    *("update-ref", "filter-branch", "filter-repo", "replace", "fast-import", "clean -x", "clean -X"),
    *("push --force", "push -f", "push --force-with-lease", "push --delete", "push -d", "push --mirror"),
    *("push --prune", "remote remove", "remote rm", "fetch --force", "fetch -f", "lfs prune"),
)
_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "git": _GIT,
    "hg": ("strip", "histedit", "rollback", "phase --force"),
    "jj": ("abandon", "op restore", "git push"),
    "dropdb": ("",),
    "redis-cli": ("flushall", "flushdb", "FLUSHALL", "FLUSHDB"),
}
_DATABASE_CLIENTS: Final = frozenset({"psql", "mysql", "mariadb", "mongosh", "mongo", "clickhouse-client", "sqlcmd"})
_DROPS: Final = re.compile(r"\b(?:drop|truncate|delete|deleteMany|dropDatabase|alter|update)\b", re.IGNORECASE)
_HISTORY: Final = re.compile(r"(?:^|[/='\"\s:])\.(?:git|hg|svn|jj|bzr)(?:[/'\"\s]|$)")
_FOLDER_OF_HISTORY: Final = re.compile(r"(?:^|.*/)\.(?:git|hg|svn|jj|bzr)(?:/.*)?")
_NAMES: Final = re.compile(
    r"(?<![\w-])git\s+(?:stash|branch|tag|reflog|gc|prune|update-ref|filter|push|clean)(?![\w-])|(?<![\w-])dropdb"
)


def is_irreversible(line: str) -> bool:
    """Whether the command line may remove what no checkpoint has."""
    commands, is_known = run_commands(line)
    if any(map(_is_irreversible, commands)):
        return True
    return not is_known and (_NAMES.search(line) is not None or _HISTORY.search(line) is not None)


def _is_irreversible(command: tuple[str, ...]) -> bool:
    name = "git" if UNKNOWN in command[0] else program_name(command[0])
    if name in _DATABASE_CLIENTS:
        return any(map(_DROPS.search, command[1:]))
    if name not in _WORDS:
        return any(map(_FOLDER_OF_HISTORY.fullmatch, command[1:]))
    if name == "git" and "push" in command and any(word.startswith(("+", ":")) for word in command[1:]):
        return True
    patterns = (PatternWords((name, *words.split()), True, False) for words in _WORDS[name])
    return any(has_words(pattern, (name, *command[1:])) for pattern in patterns)
