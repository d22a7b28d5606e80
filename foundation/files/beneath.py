"""Resolves a path beneath root folders, by folder descriptors.

Each component is looked up in the open folder above it. A link is read and its target resolved the same way; it may
lead to any of the roots, and nowhere else. Nothing outside the roots is looked at. The result has no link and no `..`:
the other functions of foundation.files open it and refuse a link that has appeared in it meanwhile.

Windows has no folder descriptors: there the path is resolved as a whole and must lie in a root.
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from foundation.files.folders import WINDOWS, open_folder
from foundation.files.refusals import UnsafePath, is_link, not_plain, not_regular
from foundation.files.resolve import resolve_path

MOST_LINKS: Final = 40  # as Linux
LONGEST: Final = 4096  # characters
DEEPEST: Final = 256  # folders
_STEP: Final = (
    getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_PATH", getattr(os, "O_SEARCH", 0))
)
_SYSTEM_FOLDERS: Final = ("/proc", "/sys", "/dev")


class BeneathPath(NamedTuple):
    """A resolved path: `parts` below `root`. `status` is its lstat, None where nothing is there."""

    root: Path
    parts: tuple[str, ...]
    status: os.stat_result | None

    @property
    def path(self) -> Path:
        return self.root.joinpath(*self.parts)


Check = Callable[[str], None]  # called with each name below a root, before it is looked up; raises to refuse it


def resolve_beneath(roots: Sequence[Path], name: str, check: Check = lambda _: None) -> BeneathPath:
    """The path that `name` leads to, relative to the first root unless it is absolute. It need not exist.

    `roots` have no links. Raises UnsafePath for a path that leads out of them, a circle of links, a malformed name, or
    a file system of the kernel; OSError where a component cannot be looked up.
    """
    _refuse_malformed(name)
    if WINDOWS:
        return _resolve_whole(roots, name, check)
    with _Descent(roots, name, check) as descent:
        return descent.resolve()


class _Descent:
    """The folders that are open on the way to a path."""

    def __init__(self, roots: Sequence[Path], name: str, check: Check) -> None:
        self._roots = roots
        self._name = name
        self._check = check
        self._pending: deque[str] = deque()
        self._root = roots[0]
        self._parts: list[str] = []
        self._handles: list[int] = []  # of the root and the folders of `_parts` that exist

    def __enter__(self) -> "_Descent":
        return self

    def __exit__(self, *_: object) -> None:
        self._close(0)

    def resolve(self) -> BeneathPath:
        if self._name.startswith("/"):
            self._enter(self._name.split("/"))
        else:
            self._begin(self._roots[0])
            self._pending.extend(self._name.split("/"))
        status, links = self._status(), 0
        while self._pending:
            component = self._pending.popleft()
            if component in {"", "."}:
                continue
            if component == "..":
                self._up()
                status = self._status()
                continue
            self._check(component)
            status = self._look_up(component)
            if status is not None and is_link(status):
                links += 1
                if links > MOST_LINKS:
                    raise _circle(self._name)
                self._follow(component)
                status = self._status()
                continue
            if status is not None and not stat.S_ISDIR(status.st_mode) and any(self._pending):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), self._name)
        return BeneathPath(self._root, tuple(self._parts), status)

    def _begin(self, root: Path) -> None:
        self._close(0)
        self._root, self._parts = root, []
        with suppress(FileNotFoundError):  # a root that is missing is empty
            self._handles.append(open_folder(root))

    def _close(self, keep: int) -> None:
        while len(self._handles) > keep:
            os.close(self._handles.pop())

    def _status(self) -> os.stat_result | None:
        """Of the folder where the descent is; None where it does not exist."""
        return os.fstat(self._handles[-1]) if len(self._handles) > len(self._parts) else None

    def _up(self) -> None:
        if not self._parts:  # above a root only names are compared, until they lead into a root again
            self._enter([*self._root.parent.parts, *self._pending])
            return
        self._parts.pop()
        self._close(len(self._parts) + 1)

    def _enter(self, components: Sequence[str]) -> None:
        """Goes to the root that the absolute path leads through."""
        at: list[str] = ["/"]
        for number, component in enumerate(components):
            if component == "..":
                at = at[:-1] or ["/"]
            elif component not in {"", ".", "/"}:
                at.append(component)
            if (root := next((root for root in self._roots if list(root.parts) == at), None)) is not None:
                rest = components[number + 1 :]
                self._begin(root)
                self._pending = deque(rest)
                return
        raise outside(self._name, self._roots)

    def _look_up(self, component: str) -> os.stat_result | None:
        """The lstat of the component, whose folder, if it is one, is opened."""
        if len(self._handles) <= len(self._parts):  # below what does not exist
            self._parts.append(component)
            return None
        above = self._handles[-1]
        try:
            status = os.stat(component, dir_fd=above, follow_symlinks=False)
        except FileNotFoundError:
            self._parts.append(component)
            return None
        if is_link(status):
            return status
        if status.st_dev in _system_devices():
            raise not_regular(Path(self._name))
        self._parts.append(_name_on_disk(component, status, above))
        if stat.S_ISDIR(status.st_mode):
            self._handles.append(os.open(component, _STEP, dir_fd=above))
        return status

    def _follow(self, component: str) -> None:
        target = os.readlink(component, dir_fd=self._handles[-1])
        if target.startswith("/"):
            self._enter([*target.split("/"), *self._pending])
        else:
            self._pending.extendleft(reversed(target.split("/")))


def _name_on_disk(component: str, status: os.stat_result, folder: int) -> str:
    """The name as the folder has it: some file systems know one name in any case, or in several Unicode forms."""
    other = component.swapcase()
    if other == component and component.isascii():
        return component
    try:
        twin = os.stat(other, dir_fd=folder, follow_symlinks=False)
    except (OSError, ValueError):
        return component
    if (twin.st_dev, twin.st_ino) != (status.st_dev, status.st_ino):
        return component
    return stored_name(component, list_open_folder(folder), lambda name: _inode(name, folder) == status.st_ino)


def stored_name(component: str, names: Sequence[str], is_same: Callable[[str], bool]) -> str:
    """Of the names in a folder that knows names in any case, the one that `component` means."""
    if component in names:
        return component
    same = (name for name in sorted(names) if name.casefold() == component.casefold() and is_same(name))
    return next(same, None) or next((name for name in sorted(names) if is_same(name)), component)


def list_open_folder(folder: int) -> list[str]:
    """The names in the folder of a descriptor that may be good for nothing but looking up."""
    handle = os.open(".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0), dir_fd=folder)
    try:
        return os.listdir(handle)  # noqa: PTH208 - of a descriptor
    finally:
        os.close(handle)


def _inode(name: str, folder: int) -> int:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino
    except OSError:
        return -1


@cache
def _system_devices() -> frozenset[int]:
    """The file systems of the kernel: reading a file there may block, or act."""
    found: set[int] = set()
    for folder in _SYSTEM_FOLDERS:
        try:
            found.add(os.lstat(folder).st_dev)
        except OSError:
            continue
    return frozenset(found - {os.lstat("/").st_dev})


def _resolve_whole(roots: Sequence[Path], name: str, check: Check) -> BeneathPath:
    path = resolve_path(roots[0] / PurePath(name))
    for root in roots:
        if path.is_relative_to(root):
            parts = path.relative_to(root).parts
            for part in parts:
                check(part)
            try:
                status = os.lstat(path)
            except FileNotFoundError:
                status = None
            return BeneathPath(root, parts, status)
    raise outside(name, roots)


def _refuse_malformed(name: str) -> None:
    if len(name) > LONGEST or name.count("/") > DEEPEST:
        raise not_plain(f"{name[:80]}…", "is too long or too deep")
    if "\0" in name:
        raise not_plain(name, "contains a NUL character")
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        raise not_plain(name, "is not Unicode text")
    if WINDOWS and any(":" in part for part in PurePath(name).parts[1:]):
        raise not_plain(name, "names an alternate data stream")


def outside(name: str, roots: Sequence[Path]) -> UnsafePath:
    """The path leads out of the roots."""
    where = ", ".join(map(str, roots))
    return UnsafePath(name, f"{name} leads out of {where}.", "Use a path inside it.", reason="outside")


def _circle(name: str) -> UnsafePath:
    return UnsafePath(name, f"{name} is a loop of links.", "Remove the links.", reason="circle")
