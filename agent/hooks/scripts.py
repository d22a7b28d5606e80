"""The project's files that hook commands name: a command may change them, and hooks run outside the sandbox.

What each held when it was first run is kept in the user's own configuration folder, never in a project: what changed
since is not run until the folder is trusted again. Only files that the command line itself names are known, not those
that they load.
"""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from agent.hooks.settings import HookCommand, HookSettings
from agent.permissions.denied_command import run_commands
from agent.tools.files.project import PROJECT_VARIABLE, named_paths, program_files, script_words
from foundation.files import FileLock, LockTimeout, make_private_folder, read_bytes, resolve_path, write_atomically
from foundation.typed_json import decode_json

_MOST_BYTES: Final = 4_000_000
_LOCK_SECONDS: Final = 2.0
_NOTHING: Final = ""


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
        make_private_folder(self._path.parent)
        with FileLock(self._path.with_name("hook-scripts.lock"), timeout=_LOCK_SECONDS):
            folders, key = self._read(), _key(folder)
            folders[key] = {**folders.get(key, {}), **digests}
            write_atomically(self._path, msgspec.json.encode(_ScriptFile(folders)))

    def trust(self, folder: Path) -> tuple[str, ...]:
        """Trusts the folder's known scripts as they are now; gives those that had changed."""
        folder = resolve_path(folder)
        now = {name: _digest(folder / name) for name in self.known(folder)}
        changed = {name: digest for name, digest in now.items() if digest != self.known(folder)[name]}
        if changed:
            self.add(folder, changed)
        return tuple(sorted(changed))

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            return decode_json(read_bytes(self._path, owned=True), _ScriptFile).folders
        except (OSError, msgspec.DecodeError):
            return {}


class HookScripts:
    """The scripts of a session's hooks, and which of them are not as they were trusted."""

    def __init__(self, settings: HookSettings, folder: Path, store: ScriptStore) -> None:
        """A script that the store does not know is trusted as it is now."""
        self._folder = resolve_path(folder)
        commands = {
            hook.command: hook
            for matchers in msgspec.structs.astuple(settings)
            for matcher in matchers
            for hook in matcher.hooks
        }
        named = {command: tuple(self._named(command)) for command in commands}
        now = {path: _digest(path) for paths in named.values() for path in paths}
        known = store.known(self._folder)
        self._trusted = {path: known.get(self._shown(path), digest) for path, digest in now.items()}
        self._named_by = named
        new = {name: digest for path, digest in now.items() if digest and (name := self._shown(path)) not in known}
        if new:
            with suppress(OSError, LockTimeout):  # it holds for this session then
                store.add(self._folder, new)

    def changed(self, hook: HookCommand) -> str:
        """The script of the hook that is not as it was trusted, relative to the project; "" for none."""
        paths = self._named_by.get(hook.command, ())
        return next((self._shown(path) for path in paths if _digest(path) != self._trusted[path]), "")

    @property
    def files(self) -> frozenset[Path]:
        """Every script that is in the project, without links."""
        return frozenset(program_files(self._trusted, self._folder))

    def _named(self, command: str) -> Iterable[Path]:
        """The scripts that the command line runs: not what it writes, as a log."""
        commands, _ = run_commands(PROJECT_VARIABLE.sub(".", command))
        words = [word for words in commands for word in script_words(words)]
        return named_paths(words, self._folder, [self._folder])

    def _shown(self, path: Path) -> str:
        return path.relative_to(self._folder).as_posix()


def _digest(path: Path) -> str:
    """Of what the file holds to which the path leads now. "" where there is none."""
    try:
        return hashlib.sha256(read_bytes(resolve_path(path), most=_MOST_BYTES)).hexdigest()
    except OSError:
        return _NOTHING


def _key(folder: Path) -> str:
    try:
        return f"{folder.stat().st_ino}:{folder}"
    except OSError:
        return f"0:{folder}"
