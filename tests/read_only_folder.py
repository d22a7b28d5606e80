"""A folder as it is on a disk that is mounted read-only: nothing in it can be written, by this process neither."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_NOBODY = 65534


@contextmanager
def sealed(folder: Path) -> Generator[Path]:
    """A copy of the folder that may only be read."""
    with tempfile.TemporaryDirectory() as outside:
        copy = Path(outside) / folder.name
        shutil.copytree(folder, copy)
        Path(outside).chmod(0o755)
        with unwritable(copy):
            yield copy


@contextmanager
def unwritable(folder: Path) -> Generator[None]:
    """The folder itself may only be read meanwhile. Root, whom no mode holds back, is somebody else so long."""
    _set_modes(folder, file=0o400, below=0o500)
    root = os.geteuid() == 0
    if root:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY)
        os.seteuid(_NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        _set_modes(folder, file=0o600, below=0o700)


def _set_modes(folder: Path, *, file: int, below: int) -> None:
    folder.chmod(0o700)
    for path in sorted(folder.rglob("*"), reverse=True):
        path.chmod(below if path.is_dir() else file)
    folder.chmod(below)
