"""Which folder is the workspace, and how one begins."""

from collections.abc import Mapping
from pathlib import Path

from agent_workspace import lay_out
from foundation.errors import Misuse
from foundation.files import exists, make_folder, make_private_folder
from foundation.paths import Workspace
from foundation.workspace_trust import trust_store

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

    Gives the relative names of what was copied. Raises Misuse where a file stands in the way, ReadOnly where the folder
    brings state and is not trusted.
    """
    from memory.access import WorkspaceAccess, refuse_read_only

    if workspace.root.exists() and not workspace.root.is_dir():
        raise Misuse("Not a folder", f"{workspace.root} is a file.", "Name a folder for the workspace.")
    new, trust = not workspace.brings_state, trust_store(environment)
    access = WorkspaceAccess.of(workspace, trust)
    try:
        refuse_read_only(access.workspace, access.standing)
    finally:
        access.close()
    make_folder(workspace.root)
    if new:  # before there is state, so that a kill leaves it the user's own; and again for what is copied
        trust.trust(workspace, "")
    make_private_folder(workspace.state)
    copied = tuple(path.relative_to(workspace.root).as_posix() for path in lay_out(workspace.root))
    if not exists(workspace.memory_dir):
        make_folder(workspace.memory_dir)
    if new:
        trust.trust(workspace, "")
    return copied
