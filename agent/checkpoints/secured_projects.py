"""Secures the files of project folders before a command, and finds what it changed in them.

Each project folder has a folder of its own here: numbered snapshots, the newest of which is what is known, and the
contents that they refer to. It is a cache: a backup leaves it out, and it is made again where it is gone.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import structs

from agent.checkpoints.change import ChangedFile
from agent.checkpoints.secured_contents import SecuredContents
from agent.checkpoints.snapshot import (
    LINKED,
    FileCoverage,
    FileDifference,
    FolderSnapshot,
    SecuredFile,
    SnapshotWalk,
    differences,
)
from foundation.errors import PalimpsestError
from foundation.files import (
    FileLock,
    is_file,
    list_files,
    list_folders,
    make_private_folder,
    read_bytes,
    remove,
    remove_tree,
    status,
    write_atomically,
)
from foundation.files.folders import WINDOWS
from memory.versions.objects import MOST_BYTES, Objects, content_name

SECURED: Final = "secured"
"""The folder of the secured files, in that of the checkpoints."""
LOCK_TIMEOUT_S: Final = 600.0
_LINKS: Final = "links"
_MAX_SNAPSHOT_BYTES: Final = 200_000_000
_UNNEEDED_BYTES: Final = 50_000_000  # that the file of contents may hold besides as much as is needed

Snapshots = Mapping[str, int]
"""Project folders, and the numbers of their snapshots."""


class SecuredProjects:
    """The secured files of the session's project folders. Safe for calls from several threads and processes."""

    def __init__(self, folder: Path, coverage: FileCoverage) -> None:
        self.coverage = coverage
        self.folder = folder
        self.unsecured: dict[Path, int] = {}
        """Files that could not be secured, with their sizes, as of the last walk."""
        self.lost: list[Path] = []
        """Files without a secured content that a command changed or removed, as of the last `changes`."""
        self._loaded: dict[Path, tuple[tuple[int, int, int], FolderSnapshot]] = {}

    def secure(
        self, needed: Callable[[str], set[int]], is_stopped: Callable[[], bool] = lambda: False
    ) -> dict[str, int]:
        """Takes a snapshot of each project folder. `needed` gives the numbers that commands under way still need of
        one. Raises PalimpsestError, OSError where the files cannot be secured, TemporaryFailure where it is stopped."""
        unsecured: dict[Path, int] = {}
        snapshots = {
            str(root): self._take(root, needed(str(root)), unsecured, is_stopped) for root in self.coverage.folders()
        }
        self.unsecured = unsecured
        return snapshots

    def changes(self, before: Snapshots, after: Snapshots, blobs: Objects) -> list[ChangedFile]:
        """What changed between the snapshots, each with both contents in `blobs`. Raises PalimpsestError, OSError."""
        self.lost = []
        found: list[ChangedFile] = []
        for root, number in before.items():
            place = Path(root)
            old, new = self._load(place, number), self._load(place, after.get(root, 0))
            if old and new:
                files = (
                    self._changed(place, old, new, each, blobs)
                    for each in differences(old, new, self.coverage.is_history)
                )
                found += filter(None, files)
        blobs.sync(name for file in found for name in (file.before, file.after) if name)
        return found

    def has(self, place: Path, snapshots: Snapshots) -> bool:
        """Whether the file is secured in one of the snapshots."""
        for root, number in snapshots.items():
            if place.is_relative_to(root) and (found := self._load(Path(root), number)):
                path, _, name = place.relative_to(root).as_posix().rpartition("/")
                folder = found.folders.get(path)
                file = folder.files.get(name) if folder else None
                return file is not None and bool(file.version)
        return False

    def _take(self, root: Path, needed: set[int], unsecured: dict[Path, int], is_stopped: Callable[[], bool]) -> int:
        folder = self._folder_of(root)
        make_private_folder(self.folder)
        make_private_folder(folder)
        with FileLock(folder / "lock", timeout=LOCK_TIMEOUT_S):
            numbers = [int(file.stem) for file in list_files(folder, "[0-9]*.snapshot")]
            number = max(numbers, default=0)
            known = self._load(root, number) or FolderSnapshot(contents=number + 1)
            contents = SecuredContents(folder / f"{known.contents}.contents")
            walk = SnapshotWalk(root, known, contents, self.coverage, is_stopped)
            with contents.writing():
                snapshot = walk.run()
            if snapshot is not known:
                snapshot = structs.replace(snapshot, contents_bytes=contents.size)
            for path in walk.unsecured:
                found = status(root / path)
                unsecured[root / path] = found.st_size if found else 0
            if snapshot is known and number in numbers:
                return number
            others = needed & set(numbers)
            if not others:
                snapshot = _without_unneeded(folder, snapshot, contents, number + 1)
            place = folder / f"{number + 1}.snapshot"
            write_atomically(place, msgspec.msgpack.encode(snapshot))
            self._loaded[place] = _signature(place), snapshot
            stale = {f"{each}.snapshot" for each in numbers} - {f"{each}.snapshot" for each in others}
            if not others:
                stale |= {file.name for file in list_files(folder, "*.contents")} - {f"{snapshot.contents}.contents"}
                links = {file.link for file in snapshot.files() if file.length == LINKED}
                stale |= {f"{_LINKS}/{file.name}" for file in list_files(folder / _LINKS) if file.name not in links}
            for name in stale:
                remove(folder / name, missing_ok=True)
                self._loaded.pop(folder / name, None)
            return number + 1

    def _load(self, root: Path, number: int) -> FolderSnapshot | None:
        """The snapshot of that number; None where it, or what it refers to, is not there as it was written."""
        place = self._folder_of(root) / f"{number}.snapshot"
        with suppress(PalimpsestError, OSError, msgspec.DecodeError):
            signature, (of, snapshot) = _signature(place), self._loaded.get(place, (None, FolderSnapshot()))
            if of != signature:
                body = read_bytes(place, most=_MAX_SNAPSHOT_BYTES, owned=True)
                snapshot = msgspec.msgpack.decode(body, type=FolderSnapshot)
                self._loaded[place] = signature, snapshot
            if SecuredContents(place.with_name(f"{snapshot.contents}.contents")).size >= snapshot.contents_bytes:
                return snapshot
        return None

    def _changed(
        self, root: Path, old: FolderSnapshot, new: FolderSnapshot, difference: FileDifference, blobs: Objects
    ) -> ChangedFile | None:
        before, after, place = difference.before, difference.after, root / difference.path
        is_left_out = difference.may_be_ignored and after is None and is_file(place)
        if is_left_out and before and _holds(place, before.version):
            return None
        if before is None and (after is None or not after.version):
            return None
        if before and after and not before.version and before.looks_like(after):
            return None
        try:
            first = self._stored(root, old, before, blobs) if before else ""
            last = self._stored(root, new, after, blobs) if after else ""
        except (PalimpsestError, OSError):
            first = last = ""
        if is_left_out or (after and not last):
            last = _stored_now(place, before, after, first, blobs)
        if before and not first:
            self.lost.append(place)
        elif first != last or (before and after and before.mode != after.mode):
            return ChangedFile(
                folder=str(root),
                path=difference.path,
                before=first,
                after=last,
                mode_before=before.mode if before and not WINDOWS else None,
                mode_after=after.mode if after and not WINDOWS else None,
                folders=() if before else difference.made,
            )
        return None

    def _stored(self, root: Path, snapshot: FolderSnapshot, file: SecuredFile, blobs: Objects) -> str:
        """Puts the secured content into the blobs; gives its name, "" where it is not secured."""
        if file.length == LINKED:
            link = self._folder_of(root) / _LINKS / file.link
            found = status(link)
            is_same = found is not None and (found.st_size, found.st_mtime_ns) == (file.size, file.mtime_ns)
            return blobs.put(read_bytes(link, most=MOST_BYTES), sync=False) if is_same else ""
        if file.version and not blobs.has(file.version):
            contents = SecuredContents(self._folder_of(root) / f"{snapshot.contents}.contents")
            blobs.put(contents.get(file.version, file.offset, file.length), sync=False)
        return file.version

    def _folder_of(self, root: Path) -> Path:
        return self.folder / content_name(str(root).encode())[:16]


