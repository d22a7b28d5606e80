"""Walks the named files and folders in order, and skips generated and excluded files.

Links to folders are not followed, so there are no loops, and neither are links that lead out of the named folder: an
untrusted folder adds only what it contains. Skipped files are reported.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

DEEPEST = 100
SKIPPED = frozenset(
    {"node_modules", "__pycache__", "venv", "env", "site-packages", "target", "vendor", "dist", "build"}
)
"""Folders of what programs made or fetched, passed over unless they are named."""

_MADE = frozenset({"target", "vendor", "dist", "build", "env", "venv"})
"""Of those, the ones that could be a person's own: passed over only beside what makes them."""
_BESIDE = (
    "package.json",
    "pyproject.toml",
    "setup.py",
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "CMakeLists.txt",
)
_OWN_LITTER = frozenset({"thumbs.db", "desktop.ini"})


class WalkedFile(Struct, frozen=True):
    """A path of the walk: a file to be read, or one that was skipped, and why."""

    path: str  # real and absolute
    name: str  # as it is listed: of a link, the link's own
    root: str = ""
    why: str = ""  # why it is passed over
    failed: bool = False  # whether that is an error rather than a choice
    linked: bool = False  # it is a link to the file


def is_utf8(name: str) -> bool:
    """Whether a name from the system is valid text. Otherwise it holds bytes that no text column can store."""
    return name.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in name)


def _nameless(path: str, name: str, root: str = "") -> WalkedFile:
    """For a name that is no text, the odd bytes as `\\xe9`."""
    path, name, root = (os.fsencode(part).decode("utf-8", "backslashreplace") for part in (path, name, root))
    return WalkedFile(path, name, root, "its name is not UTF-8: rename it, then add it", failed=True)


def walk(path: Path, keep_out: frozenset[str]) -> Iterator[WalkedFile]:
    """The files of a folder and those below it, or the file itself. `keep_out` are excluded paths."""
    real = os.path.realpath(path)
    if not is_utf8(real) or not is_utf8(path.name):
        yield _nameless(real, path.name or real)
        return
    if not Path(real).is_dir():
        yield _one(real, path.name or real)
        return
    yield from _folder(real, path.absolute().name or Path(real).name or "files", real, keep_out)


def _one(real: str, name: str) -> WalkedFile:
    try:
        mode = Path(real).stat().st_mode
    except OSError as error:
        return WalkedFile(real, name, "", error.strerror or str(error), failed=True)
    if not stat.S_ISREG(mode):
        return WalkedFile(real, name, "", "it is not a regular file", failed=True)
    return WalkedFile(real, name)


def _folder(folder: str, name: str, root: str, keep_out: frozenset[str]) -> Iterator[WalkedFile]:
    if name.count("/") > DEEPEST:
        yield WalkedFile(folder, name, root, f"folders are only read {DEEPEST} levels deep")
        return
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        yield WalkedFile(folder, name, root, f"the folder cannot be opened ({error.strerror})", failed=True)
        return
    has_build_files = any(entry.name in _BESIDE for entry in entries)
    for entry in entries:
        yield from _entry(entry, f"{name}/{entry.name}", root, keep_out, has_build_files)


def _entry(
    entry: os.DirEntry[str], name: str, root: str, keep_out: frozenset[str], has_build_files: bool
) -> Iterator[WalkedFile]:
    if not is_utf8(entry.name):
        yield _nameless(entry.path, name, root)
        return
    try:
        why = _why_not(entry, keep_out, has_build_files) or _leads_out(entry, root, keep_out)
        if why:
            yield WalkedFile(entry.path, name, root, why)
            return
        if entry.is_dir(follow_symlinks=False):
            yield from _folder(entry.path, name, root, keep_out)
            return
        real = os.path.realpath(entry.path)
        if stat.S_ISREG(Path(real).stat().st_mode):
            yield WalkedFile(real, name, root, linked=entry.is_symlink())
        else:
            yield WalkedFile(entry.path, name, root, "it is not a regular file")
    except OSError as error:
        yield WalkedFile(entry.path, name, root, error.strerror or str(error), failed=True)


def _why_not(entry: os.DirEntry[str], keep_out: frozenset[str], has_build_files: bool) -> str:
    if entry.name.startswith("."):
        return "hidden"
    if entry.name.lower() in _OWN_LITTER or entry.name.startswith("~$"):
        return "a system file"
    if entry.path in keep_out:
        return "part of the workspace: already in memory"
    if entry.is_symlink() and entry.is_dir():
        return "a link to a folder: add the folder itself"
    if entry.name in SKIPPED and entry.is_dir() and (has_build_files or entry.name not in _MADE):
        return "generated or downloaded by a program"
    return ""


def _leads_out(entry: os.DirEntry[str], root: str, keep_out: frozenset[str]) -> str:
    if not entry.is_symlink():
        return ""
    real = Path(os.path.realpath(entry.path))
    if not real.is_relative_to(root):
        return "a link that leads out of the folder: add its target itself"
    if not is_utf8(str(real)):
        return "a link to a name that is not UTF-8"
    return "part of the workspace: already in memory" if keep_out & {str(real), *map(str, real.parents)} else ""
