"""Notices what a command changed in files that tools changed before, so that undo goes back past a formatter.

Files that no tool changed are not looked at: what a command does to them is not undone. While a command runs,
`commands/<id>.json` names the versions before it, and its process holds `commands/<id>.lock`: they are kept when
checkpoints are removed, and where the process is killed, the next one finds out what the command changed.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, structs

from agent.checkpoints.change import ChangedFile, CheckpointRecord, is_below
from agent.checkpoints.journal import Begun, Ended, Journal
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
from foundation.typed_json import decode_json
from memory.versions.objects import Objects

MOST_FILES: Final = 500
MOST_FILE_BYTES: Final = 20_000_000
_MOST_STORED_BYTES: Final = 10_000_000
_MOST_NAMES: Final = 5


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


class UnfinishedCommand(Struct, frozen=True):
    """A command of this process, whose lock is held."""

    stored: StoredCommand
    lock: FileLock


class UnfinishedCommands:
    """The commands under way, of every process. Methods are called with the lock of the checkpoints held."""

    def __init__(self, folder: Path, blobs: Objects) -> None:
        self.blobs = blobs
        self._folder = folder

    def stored(self) -> list[Path]:
        """The files of the commands; needs no lock."""
        return list_files(self._folder, "ck_*.json")

    def begin(self, record: CheckpointRecord, files: tuple[TrackedFile, ...], seconds: float) -> UnfinishedCommand:
        """Stores what the files are before the command, which runs for `seconds` at most. Raises OSError."""
        make_private_folder(self._folder)
        place = self._folder / f"{record.id}.json"
        lock = FileLock(place.with_suffix(".lock"), timeout=0)
        lock.acquire()
        running = UnfinishedCommand(StoredCommand(record, files, record.time + int(seconds * 1000)), lock)
        try:
            write_atomically(place, msgspec.json.encode(running.stored))
        except BaseException:
            lock.release()
            raise
        return running

    def end(self, running: UnfinishedCommand, journal: Journal) -> list[CheckpointRecord]:
        """Makes the checkpoint of what the command changed; none where that is nothing. The lock stays held."""
        record = self._make(running.stored.record, running.stored.files, journal)
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
                    files = [
                        file
                        for file in command.files
                        if is_below(file.folder, file.path, folders) and _is_changed_before(file.place, command.until)
                    ]
                    if record := self._make(command.record, files, journal):
                        names = ", ".join(file.path for file in record.files[:_MOST_NAMES])
                        if len(record.files) > _MOST_NAMES:
                            names += f" and {len(record.files) - _MOST_NAMES} more"
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
        self, record: CheckpointRecord, tracked: Sequence[TrackedFile], journal: Journal
    ) -> CheckpointRecord | None:
        files = changed_files(tracked, self.blobs)
        if not files:
            return None
        record = structs.replace(record, files=files)
        journal.add(Begun(record))
        journal.add(Ended(record.id))
        return record

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


def _read(place: Path) -> StoredCommand | None:
    try:
        return decode_json(read_bytes(place, most=_MOST_STORED_BYTES, owned=True), StoredCommand)
    except (OSError, PalimpsestError, msgspec.DecodeError):
        return None


def _is_changed_before(place: Path, until: int) -> bool:
    """Whether the file, or where it is deleted its folder, was changed last when the command may have run: what was
    changed later is the person's."""
    found = status(place) or status(place.parent)
    return found is not None and found.st_mtime_ns // 1_000_000 <= until


def tracked_files(records: Iterable[CheckpointRecord], blobs: Objects) -> tuple[TrackedFile, ...]:
    """The files of the checkpoints as they are now, each kept as a version; where there are many, the last ones."""
    files = {file.place: file for record in records for file in record.files}
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
