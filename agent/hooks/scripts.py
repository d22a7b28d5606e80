"""The project's files that hook commands name: a command may change them, and hooks run outside the sandbox.

What each held when it was first run is kept in the user's own configuration folder, never in a project: what changed
since is not run until the folder is trusted again. A line that may run any file has all files of the project watched.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from agent.hooks.command_files import CommandFiles
from agent.hooks.file_digests import TOO_MANY, WHOLE, watched_digest
from agent.hooks.settings import HookCommand, HookSettings
from agent.permissions.denied_command import run_commands
from agent.tools.files.project import PROJECT_VARIABLE, named_paths, program_files, script_words
from foundation.files import FileLock, LockTimeout, make_private_folder, read_bytes, resolve_path, write_atomically
from foundation.typed_json import decode_json

_LOCK_SECONDS: Final = 2.0
_LINE: Final = "line: "  # before a command line, among the names
_OPEN: Final = "any file"  # what a line is resolved to that may run any
ANY_FILE: Final = "A file of the project"
WRITE_LITERALLY: Final = (
    "Name a script by its path, such as `sh tools/hooks/check.sh`, or set `watch: named` for the hook to run it after "
    "changes, too."
)


class _ScriptFile(Struct, frozen=True):
    """Digests by the folder (with its inode) and the path relative to it."""

    folders: dict[str, dict[str, str]] = {}
    schema: int = 1


class ScriptStore:
    """The digests of scripts as they were trusted. An unreadable store knows none."""

    def __init__(self, config: Path) -> None:
        """`config` is the user's configuration folder."""
        self._path = resolve_path(config / "hook-scripts.json")

    def known(self, folder: Path) -> Mapping[str, str]:
        return self._read().get(_key(folder), {})

    def add(self, folder: Path, digests: Mapping[str, str]) -> None:
        """Stores these digests beside those of the folder's other scripts. Raises OSError or LockTimeout."""
        self._change(folder, lambda known: {**known, **digests})

    def trust(self, folder: Path) -> tuple[str, ...]:
        """Trusts the folder's known scripts as they are now; gives those that had changed."""
        folder = resolve_path(folder)
        known = self.known(folder)
        now = {name: watched_digest(folder, name) for name in known if not name.startswith(_LINE)}
        changed = {name: digest for name, digest in now.items() if digest != known[name]}
        if known:
            self._change(folder, lambda _: now)  # what command lines are resolved to is recorded by the next session
        return tuple(sorted(ANY_FILE.lower() if name.endswith(WHOLE) else name for name in changed))

    def _change(self, folder: Path, change: Callable[[Mapping[str, str]], Mapping[str, str]]) -> None:
        make_private_folder(self._path.parent)
        with FileLock(self._path.with_name("hook-scripts.lock"), timeout=_LOCK_SECONDS):
            folders, key = self._read(), _key(folder)
            folders[key] = dict(change(folders.get(key, {})))
            write_atomically(self._path, msgspec.json.encode(_ScriptFile(folders)))

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            return decode_json(read_bytes(self._path, owned=True), _ScriptFile).folders
        except (OSError, msgspec.DecodeError):
            return {}


class HookScripts:
    """The files of a session's hooks, and which of them are not as they were trusted."""

    def __init__(
        self, settings: HookSettings, folders: Sequence[Path], store: ScriptStore, environment: Mapping[str, str]
    ) -> None:
        """`folders` hold what a command or a pull may change, the project's first. What the store does not know is
        trusted as it is now."""
        self._folders = list(dict.fromkeys(map(resolve_path, folders)))
        self._commands = CommandFiles(self._folders, environment)
        hooks = [h for matchers in msgspec.structs.astuple(settings) for matcher in matchers for h in matcher.hooks]
        known = store.known(self._folders[0])
        watched = {_line_key(hook): self._watched(hook) for hook in hooks}
        self._names = {name for _, names in watched.values() for name in names}
        new = {name: watched_digest(self._folders[0], name) for name in sorted(self._names - set(known))}
        new |= {key: line for key, (line, _) in watched.items() if key not in known}
        self.new_open_lines = {
            hook.command for hook in hooks if hook.watch == "project" and new.get(_line_key(hook)) == _OPEN
        }
        """Command lines that may run any file and are trusted for the first time."""
        self._trusted = {**known, **new}
        if new:
            with suppress(OSError, LockTimeout):  # it holds for this session then
                store.add(self._folders[0], new)

    def changed(self, hook: HookCommand) -> str:
        """The file or folder of the hook that is not as it was trusted, relative to the project; "" for none."""
        line, names = self._watched(hook)
        if line != self._trusted.get(_line_key(hook)):
            return ANY_FILE  # the line may run other files than it did
        return next((ANY_FILE if name.endswith(WHOLE) else name for name in names if self._differs(name)), "")

    def _differs(self, name: str) -> bool:
        trusted = self._trusted.get(name)
        return trusted in {None, TOO_MANY} or watched_digest(self._folders[0], name) != trusted

    @property
    def files(self) -> frozenset[Path]:
        """Every script that is in the project, without links."""
        return frozenset(program_files((self._folders[0] / name for name in self._names), self._folders[0]))

    def _watched(self, hook: HookCommand) -> tuple[str, list[str]]:
        """Returns what the line is resolved to, and the names of the files and folders that are watched."""
        if (paths := self._commands.resolve(hook.command)) is not None:
            names = sorted(map(self._shown, paths))
            return "\n".join(names), names
        whole = [f"{self._shown(folder)}/{WHOLE}" for folder in self._folders] if hook.watch == "project" else []
        return _OPEN, [*map(self._shown, self._named(hook.command)), *whole]

    def _named(self, command: str) -> Iterable[Path]:
        """The scripts that any line seems to run: not what it writes, as a log."""
        commands, _ = run_commands(PROJECT_VARIABLE.sub(".", command))
        words = [word for words in commands for word in script_words(words)]
        return named_paths(words, self._folders[0], [self._folders[0]])

    def _shown(self, path: Path) -> str:
        project = self._folders[0]
        return path.relative_to(project).as_posix() if path.is_relative_to(project) else path.as_posix()


def _line_key(hook: HookCommand) -> str:
    return f"{_LINE}{hook.watch} {hook.command}"


def _key(folder: Path) -> str:
    try:
        return f"{folder.stat().st_ino}:{folder}"
    except OSError:
        return f"0:{folder}"
