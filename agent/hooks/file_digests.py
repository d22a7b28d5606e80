"""Digests of what hooks may run: a file, a folder, or all files of a project."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from foundation.files import read_bytes, resolve_path
from foundation.paths import Workspace

WHOLE: Final = "./"
"""At the end of the name of a folder: all of its files."""
TOO_MANY: Final = "too many files"
"""In place of a digest; counts as changed."""
_MAX_BYTES: Final = 4_000_000  # of a file whose content is read
_MAX_READ: Final = 2_000  # files of a folder
_MAX_FILES: Final = 200_000
_ONLY_BELOW: Final = {".git": ("config", "hooks", "info"), ".palimpsest": ("config.yaml", "hooks")}
"""What may run of folders that programs write all the time, by the beginnings of the names."""


def watched_digest(root: Path, name: str) -> str:
    """Returns the digest of `name` below the root; "" for a file or folder that is missing.

    Of a file, and of those of a folder, the content counts; of all files of a project, what shows that they changed.
    """
    path = root / name
    if not path.is_dir():
        return _content(path)
    is_whole = name.endswith(WHOLE)
    whole, count = hashlib.sha256(), 0
    for count, (shown, found, file) in enumerate(_files(path, is_project=is_whole), 1):
        if count > _MAX_FILES:
            return TOO_MANY
        text = "" if is_whole or count > _MAX_READ or found.st_size > _MAX_BYTES else _content(file)
        facts = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino) if not text else (text,)
        whole.update("\0".join(map(str, (shown, found.st_mode, *facts, "\n"))).encode("utf-8", "surrogateescape"))
    return whole.hexdigest() if count else ""


def _files(root: Path, *, is_project: bool) -> Iterator[tuple[str, os.stat_result, Path]]:
    """Every file at or below the folder, also behind links, by name."""
    own = {"conversations", "memory", "MEMORY.md"} if is_project and Workspace(root).is_workspace else set[str]()
    waiting, walked = [(root, "")], set[tuple[int, int]]()
    while waiting:
        folder, shown = waiting.pop()
        entries = list[os.DirEntry[str]]()
        with suppress(OSError):
            place = folder.stat()
            if (place.st_dev, place.st_ino) in walked and place.st_ino:
                continue
            walked.add((place.st_dev, place.st_ino))
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        only = _ONLY_BELOW.get(folder.name)
        for entry in entries:
            if only and not entry.name.startswith(only):
                continue
            with suppress(OSError):
                if entry.is_symlink():
                    yield f"{shown}{entry.name}@", entry.stat(follow_symlinks=False), Path(entry.path)
                found = entry.stat()
                if stat.S_ISDIR(found.st_mode):
                    waiting.append((Path(entry.path), f"{shown}{entry.name}/"))
                elif not (shown + entry.name).startswith(tuple(own)) or not entry.name.endswith(".md"):
                    yield shown + entry.name, found, Path(entry.path)


def _content(path: Path) -> str:
    """Of what the file holds to which the path leads now. "" where there is none."""
    try:
        return hashlib.sha256(read_bytes(resolve_path(path), most=_MAX_BYTES)).hexdigest()
    except OSError:
        return ""
