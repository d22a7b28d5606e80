"""What a person's file was before we wrote to it: whole copies under `.palimpsest/versions/<path>/`."""

import errno
import hashlib
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from foundation.files import (
    exists,
    make_private_file,
    make_private_folder,
    remove,
    replace,
    write_atomically,
)

_STAMP: Final = "%Y%m%dT%H%M%S.%fZ"  # of a version's name


class Versions:
    """Keeps copies. Names sort by time and hold no character that any filesystem refuses."""

    def __init__(self, folder: Path, is_forgotten: Callable[[bytes], bool] = lambda _: False) -> None:
        """`is_forgotten`: whether a text holds what was forgotten since it was read; no copy of it is kept."""
        self._folder = folder
        self._is_forgotten = is_forgotten

    def keep(self, path: str, body: bytes, moment: datetime) -> Path:
        """A copy of these bytes of the file at `path` (relative); one that is there already is not written again."""
        place = self._place(path, body, moment)
        if not exists(place) and not self._is_forgotten(body):
            write_atomically(place, body)
        return place

    def take(self, path: str, file: Path, body: bytes, moment: datetime) -> Path:
        """Moves `file`, which holds `body`, to where `keep` would have put a copy.

        It stays the same file: what an editor that had it open still writes lands here, and can be found.
        """
        place = self._place(path, body, moment)
        try:
            replace(file, place)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            write_atomically(place, body)
            remove(file)
        with suppress(OSError):
            make_private_file(place)
        return place

    def _place(self, path: str, body: bytes, moment: datetime) -> Path:
        folder = self._folder / _flat(path)
        make_private_folder(self._folder)
        make_private_folder(folder)
        stamp = moment.strftime("%Y%m%dT%H%M%S.%f")[:-3] + "Z"
        return folder / f"{stamp}-{hashlib.sha256(body).hexdigest()[:12]}{Path(path).suffix}"


def _flat(path: str) -> str:
    return path.replace("/", "__")
