"""Notices what a command changed in files, so that undo takes it back, whatever the command was.

The files of the project are secured before (agent.checkpoints.secured_projects). Files that tools changed before and
that are not among them, such as ignored ones, are stored as versions. While a command runs, `commands/<id>.json` names
the snapshots and the versions before it, and its process holds `commands/<id>.lock`: they are kept when checkpoints are
removed, and where the process is killed, the next one finds out what the command changed.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, structs

from agent.checkpoints.change import ChangedFile, CheckpointRecord, is_below
from agent.checkpoints.journal import Begun, Ended, Journal
from agent.checkpoints.secured_projects import SECURED, SecuredProjects
from agent.checkpoints.snapshot import FileCoverage
from foundation.errors import PalimpsestError
from foundation.files import (
    FileLock,
    LockTimeout,
    list_files,
    make_private_folder,
    read_bytes,
    remove,
    status,
    write_atomically,
)
from foundation.files.conditional import permission_bits
from foundation.sizes import format_size
from foundation.typed_json import decode_json
from memory.versions.objects import Objects

MOST_FILES: Final = 500
MOST_FILE_BYTES: Final = 20_000_000
_MOST_STORED_BYTES: Final = 10_000_000
_MOST_NAMES: Final = 5
_WHY_UNSECURED: Final = "they are too large (tools.checkpoint_mb), too many or not readable."


class TrackedFile(Struct, frozen=True):
    """A file before a command: the version that is kept, and what a change of it shows in."""

    folder: str
    path: str
    version: str
    mode: int | None
    signature: tuple[int, int, int] | None

    @property
    def place(self) -> Path:
        return Path(self.folder, self.path)


class StoredCommand(Struct, frozen=True):
    """A command under way, as its file holds it. `until`: when it ends at the latest, in milliseconds since 1970."""

    record: CheckpointRecord
    files: tuple[TrackedFile, ...]
    until: int
    snapshots: dict[str, int] = {}


class UnfinishedCommand(Struct, frozen=True):
    """A command of this process, whose lock is held."""

    stored: StoredCommand
    lock: FileLock


class UnfinishedCommands:
    """The commands under way, of every process. Methods are called with the lock of the checkpoints held."""

    def __init__(self, folder: Path, blobs: Objects, coverage: FileCoverage | None = None) -> None:
        self.blobs = blobs
        self.secured = SecuredProjects(folder.with_name(SECURED), coverage) if coverage else None
        self._folder = folder
        self._named: set[Path] = set()

    def stored(self) -> list[Path]:
        """The files of the commands; needs no lock."""
        return list_files(self._folder, "ck_*.json")

    @property
    def covers(self) -> bool:
        """Whether the files of any project folder are secured."""
        return self.secured is not None and bool(self.secured.coverage.folders())

    def secure(self, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, int]:
        """Secures the project's files; gives the numbers of their snapshots. Needs no lock. Raises OSError, NotChanged
        and other PalimpsestErrors."""
        return self.secured.secure(self._needed, is_stopped) if self.secured else {}

    def unsecured_sentence(self) -> str:
        """Names files that could not be secured and that no sentence named yet; "" for none."""
        unsecured = self.secured.unsecured if self.secured else {}
        new = [path for path in unsecured if path not in self._named]
        self._named.update(new)
        sizes = [f"{path.name} ({format_size(unsecured[path])})" for path in new]
        return f"/undo cannot restore what commands overwrite in {_names(sizes)}: {_WHY_UNSECURED}" if new else ""

    def lost_sentence(self) -> str:
        """Names files that the last command changed or removed and that were not secured; "" for none."""
        lost = [str(path) for path in self.secured.lost] if self.secured else []
        return f"A command changed or removed files that /undo does not cover: {_names(lost)}." if lost else ""

    def begin(
        self, record: CheckpointRecord, edits: Iterable[CheckpointRecord], snapshots: dict[str, int], seconds: float
    ) -> UnfinishedCommand | None:
        """Stores what the files are before the command, which runs for `seconds` at most; None where no file is known.
        Raises OSError."""
        secured = self.secured
        files = tracked_files(edits, self.blobs, lambda place: bool(secured and secured.has(place, snapshots)))
        if not files and not snapshots:
            return None
        make_private_folder(self._folder)
        place = self._folder / f"{record.id}.json"
        lock = FileLock(place.with_suffix(".lock"), timeout=0)
        lock.acquire()
        running = UnfinishedCommand(StoredCommand(record, files, record.time + int(seconds * 1000), snapshots), lock)
        try:
            write_atomically(place, msgspec.json.encode(running.stored))
        except BaseException:
            lock.release()
            raise
        return running

    def changes(self, command: StoredCommand, snapshots: dict[str, int]) -> tuple[ChangedFile, ...]:
        """Returns the files that differ between the snapshots, and the other files that have changed. Raises
        PalimpsestError, OSError."""
        found = self.secured.changes(command.snapshots, snapshots, self.blobs) if self.secured else []
        return (*found, *changed_files(command.files, self.blobs))

    def end(
        self, running: UnfinishedCommand, files: tuple[ChangedFile, ...], journal: Journal
    ) -> list[CheckpointRecord]:
        """Makes the checkpoint of what the command changed; none where that is nothing. The lock stays held."""
        record = self._make(running.stored.record, files, journal)
        self._remove(self._folder / f"{running.stored.record.id}.json")
        return [record] if record else []

    def recover(self, journal: Journal, folders: Sequence[Path]) -> Generator[str]:
        """Makes the checkpoints of commands whose process was killed, of files below `folders`; a sentence for each."""
        for place in self.stored():
            with self._ended(place) as has_ended:
                if not has_ended:
                    continue
                command = _read(place)
                begun = {line.record.id for line in journal.lines() if isinstance(line, Begun)}
                if command is not None and command.record.id not in begun:
                    files = tuple(
                        file
                        for file in self.changes(command, self.secure())
                        if is_below(file.folder, file.path, folders) and _is_changed_before(file.place, command.until)
                    )
                    if record := self._make(command.record, files, journal):
                        names = _names([file.path for file in record.files])
                        yield f"A command was cut off with its session; /undo undoes its changes to {names}."
                self._remove(place)

    def keep_only(self, keeps: Callable[[CheckpointRecord], bool]) -> set[str]:
        """Forgets the commands that have ended and whose record is not to be kept; gives the versions that the others
        need."""
        needed: set[str] = set()
        for place in self.stored():
            with self._ended(place) as has_ended:
                command = _read(place)
                if has_ended and (command is None or not keeps(command.record)):
                    self._remove(place)
                elif command is not None:
                    needed |= {file.version for file in command.files}
        return needed

    def _make(
        self, record: CheckpointRecord, files: tuple[ChangedFile, ...], journal: Journal
    ) -> CheckpointRecord | None:
        if not files:
            return None
        record = structs.replace(record, files=files)
        journal.begin()
        journal.add(Begun(record))
        journal.add(Ended(record.id))
        return record

    def _needed(self, root: str) -> set[int]:
        """The snapshots of the project folder that commands under way need."""
        stored = filter(None, map(_read, self.stored()))
        return {command.snapshots[root] for command in stored if root in command.snapshots}

    @contextmanager
    def _ended(self, place: Path) -> Generator[bool]:
        """Whether no process holds the command's lock; it is held meanwhile."""
        lock = FileLock(place.with_suffix(".lock"), timeout=0)
        try:
            lock.acquire()
        except LockTimeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def _remove(self, place: Path) -> None:
        remove(place, missing_ok=True)
        with suppress(OSError):  # Windows keeps a file that is open
            remove(place.with_suffix(".lock"), missing_ok=True)


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _read(place: Path) -> StoredCommand | None:
    try:
        return decode_json(read_bytes(place, most=_MOST_STORED_BYTES, owned=True), StoredCommand)
    except (OSError, PalimpsestError, msgspec.DecodeError):
        return None


