"""Finds, creates and renews the workspace."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_workspace import lay_out, outdated_files
from foundation.errors import Misuse, PalimpsestError
from foundation.files import exists, make_folder, make_private_folder
from foundation.paths import Workspace, expand_home
from foundation.program import PROGRAM
from foundation.workspace_trust import trust_store
from memory.access import WorkspaceAccess, refuse_read_only

if TYPE_CHECKING:
    from memory.memory import Memory

DEFAULT_NAME = "palimpsest"
"""The default folder in the user's home."""


def find_workspace(flag: Path | None, environment: Mapping[str, str], here: Path, home: Path) -> Workspace:
    """`--workspace`, then `PALIMPSEST_WORKSPACE`, then the nearest folder upwards that is one, then `~/palimpsest`."""
    if flag is not None:
        return Workspace(expand_home(flag).absolute())
    if variable := environment.get("PALIMPSEST_WORKSPACE"):
        return Workspace(expand_home(variable).absolute())
    for folder in (here, *here.parents):
        if (folder / ".palimpsest").is_dir():
            return Workspace(folder)
    return Workspace(home / DEFAULT_NAME)


def prepare_workspace(workspace: Workspace, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Creates a workspace: copies missing default files, overwrites none, and trusts the folder if it is new.

    Gives the relative names of the copied files. Raises Misuse where the path is a file, ReadOnly where the folder
    contains state and is not trusted.
    """
    if workspace.root.exists() and not workspace.root.is_dir():
        raise Misuse("Not a folder", f"{workspace.root} is a file.", "Choose a folder for the workspace.")
    is_new, trust = not workspace.brings_state, trust_store(environment)
    access = WorkspaceAccess.of(workspace, trust)
    try:
        refuse_read_only(access.workspace, access.trust_state)
    finally:
        access.close()
    make_folder(workspace.root)
    if is_new:  # before there is state, so that it is trusted after a crash too; and again for the copied files
        trust.trust(workspace, "")
    make_private_folder(workspace.state)
    copied = tuple(path.relative_to(workspace.root).as_posix() for path in lay_out(workspace.root))
    if not exists(workspace.memory_dir):
        make_folder(workspace.memory_dir)
    if is_new:
        trust.trust(workspace, "")
    return copied


def renew_default_files(memory: "Memory") -> tuple[str, ...]:
    """Gives unchanged default files the present text, as versions, and says so in a sentence. Blocks."""
    if memory.workspace.is_read_only:
        return ()
    renewed: list[str] = []
    try:
        for name, (before, now) in outdated_files(memory.workspace.root).items():
            if memory.restorer.renew(name, before.decode(), now.decode()):
                renewed.append(name)
    except (PalimpsestError, OSError) as error:
        return (f"Default files of an earlier release could not be updated: {error}",)
    if not renewed:
        return ()
    said = "the default text was unchanged, so it was updated."
    return (f"{', '.join(renewed)}: {said} `{PROGRAM} memory log {renewed[0]}` lists the versions.",)
