"""Snapshots of a project folder: what a change of each file shows in, and the content of each in a store.

A walk compares every file with the snapshot before it, by size, times and inode, and reads only what differs. Folders
whose own times are the same are not listed again. A file or folder that changed an instant ago is looked at again by
the next walk, because a second change within the grain of the clock would not show.
"""

import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from agent.checkpoints.secured_contents import SecuredContents
from foundation.errors import PalimpsestError, TemporaryFailure
from foundation.files import OpenFolder, hard_link, make_private_folder, open_tree, read_bytes
from foundation.gitignore import IgnoreRules, is_ignored
from memory.versions.objects import content_name

MAX_DEPTH: Final = 100
MAX_FILES: Final = 200_000
MAX_TOTAL_BYTES: Final = 4_000_000_000
LINKED: Final = -1
_MAX_RULES_BYTES: Final = 1_000_000
_RULES: Final = ".gitignore"
_GRAIN_NS: Final = 50_000_000
_COARSE_GRAIN_NS: Final = 2_000_000_000  # FAT


class FileCoverage(Struct, frozen=True, kw_only=True):
    """Which files of the project are secured before a command.

    `left_out`, `always` and `is_history` go by the name alone: files and folders that are not looked at, files that are
    secured although .gitignore leaves them out, and folders of version control. `without` are files and folders that
    the program itself writes.
    """

    folders: Callable[[], Sequence[Path]]
    left_out: Callable[[str], bool]
    always: Callable[[str], bool]
    is_history: Callable[[str], bool]
    without: frozenset[Path] = frozenset()
    file_bytes: int = 20_000_000
    ignored: bool = False


