"""A first AGENTS.md for a project, from its build files, its languages and its folders. No model is asked."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any, Final, cast

from agent.tools.files.project import ProjectFolders
from agent.tools.files.walk import ProjectWalk
from foundation.figures import counted
from foundation.files import is_file
from foundation.files.untrusted import UnreadableFile, read_own_text
from foundation.terminal_text import visible_line

MAX_FILES: Final = 50_000
MAX_ROWS: Final = 20  # folders that are listed
_COMMANDS: Final = (
    ("pyproject.toml", "Test", "python -m pytest"),
    ("tox.ini", "Test", "tox"),
    ("Cargo.toml", "Build", "cargo build"),
    ("Cargo.toml", "Test", "cargo test"),
    ("go.mod", "Build", "go build ./..."),
    ("go.mod", "Test", "go test ./..."),
    ("pom.xml", "Test", "mvn test"),
    ("build.gradle", "Test", "./gradlew test"),
    ("build.gradle.kts", "Test", "./gradlew test"),
    ("CMakeLists.txt", "Build", "cmake -B build && cmake --build build"),
    ("CMakeLists.txt", "Test", "ctest --test-dir build"),
    ("Package.swift", "Test", "swift test"),
    ("Gemfile", "Test", "bundle exec rake test"),
    ("mix.exs", "Test", "mix test"),
    ("composer.json", "Test", "composer test"),
    ("global.json", "Test", "dotnet test"),
)
"""Build file, purpose and usual command."""
_ENDINGS: Final = {
    "Python": "py", "JavaScript": "js jsx mjs cjs", "TypeScript": "ts tsx", "Rust": "rs", "Go": "go", "Java": "java",
    "Kotlin": "kt kts", "Swift": "swift", "C": "c h", "C++": "cc cpp cxx hpp", "C#": "cs", "Ruby": "rb", "PHP": "php",
    "Elixir": "ex exs", "Scala": "scala", "Shell": "sh bash zsh", "Lua": "lua", "Dart": "dart", "Zig": "zig",
    "Haskell": "hs", "SQL": "sql", "Vue": "vue", "Svelte": "svelte", "HTML": "html", "CSS": "css scss",
}  # fmt: skip
_LANGUAGES: Final = {ending: name for name, endings in _ENDINGS.items() for ending in endings.split()}
_TASKS: Final = ("build", "test", "check", "lint", "format", "typecheck")
_MANAGERS: Final = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
_END: Final = (
    "<!-- Add what the files do not show: conventions, what to run before a commit, what to leave alone. -->\n"
)


def first_instructions(root: Path) -> str:
    """The text of the file for the project in `root`. Blocks."""
    folders = ProjectFolders((root,))
    walk = ProjectWalk(folders, Event(), MAX_FILES)
    files = [found.parts for found in walk.files((folders.place(folders.root, ()),))]
    languages = Counter(name for parts in files if (name := _LANGUAGES.get(parts[-1].rpartition(".")[2].lower())))
    tops = Counter(parts[0] for parts in files if len(parts) > 1)
    sections = {
        "Languages": [f"{name}: {counted(count, 'file')}" for name, count in languages.most_common(4)],
        "Commands": [f"{purpose}: `{command}`" for purpose, command in dict.fromkeys(_commands(root))],
        "Layout": [f"`{visible_line(name)}/`: {counted(tops[name], 'file')}" for name in sorted(tops)[:MAX_ROWS]],
    }
    shown = [f"## {title}\n\n" + "".join(f"- {row}\n" for row in rows) for title, rows in sections.items() if rows]
    return "\n".join([f"# {visible_line(root.name)}\n", *shown, _END])


def _commands(root: Path) -> Iterator[tuple[str, str]]:
    """Purposes and commands: those that the project names, then the usual ones of its build files."""
    manager = next((manager for file, manager in _MANAGERS.items() if is_file(root / file)), "npm")
    named = {
        "make": _targets(_text(root / "Makefile")),
        "just": _targets(_text(root / "justfile")),
        f"{manager} run": _scripts(_text(root / "package.json")),
    }
    for runner, tasks in named.items():
        yield from ((task.capitalize(), f"{runner} {task}") for task in _TASKS if task in tasks)
    known = set[str]().union(*named.values())
    for file, purpose, command in _COMMANDS:
        if purpose.lower() not in known and is_file(root / file):
            yield purpose, command


def _targets(text: str) -> set[str]:
    return set(re.findall(r"^([a-z][\w-]*)[^:=\n]*:(?!=)", text, re.MULTILINE))


def _scripts(text: str) -> set[str]:
    with suppress(ValueError, RecursionError):
        package = json.loads(text)
        scripts = cast("dict[str, Any]", package).get("scripts") if isinstance(package, dict) else None
        return set(cast("dict[str, Any]", scripts)) if isinstance(scripts, dict) else set()
    return set()


def _text(path: Path) -> str:
    try:
        return read_own_text(path, within=path.parent)
    except (FileNotFoundError, UnreadableFile):
        return ""
