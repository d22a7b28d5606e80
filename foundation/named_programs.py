"""Which files of a workspace the command lines in its config.yaml run: of its hooks and its MCP servers.

Programs and scripts count, not what a command reads or writes. Too much is found rather than too little. What such a
file loads is not known.
"""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast

from foundation.files.untrusted import UnreadableFile, read_own_text
from foundation.yaml import BadYaml, load_yaml

_MOST: Final = 200  # files
_TOKEN: Final = re.compile(r""">+|"([^"]*)"|'([^']*)'|[^\s;&|()<>`"']+""")
_PROJECT: Final = re.compile(r"\$\{?(?:CLAUDE|PALIMPSEST)_PROJECT_DIR\}?|\$\{?PWD\}?")
_SCRIPT: Final = re.compile(
    r"\.(?:sh|bash|zsh|fish|py|pyz|js|mjs|cjs|ts|mts|rb|pl|php|lua|tcl|awk|ps1|bat|cmd|exe|jar|go|r)", re.IGNORECASE
)
_RUNS: Final = re.compile(
    r"(?:.*/)?(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|pypy[\d.]*|node|deno|bun|ruby|perl|php|lua|tclsh|Rscript|java|awk|uv|run"
    r"|exec|env|sudo|source|\.)(?:\.exe)?",
    re.IGNORECASE,
)


def named_programs(config: Path, root: Path) -> dict[str, Path]:
    """The files below `root`, links not resolved, that hooks and servers of that config.yaml run, by relative name.

    Relative words start in `root`, or in the folder that a server names. {} where the file cannot be read.
    """
    try:
        text = read_own_text(config, within=root)
        settings = load_yaml(text) if "hooks" in text or "mcp" in text else None
    except (OSError, UnreadableFile, BadYaml):
        return {}
    if not isinstance(settings, dict):
        return {}
    found: dict[str, Path] = {}
    for words, folder in _command_lines(cast("dict[Any, Any]", settings), root):
        for path in _programs(words, folder):
            if path.is_relative_to(root) and len(found) < _MOST:
                found[path.relative_to(root).as_posix()] = path
    return found


def _command_lines(settings: dict[Any, Any], root: Path) -> Iterator[tuple[list[str], Path]]:
    """The words of each command, and the folder in which it starts. Sections may be written as `mcp.servers`."""
    for name, value in settings.items():
        if str(name).startswith("hooks"):
            yield from (([*_words(text)], root) for text in commands_in(value))
        elif str(name).startswith("mcp"):
            yield from _servers(value, root)


def commands_in(value: Any) -> Iterator[str]:
    """The command lines in settings of hooks, however deep."""
    match value:
        case {"command": str(command)}:
            yield command
        case dict():
            for part in cast("dict[Any, Any]", value).values():
                yield from commands_in(part)
        case list():
            for part in cast("list[Any]", value):
                yield from commands_in(part)
        case _:
            pass


def _servers(value: Any, root: Path) -> Iterator[tuple[list[str], Path]]:
    match value:
        case {"command": str(command), **rest}:
            arguments, folder = rest.get("args"), rest.get("cwd")
            given = (
                [word for word in cast("list[Any]", arguments) if isinstance(word, str)]
                if isinstance(arguments, list)
                else []
            )
            start = Path(os.path.normpath(root / _expanded(folder))) if isinstance(folder, str) else root
            yield [command, *(part for word in given for part in (word, *_words(word)))], start
            yield [*_modules([command, *given])], start
        case dict():
            for part in cast("dict[Any, Any]", value).values():
                yield from _servers(part, root)
        case _:
            pass


def _modules(words: list[str]) -> Iterator[str]:
    """The files of the modules that `-m` names."""
    for option, module in pairwise(words):
        if option == "-m":
            path = module.replace(".", "/")
            yield from (f"{path}{end}" for end in (".py", "/__init__.py", "/__main__.py"))


def _words(text: str, inner: bool = True) -> Iterator[str]:
    """The words of a command line, and those of a quoted one in it; what output is redirected to is none."""
    is_target = False
    for match in _TOKEN.finditer(text):
        quoted = match[1] or match[2]
        if match[0].startswith(">"):
            is_target = True
            continue
        if not is_target:
            yield quoted or match[0]
            if quoted and inner:
                yield from _words(quoted, inner=False)
        is_target = False


def _programs(words: Iterable[str], folder: Path) -> Iterator[Path]:
    before = "exec"
    for word in words:
        for part in {word, word.rpartition("=")[2]}:
            path = _path(part, folder)
            if path is not None and (
                _RUNS.fullmatch(before) or _SCRIPT.fullmatch(path.suffix) or os.access(path, os.X_OK)
            ):
                yield path
        if not word.startswith("-"):
            before = word


def _path(word: str, folder: Path) -> Path | None:
    """The file that the word names; None where there is none."""
    if not word or "\0" in word:
        return None
    try:
        path = Path(os.path.normpath(folder / _expanded(word)))
        return path if path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _expanded(word: str) -> str:
    return os.path.expandvars(os.path.expanduser(_PROJECT.sub(".", word)))  # noqa: PTH111  # as a shell does
