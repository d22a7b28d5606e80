"""Keeps texts that no file of the project holds: beside the checkpoints, under the file's own path."""

from pathlib import Path

from agent.checkpoints.change import ChangedFile, file_path
from foundation.files import child, make_private_folder, write_atomically


def keep_beside(folder: Path, checkpoint: str, file: ChangedFile, body: bytes) -> Path:
    """Writes the bytes to `conflicts/<checkpoint>/<path>` below `folder` and gives that path."""
    place = file_path(child(folder / "conflicts", checkpoint), file.path)
    make_private_folder(place.parent)
    write_atomically(place, body)
    return place
