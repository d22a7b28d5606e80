"""Which workspaces their owner trusts: a list in the user's own configuration folder, never in a workspace."""

from pathlib import Path

import msgspec

from foundation.files import make_private_folder, read_bytes, write_atomically
from foundation.paths import Workspace


class TrustList:
    """The folders that a person said may set paths, addresses, commands and hooks."""

    def __init__(self, config_dir: Path) -> None:
        self._path = config_dir / "trusted.json"

    def __contains__(self, workspace: Workspace) -> bool:
        return _key(workspace) in self._read()

    def add(self, workspace: Workspace) -> None:
        self._write(self._read() | {_key(workspace)})

    def remove(self, workspace: Workspace) -> None:
        self._write(self._read() - {_key(workspace)})

    def _read(self) -> frozenset[str]:
        try:
            return msgspec.json.decode(read_bytes(self._path, owned=True), type=frozenset[str])
        except (OSError, msgspec.DecodeError):  # no list, or none that can be read: nothing is trusted
            return frozenset()

    def _write(self, folders: frozenset[str]) -> None:
        make_private_folder(self._path.parent)
        write_atomically(self._path, msgspec.json.encode(sorted(folders)))


def _key(workspace: Workspace) -> str:
    return str(workspace.root.resolve())
