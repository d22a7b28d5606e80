"""Keeps texts that no file of the project holds: beside the checkpoints, under the file's own path."""

from itertools import count
from pathlib import Path

from agent.checkpoints.change import ChangedFile, file_path
from foundation.files import child, exists, make_private_folder, read_bytes, write_atomically


def keep_beside(folder: Path, checkpoint: str, file: ChangedFile, body: bytes) -> Path:
    """Writes the bytes to `conflicts/<checkpoint>/<path>` below `folder` and gives that path.

    Where another text is there, the folder is `<checkpoint>-2`, and so on. The copies go with the checkpoint (see
    retention), so `checkpoint` must begin with the id of one of the conversation's.
    """
    for number in count(1):
        place = file_path(
            child(folder / "conflicts", f"{checkpoint}-{number}" if number > 1 else checkpoint), file.path
        )
        try:
            make_private_folder(place.parent)
            if exists(place):
                if read_bytes(place) == body:
                    return place
                continue
        except (FileExistsError, NotADirectoryError, IsADirectoryError):  # a file and a folder of the same name
            continue
        write_atomically(place, body)
        return place
    raise AssertionError("the numbers have no end")