def remove_unused(folder: Path, before_ns: int) -> None:
    """Removes what was secured of projects in which no command changed anything since."""
    for project in list_folders(folder):
        found = [status(file) for file in list_files(project)]
        if max((each.st_mtime_ns for each in found if each), default=0) < before_ns:
            remove_tree(project)


def _holds(place: Path, version: str) -> bool:
    with suppress(PalimpsestError, OSError):
        return content_name(read_bytes(place, most=MOST_BYTES)) == version
    return False


def _stored_now(place: Path, before: SecuredFile | None, after: SecuredFile | None, first: str, blobs: Objects) -> str:
    """The content of a file that the snapshot could not secure, in the blobs; "" where it cannot be read."""
    if before and after and after.looks_like(before):
        return first
    with suppress(PalimpsestError, OSError):
        return blobs.put(read_bytes(place, most=MOST_BYTES), sync=False)
    return ""


def _without_unneeded(folder: Path, snapshot: FolderSnapshot, contents: SecuredContents, number: int) -> FolderSnapshot:
    """The snapshot with its contents in another file, where most of what theirs holds is not needed any more."""
    if contents.size <= 2 * sum(file.length for file in snapshot.files()) + _UNNEEDED_BYTES:
        return snapshot
    compact = SecuredContents(folder / f"{number}.contents")

    def moved(file: SecuredFile) -> SecuredFile:
        if not file.version:
            return file
        offset, length = compact.add_frame(contents.frame(file.offset, file.length))
        return structs.replace(file, offset=offset, length=length)

    with compact.writing():
        folders = {
            path: structs.replace(each, files={name: moved(file) for name, file in each.files.items()})
            for path, each in snapshot.folders.items()
        }
    return structs.replace(snapshot, folders=folders, contents=number, contents_bytes=compact.size)


def _signature(place: Path) -> tuple[int, int, int]:
    found = status(place)
    return (found.st_size, found.st_mtime_ns, found.st_ino) if found else (0, 0, 0)
