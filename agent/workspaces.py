"""Which folder is the workspace, and how one begins."""

from collections.abc import Mapping
from pathlib import Path

from agent.config import config_dir
from agent.workspace_trust import TrustList
from agent_workspace import lay_out
from foundation.errors import Misuse
from foundation.files import exists, make_folder, make_private_folder
from foundation.paths import Workspace

DEFAULT_NAME = "palimpsest"
"""The folder in the user's home that is taken where nothing else is said."""


def choose(flag: Path | None, environment: Mapping[str, str], here: Path, home: Path) -> Workspace:
    """`--workspace`, then `PALIMPSEST_WORKSPACE`, then the nearest folder upwards that is one, then `~/palimpsest`."""
    if flag is not None:
        return Workspace(flag.expanduser().absolute())
    if named := environment.get("PALIMPSEST_WORKSPACE"):
        return Workspace(Path(named).expanduser().absolute())
    for folder in (here, *here.parents):
        if (folder / ".palimpsest").is_dir():
            return Workspace(folder)
    return Workspace(home / DEFAULT_NAME)


def prepare(workspace: Workspace, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Makes the folder a workspace: copies what is missing, never over what is there, and trusts it if it is new.

    Gives the relative names of what was copied. Raises Misuse where a file stands in the way.
    """
    if workspace.root.exists() and not workspace.root.is_dir():
        raise Misuse("Not a folder", f"{workspace.root} is a file.", "Name a folder for the workspace.")
    new = not workspace.is_workspace
    make_folder(workspace.root)
    make_private_folder(workspace.state)
    copied = tuple(path.relative_to(workspace.root).as_posix() for path in lay_out(workspace.root))
    if not exists(workspace.memory_dir):
        make_folder(workspace.memory_dir)
    if new:
        TrustList(config_dir(environment)).add(workspace)
    return copied
