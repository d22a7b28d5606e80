"""Adds a folder to those where the tools of a session read and write."""

from pathlib import Path
from typing import TYPE_CHECKING

from agent.tools.files.concerns import is_secret, is_state
from foundation.errors import Misuse
from foundation.files import resolve_path
from foundation.paths import config_dir, expand_home
from foundation.terminal_text import visible

if TYPE_CHECKING:
    from agent.session import Session


def add_folder(session: "Session", name: str, here: Path) -> Path:
    """Adds the folder for this session, to its tools and to the sandbox of its commands; gives it without links.

    Blocks. Raises Misuse for what is no folder, has the program's state or keys, or holds the home folder.
    """
    folder = resolve_path(here / expand_home(name))
    shown = visible(str(folder))
    if not folder.is_dir():
        raise Misuse("Not a folder", f"{shown} is not a folder.", "/add-dir ../other-project")
    if resolve_path(Path.home()).is_relative_to(folder):
        raise Misuse("Too much", f"{shown} is or contains your home folder.", "Name the folder of a project.")
    own = resolve_path(config_dir(session.config.environment))
    is_own = own.is_relative_to(folder) or folder.is_relative_to(own) or any(map(is_state, folder.parts))
    if is_own or is_secret((*folder.parts, "")):
        raise Misuse("Not allowed", f"{shown} contains keys or Palimpsest's own state.", "Name another folder.")
    session.project.add(folder)
    session.commands.sandbox.add_writable(folder)
    return folder