class SecuredFile(Struct, frozen=True, array_like=True):
    """A file as it was seen. `version` is the SHA-256 of its content, "" where it is not secured; `offset` and `length`
    say where the content is; a length of LINKED, that a hard link holds the file, so that it can be removed but not
    overwritten without a loss."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    mode: int
    version: str
    offset: int = 0
    length: int = 0

    @property
    def link(self) -> str:
        """The name of the hard link."""
        return f"{self.inode}-{self.size}-{self.mtime_ns}"

    def looks_like(self, other: "SecuredFile") -> bool:
        """Whether nothing shows that one was changed to the other, but for permissions and the time of that."""
        return (self.size, self.mtime_ns, self.inode) == (other.size, other.mtime_ns, other.inode)


class SecuredFolder(Struct, frozen=True, array_like=True):
    """A folder as it was seen; a signature of zeros has it listed again."""

    signature: tuple[int, int, int]
    files: dict[str, SecuredFile]
    folders: tuple[str, ...]


class FolderSnapshot(Struct, frozen=True):
    """The folders by their paths, relative with `/`; the top is "". `contents` is the number of the file of contents
    and `contents_bytes` its size, `ignored` the setting that it was made with."""

    folders: dict[str, SecuredFolder] = {}
    contents: int = 0
    contents_bytes: int = 0
    ignored: bool = False

    def files(self) -> Iterator[SecuredFile]:
        """Every file."""
        return (file for folder in self.folders.values() for file in folder.files.values())


class FileDifference(Struct, frozen=True):
    """A file that differs between two snapshots; None is no file. `made` are the folders above it that are new.
    `may_be_ignored`: it may still be there, and be left out by now."""

    path: str
    before: SecuredFile | None
    after: SecuredFile | None
    made: tuple[str, ...] = ()
    may_be_ignored: bool = False


class SnapshotWalk:
    """One walk over a project folder, from the snapshot `known` to a new one."""

    def __init__(
        self,
        root: Path,
        known: FolderSnapshot,
        contents: SecuredContents,
        coverage: FileCoverage,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._root = root
        self._is_stopped = is_stopped
        self._known = known if known.ignored == coverage.ignored else FolderSnapshot(contents=known.contents)
        self._contents = contents
        self._coverage = coverage
        self._without = {str(path.relative_to(root).as_posix()) for path in coverage.without if root in path.parents}
        self._folders: dict[str, SecuredFolder] = {}
        self._count = self._bytes = 0
        self.unsecured: list[str] = []
        """Paths that the snapshot has without their content, or not at all."""

    def run(self) -> FolderSnapshot:
        """The snapshot; `known` itself where nothing differs. Raises UnsafePath, OSError, TemporaryFailure."""
        with open_tree(self._root) as top:
            self._walk(top, "", (), anew=False)
        known = self._known.folders
        is_same = len(known) == len(self._folders) and all(known.get(p) is f for p, f in self._folders.items())
        return (
            self._known
            if is_same and known
            else FolderSnapshot(self._folders, self._known.contents, ignored=self._coverage.ignored)
        )

    def _walk(self, folder: OpenFolder, path: str, stack: tuple[tuple[int, IgnoreRules], ...], *, anew: bool) -> None:
        if self._is_stopped():
            raise TemporaryFailure("Stopped", "Securing the project's files was stopped.")
        known = self._known.folders.get(path)
        signature = _folder_signature(folder)
        seen = known if known and not anew and known.signature == signature and any(signature) else None
        if seen is not None:
            statuses = folder.statuses(seen.files)
            differing = [
                name
                for (name, file), found in zip(seen.files.items(), statuses, strict=True)
                if found is None
                or found.st_mtime_ns != file.mtime_ns
                or found.st_ctime_ns != file.ctime_ns
                or found.st_size != file.size
                or found.st_ino != file.inode
                or not (file.version or file.length == LINKED)
            ]
            if differing:
                seen = None if _RULES in differing else self._with_changes(folder, path, seen, differing)
        if seen is None:
            seen, anew = self._listed(folder, path, signature, stack, anew=anew)
        self._folders[path] = seen
        self._count += len(seen.files)
        if seen.folders:
            if not self._coverage.ignored and _RULES in seen.files:
                stack = (*stack, *self._rules(path))
            for name in seen.folders:
                below = f"{path}/{name}" if path else name
                try:
                    opened = folder.below(name)
                except (OSError, PalimpsestError):  # removed, swapped for a link, or closed to this user
                    self.unsecured.append(below)
                    continue
                is_history = self._coverage.is_history(name)
                try:
                    self._walk(opened, below, () if is_history else stack, anew=anew and not is_history)
                finally:
                    opened.close()

    def _with_changes(self, folder: OpenFolder, path: str, known: SecuredFolder, names: Sequence[str]) -> SecuredFolder:
        files = dict(known.files)
        for name in names:
            if (file := self._secured(folder, path, name, files.pop(name))) is not None:
                files[name] = file
        return SecuredFolder(known.signature, files, known.folders) if files != known.files else known

    def _listed(
        self,
        folder: OpenFolder,
        path: str,
        signature: tuple[int, int, int],
        stack: tuple[tuple[int, IgnoreRules], ...],
        *,
        anew: bool,
    ) -> tuple[SecuredFolder, bool]:
        """The folder as it is listed now, and whether those below it are to be listed too: the rules are others."""
        known = self._known.folders.get(path)
        before = known.files if known else {}
        entries = dict(folder.entries())
        rules = self._secured(folder, path, _RULES, before.get(_RULES)) if entries.get(_RULES) == "file" else None
        anew = anew or rules != before.get(_RULES)
        if rules is not None and not self._coverage.ignored:
            stack = (*stack, *self._rules(path))
        files = {} if rules is None else {_RULES: rules}
        folders: list[str] = []
        parts = tuple(path.split("/")) if path else ()
        for name, kind in entries.items():
            if kind not in {"file", "folder"} or name in files or self._coverage.left_out(name):
                continue
            below = f"{path}/{name}" if path else name
            if below in self._without:
                continue
            if any("\ud800" <= letter <= "\udfff" for letter in name):
                self.unsecured.append(below)
                continue
            is_left_out = (
                stack
                and not self._coverage.is_history(name)
                and is_ignored(stack, (*parts, name), folder=kind == "folder")
            )
            if is_left_out and (kind == "folder" or not self._coverage.always(name)):
                continue
            if kind == "folder":
                if len(parts) < MAX_DEPTH:
                    folders.append(name)
                else:
                    self.unsecured.append(below)
            elif (file := self._secured(folder, path, name, before.get(name))) is not None:
                files[name] = file
        return SecuredFolder(signature, files, tuple(folders)), anew

    def _secured(self, folder: OpenFolder, path: str, name: str, known: SecuredFile | None) -> SecuredFile | None:
        """The file with its content stored; None where there is no file."""
        (found,) = folder.statuses((name,))
        if found is None:
            return None
        seen = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        if (
            known
            and (known.version or known.length == LINKED)
            and seen == (known.size, known.mtime_ns, known.ctime_ns, known.inode)
        ):
            return known
        version, at = "", (0, 0)
        self._bytes += found.st_size
        is_room = self._bytes <= MAX_TOTAL_BYTES and self._count < MAX_FILES
        body = None
        with suppress(PalimpsestError, OSError):
            body = folder.read(name, self._coverage.file_bytes) if is_room else None
        if body is None:
            self.unsecured.append(f"{path}/{name}" if path else name)
        else:
            at, version = self._contents.add(body), content_name(body)
        mode = found.st_mode & 0o7777
        ctime_ns = 0 if _is_recent(found.st_mtime_ns, found.st_ctime_ns) else found.st_ctime_ns
        file = SecuredFile(found.st_size, found.st_mtime_ns, ctime_ns, found.st_ino, mode, version, *at)
        if body is None and found.st_size > self._coverage.file_bytes:
            with suppress(PalimpsestError, OSError):
                make_private_folder(self._contents.links)
                with suppress(FileExistsError):
                    hard_link(self._root / path / name, self._contents.links / file.link)
                ctimes = (each.st_ctime_ns for each in folder.statuses((name,)) if each)
                file = structs.replace(file, ctime_ns=next(ctimes, 0), length=LINKED)
        return file

    def _rules(self, path: str) -> Iterator[tuple[int, IgnoreRules]]:
        with suppress(PalimpsestError, OSError, UnicodeDecodeError):
            text = read_bytes(self._root / path / _RULES, most=_MAX_RULES_BYTES).decode("utf-8-sig")
            yield len(path.split("/")) if path else 0, IgnoreRules.parse(text)


def differences(
    before: FolderSnapshot, after: FolderSnapshot, is_history: Callable[[str], bool]
) -> Iterator[FileDifference]:
    """The files whose content, permission bits or presence differ, by folder.

    What only became ignored or is no longer ignored, and a name of which only the case changed, is no difference. Of a
    repository, which version control changes all the time, only what is gone counts, and only where it is destroyed.
    """
    rules = {path for path, folder in before.folders.items() if _rules_differ(folder, after.folders.get(path))}
    for path in dict.fromkeys((*before.folders, *after.folders)):
        old, new = before.folders.get(path), after.folders.get(path)
        if old is new:
            continue
        files, now = old.files if old else {}, new.files if new else {}
        parts = path.split("/") if path else []
        top = next(("/".join(parts[: at + 1]) for at, part in enumerate(parts) if is_history(part)), "")
        if top and not _is_destroyed(before, after, top):
            continue
        above = ["/".join(parts[:count]) for count in range(len(parts) + 1)]
        made = tuple(folder for folder in above if folder and folder not in before.folders)
        is_judged_anew = not rules.isdisjoint(above)
        renamed = {_folded(name): file.version for name, file in files.items() if name not in now}
        for name in dict.fromkeys((*files, *now)):
            was, file = files.get(name), now.get(name)
            if top and file:
                continue
            if was == file or (was and file and was.version and (was.version, was.mode) == (file.version, file.mode)):
                continue
            if was is None and file and (is_judged_anew or renamed.get(_folded(name)) == file.version):
                continue
            yield FileDifference(f"{path}/{name}" if path else name, was, file, made, may_be_ignored=is_judged_anew)


def _is_destroyed(before: FolderSnapshot, after: FolderSnapshot, top: str) -> bool:
    """Whether the repository in the folder `top` is none any more, or without all of its objects."""
    old, new = before.folders.get(top), after.folders.get(top)
    if old is None or new is None:
        return old is not None
    objects = f"{top}/objects"
    if "HEAD" not in old.files or objects not in before.folders:
        return False
    has_objects = any(folder.files for path, folder in after.folders.items() if path.startswith(objects))
    return "HEAD" not in new.files or "refs" not in new.folders or not has_objects


def _rules_differ(before: SecuredFolder, after: SecuredFolder | None) -> bool:
    return after is not None and before.files.get(_RULES) != after.files.get(_RULES)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _folder_signature(folder: OpenFolder) -> tuple[int, int, int]:
    found = folder.status()
    is_recent = _is_recent(found.st_mtime_ns, found.st_ctime_ns)
    return (0, 0, 0) if is_recent else (found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _is_recent(mtime_ns: int, ctime_ns: int) -> bool:
    newest = max(mtime_ns, ctime_ns)
    grain = _GRAIN_NS if newest % 1_000_000 else _COARSE_GRAIN_NS
    return time.time_ns() - newest < grain