def _is_changed_before(place: Path, until: int) -> bool:
    """Whether the file, or where it is deleted the nearest folder, was changed last when the command may have run: what
    was changed later is the person's."""
    found = next(filter(None, map(status, (place, *place.parents))))
    return found.st_mtime_ns // 1_000_000 <= until


def tracked_files(
    records: Iterable[CheckpointRecord], blobs: Objects, is_secured: Callable[[Path], bool]
) -> tuple[TrackedFile, ...]:
    """The files of the checkpoints that are not secured, as they are now, each kept as a version; where there are many,
    the last ones."""
    files = {file.place: file for record in records for file in record.files if not is_secured(file.place)}
    tracked: list[TrackedFile] = []
    for place, file in list(files.items())[-MOST_FILES:]:
        try:
            signature = _signature(place)
            version = "" if signature is None else blobs.put(read_bytes(place, most=MOST_FILE_BYTES))
        except (PalimpsestError, OSError):  # no regular file, or too large: it is not looked at
            continue
        tracked.append(TrackedFile(file.folder, file.path, version, permission_bits(place), signature))
    return tuple(tracked)


def changed_files(tracked: Iterable[TrackedFile], blobs: Objects) -> tuple[ChangedFile, ...]:
    """Those that are not as they were, each with both versions kept."""
    changed: list[ChangedFile] = []
    for file in tracked:
        try:
            if (signature := _signature(file.place)) == file.signature:
                continue
            version = "" if signature is None else blobs.put(read_bytes(file.place, most=MOST_FILE_BYTES))
            bits = permission_bits(file.place)
        except (PalimpsestError, OSError):
            continue
        if version != file.version:
            changed.append(
                ChangedFile(
                    folder=file.folder,
                    path=file.path,
                    before=file.version,
                    after=version,
                    mode_before=file.mode,
                    mode_after=bits,
                )
            )
    return tuple(changed)


def _signature(place: Path) -> tuple[int, int, int] | None:
    """Size, time of change and number of the file; None where there is none."""
    found = status(place)
    return None if found is None else (found.st_size, found.st_mtime_ns, found.st_ino)
