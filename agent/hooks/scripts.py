"""The project's files that hook commands name: a tool may change them, and hooks run outside the sandbox.

Only files that the command line itself names are known, not those that they load.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from agent.hooks.settings import HookCommand, HookSettings
from foundation.files import read_bytes, resolve_path
from models.messages import ToolCall

_MOST_BYTES: Final = 4_000_000
_BREAKS: Final = re.compile(r"[\s;&|()<>`=]+")
_QUOTES: Final = re.compile(r"[\"']")
_PROJECT: Final = re.compile(r"\$\{?(?:CLAUDE|PALIMPSEST)_PROJECT_DIR\}?|\$\{?PWD\}?")
_FILE_TOOLS: Final = {"write_file", "edit_file", "apply_patch"}


class HookScripts:
    """Remembers what the scripts held when the session began."""

    def __init__(self, settings: HookSettings, folder: Path) -> None:
        self._folder = resolve_path(folder)
        commands = {
            hook.command: hook
            for matchers in msgspec.structs.astuple(settings)
            for matcher in matchers
            for hook in matcher.hooks
        }
        self._digests: Mapping[str, Mapping[Path, str]] = {
            command: {path: _digest(path) for path in self._named(command)} for command in commands
        }

    def changed(self, hook: HookCommand) -> str:
        """The script of the hook that is not as it was, relative to the project; "" for none."""
        scripts = self._digests.get(hook.command, {})
        return next((self._shown(path) for path, digest in scripts.items() if _digest(path) != digest), "")

    def touched(self, call: ToolCall, arguments: Mapping[str, object]) -> str:
        """The script that the call would change; "" for none."""
        scripts = {path for digests in self._digests.values() for path in digests}
        if call.name not in _FILE_TOOLS or not scripts:
            return ""
        if isinstance(name := arguments.get("path"), str):
            target = resolve_path(self._folder / Path(name).expanduser())
            return self._shown(target) if target in scripts else ""
        return next((self._shown(path) for path in sorted(scripts) if path.name in call.arguments), "")

    def _named(self, command: str) -> Iterable[Path]:
        words = _BREAKS.split(_QUOTES.sub("", _PROJECT.sub(".", command)))
        paths = (resolve_path(self._folder / Path(word).expanduser()) for word in words if word and "\0" not in word)
        return (path for path in paths if path.is_relative_to(self._folder) and path.is_file())

    def _shown(self, path: Path) -> str:
        return path.relative_to(self._folder).as_posix()


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(read_bytes(path, most=_MOST_BYTES)).hexdigest()
    except OSError:
        return ""
