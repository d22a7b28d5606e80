"""The project folders: where tools read and change files, and what in them needs care.

A path is resolved once and must lie in one of the folders with its links resolved; it is opened by `foundation.files`,
which follows no link, so that a folder swapped for a link after the check is refused.
"""

import fnmatch
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.tools.port import ToolFailure
from foundation.files import UnsafePath, resolve_path

_SECRETS: Final = (
    ".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "id_rsa*", "id_ed25519*", "id_ecdsa*", ".netrc", ".pgpass",
    ".npmrc", ".pypirc", "credentials", "credentials.json", ".git-credentials", "*.kdbx",
)  # fmt: skip
_SECRET_FOLDERS: Final = {".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure"}
_STATE: Final = ".palimpsest"


class ProjectPath(Struct, frozen=True):
    """A path in a project folder. `path` has no links; `shown` is relative to the first folder where it lies there."""

    path: Path
    shown: str


class ProjectFolders:
    """The folders where tools work. The first is where the person stands; relative names are resolved there."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(resolve_path(folder) for folder in folders)

    @property
    def root(self) -> Path:
        return self.folders[0]

    def locate(self, name: str) -> ProjectPath:
        """The path that a model names. Raises ToolFailure where it lies outside, or in the program's own state."""
        try:
            path = resolve_path(self.root / Path(name).expanduser())
        except (UnsafePath, RuntimeError) as error:
            raise ToolFailure("Not a path", f"{name}: {error}") from error
        if not any(path.is_relative_to(folder) for folder in self.folders):
            where = ", ".join(map(str, self.folders))
            raise ToolFailure("Out of bounds", f"{name} is not in the project: {where}.")
        if _STATE in {part.casefold() for part in path.parts}:  # some file systems know one name in any case
            raise ToolFailure("Out of bounds", f"{name} belongs to the program's own state, which recall reads.")
        return ProjectPath(path, self.shown(path))

    def shown(self, path: Path) -> str:
        """The path as the model sees it: relative to the first folder, else absolute; with `/`."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.as_posix()

    def reading_concern(self, place: ProjectPath) -> str:
        """Why reading asks first; "" where it needs no permission."""
        if is_secret(place.path):
            return f"{place.shown} looks like a file of keys or passwords."
        if Path.home().resolve().is_relative_to(self.root):
            return f"{self.root} is or holds your home folder, so each file asks. Start in a project's folder instead."
        return ""


def is_secret(path: Path) -> bool:
    """Whether a file of this name usually holds keys or passwords."""
    name = path.name.casefold()
    if name.endswith((".example", ".sample", ".template", ".pub")):
        return False
    folders = {part.casefold() for part in path.parts[:-1]}
    return bool(folders & _SECRET_FOLDERS) or any(fnmatch.fnmatch(name, pattern) for pattern in _SECRETS)
