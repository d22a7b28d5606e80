"""Changes files of the project, and keeps what each held before.

A change of several files is made as a whole: the contents before and after are stored, the journal says what is going
to be done, then each file is exchanged (foundation.files.conditional), then the journal says that it was done. Where a
file is not as expected, or the disk refuses, the files that were changed are put back. A process that is killed leaves
each file as it was or as it was to be; the next one finds out which (`recover`), and undo takes those back.
"""

import errno
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Final

from agent.checkpoints.blobs import MOST_BYTES, Blobs, content_name
from agent.checkpoints.change import (
    ChangedFile,
    CheckpointKind,
    CheckpointRecord,
    FileChange,
    NotChanged,
    name_beside,
    remove_empty_folders,
)
from agent.checkpoints.command_changes import TrackedFile, changed_files, tracked_files
from agent.checkpoints.conflicts import keep_beside
from agent.checkpoints.history import CheckpointHistory, unfinished
from agent.checkpoints.journal import Begun, Ended, Journal
from agent.checkpoints.recovery import recover_change
from agent.checkpoints.retention import keep_only
from foundation.clock import Clock, to_ms
from foundation.errors import PalimpsestError, TemporaryFailure
from foundation.files import (
    FileLock,
    FileTooLarge,
    LockTimeout,
    exists,
    is_folder,
    make_folder,
    make_private_folder,
    read_bytes,
)
from foundation.files.conditional import FileSwap, Outgoing, UnexpectedContent, permission_bits
from memory.records import new_id

LOCK_TIMEOUT: Final = 30.0  # seconds that a change waits for that of another process
MS_PER_DAY: Final = 86_400_000


class Checkpoints:
    """The checkpoints of a workspace, for one session at a time. Its methods block; call them from any thread."""

    def __init__(self, folder: Path, clock: Clock, *, keep_days: int = 0) -> None:
        """`folder` is `.palimpsest/checkpoints`; it is made with the first change. `keep_days`: see `prune`."""
        self.folder = folder
        self.blobs = Blobs(folder / "blobs")
        self.journal = Journal(folder / "journal.jsonl")
        self.conversation = ""
        self.message = ""
        self._made: list[CheckpointRecord] = []
        self._outgoing: list[tuple[ChangedFile, Outgoing]] = []
        self._notices: list[str] = []
        self._clock = clock
        self._keep_days = keep_days
        self._is_pruned = False
        self._guard = RLock()
        self._file_lock = FileLock(folder / "journal.lock", timeout=LOCK_TIMEOUT)

    def begin_turn(self, conversation: str, message: str) -> None:
        """The changes from now on belong to the turn of this message of the user (an entry id)."""
        self.conversation, self.message = conversation, message

    def apply(self, changes: Sequence[FileChange], entry: str, *, label: str = "") -> CheckpointRecord:
        """Makes the changes, all or none, and keeps what the files held. `entry` is ToolRun.entry, `label` the tool.

        Raises UnexpectedContent where a file does not hold what was expected, NotChanged where it cannot be written,
        UnsafePath for links and special files; the files are then as they were.
        """
        if not changes:
            raise NotChanged("Nothing to change", "No file was named.")
        return self.make(changes, CheckpointKind.TOOL, entry=entry, label=label)

    def make(
        self,
        changes: Sequence[FileChange],
        kind: CheckpointKind,
        *,
        entry: str = "",
        label: str = "",
        reverts: tuple[str, ...] = (),
        conversation: str | None = None,
    ) -> CheckpointRecord:
        """As `apply`, for every kind of checkpoint; `conversation` is by default that of the turn."""
        _refuse_unusable(changes)
        with self._locked():
            self._look_at_outgoing()
            try:
                files = tuple(self._stored(change) for change in changes)
                record = self._record(files, kind, entry=entry, label=label, reverts=reverts, conversation=conversation)
                self.journal.add(Begun(record))
            except PalimpsestError:
                raise
            except OSError as error:
                raise NotChanged("No checkpoint", f"{self.folder} cannot be written: {_reason(error)}.") from error
            self._change_files(record, changes)
            with suppress(OSError):  # the files are changed; `recover` finds that out
                self.journal.add(Ended(record.id))
        if entry:
            self._made.append(record)
        return record

    def take_made(self, entry: str) -> tuple[CheckpointRecord, ...]:
        """The checkpoints that the tool call with this result made; each is given once."""
        with self._guard:
            taken = tuple(record for record in self._made if record.entry == entry)
            self._made = [record for record in self._made if record.entry != entry]
        return taken

    def history(self, conversation: str) -> CheckpointHistory:
        """The checkpoints of the conversation, with interrupted ones cleared up."""
        self.recover()
        return CheckpointHistory.read(self.journal.lines(), conversation)

    def recover(self) -> None:
        """Clears up after processes that were killed in the middle of a change; `take_notices` says what was found.

        Files of the person that such a change had just taken out are put back; the changes themselves stay as far as
        they were made, and undo takes them back.
        """
        if not unfinished(self.journal.lines()):
            return
        with self._locked():
            for record in unfinished(self.journal.lines()):
                self._notices.append(recover_change(record, self.journal, self.folder))

    def prune(self) -> int:
        """Removes the checkpoints of conversations in which nothing changed for `keep_days` days (0: none), those of
        the open one excepted; gives the number of checkpoints."""
        self._is_pruned = True
        if not self._keep_days or not exists(self.folder / "journal.jsonl"):
            return 0
        oldest = to_ms(self._clock.now()) - self._keep_days * MS_PER_DAY
        with self._locked():
            records = [line.record for line in self.journal.lines() if isinstance(line, Begun)]
            fresh = {record.conversation for record in records if record.time >= oldest} | {self.conversation}
            return keep_only(lambda record: record.conversation in fresh, self.journal, self.blobs, self.folder)

    def forget(self, conversation: str) -> int:
        """Removes the checkpoints of a deleted conversation; gives their number."""
        if not exists(self.folder / "journal.jsonl"):
            return 0
        with self._locked():
            return keep_only(lambda record: record.conversation != conversation, self.journal, self.blobs, self.folder)

    def before_command(self) -> tuple[TrackedFile, ...]:
        """Call before a command runs: the files that tools changed in this conversation, as they are now."""
        records = self.history(self.conversation).edits()
        if not records:
            return ()
        with self._locked():
            return tracked_files(records, self.blobs)

    def after_command(self, tracked: Sequence[TrackedFile], entry: str, *, label: str = "") -> None:
        """Call after it, with what `before_command` gave: those that the command changed become a checkpoint."""
        if not tracked:
            return
        with self._locked():
            if files := changed_files(tracked, self.blobs):
                record = self._record(files, CheckpointKind.COMMAND, entry=entry, label=label)
                self.journal.add(Begun(record))
                self.journal.add(Ended(record.id))
                self._made.append(record)

    def _record(
        self,
        files: tuple[ChangedFile, ...],
        kind: CheckpointKind,
        *,
        entry: str,
        label: str,
        reverts: tuple[str, ...] = (),
        conversation: str | None = None,
    ) -> CheckpointRecord:
        return CheckpointRecord(
            id=new_id("ck"),
            time=to_ms(self._clock.now()),
            kind=kind,
            conversation=self.conversation if conversation is None else conversation,
            message=self.message,
            entry=entry,
            label=label,
            files=files,
            reverts=reverts,
        )

    def _stored(self, change: FileChange) -> ChangedFile:
        """Checks and stores both contents of the file. Raises UnexpectedContent."""
        place = change.place
        if not _holds(place, change.expected):
            what = "exists by now" if change.expected is None else "has changed since it was read"
            raise UnexpectedContent(place, what if exists(place) else "was deleted")
        before_bits = permission_bits(place)
        return ChangedFile(
            folder=str(change.folder),
            path=change.path,
            before="" if change.expected is None else self.blobs.put(change.expected),
            after="" if change.new is None else self.blobs.put(change.new),
            mode_before=before_bits,
            mode_after=None if change.new is None else before_bits if change.mode is None else change.mode,
            beside=name_beside(place),
            folders=change.folders if change.new is None else _missing_folders(change),
        )

    def _change_files(self, record: CheckpointRecord, changes: Sequence[FileChange]) -> None:
        swaps = [_swap(file, change) for file, change in zip(record.files, changes, strict=True)]
        first = [index for index in range(len(changes)) if _makes_room(changes, index)]
        others = sorted(set(range(len(changes))) - set(first), key=lambda index: changes[index].new is None)
        made: list[int] = []
        try:
            for index in first:
                swaps[index].make()
                made.append(index)
                self._finish(swaps[index], record.files[index])
            for index in others:
                if changes[index].new is not None:
                    make_folder(record.files[index].place.parent, mode=0o777)
                swaps[index].stage()
            for index in others:
                swaps[index].make()
                made.append(index)
        except BaseException as error:
            left = [index for index in reversed(made) if not self._taken_back(swaps, index, first, record, changes)]
            for index in others:
                swaps[index].discard()
            for file in record.files:
                remove_empty_folders(file)
            with suppress(OSError):
                self.journal.add(Ended(record.id, changed=tuple(sorted(left))))
            if isinstance(error, UnexpectedContent):
                self._keep_displaced(record, error)
            if isinstance(error, OSError) and not isinstance(error, PalimpsestError):
                raise NotChanged(
                    "Not written", f"{error.filename or record.files[0].place}: {_reason(error)}."
                ) from error
            raise
        for index in others:
            self._finish(swaps[index], record.files[index])

    def _finish(self, swap: FileSwap, file: ChangedFile) -> None:
        outgoing = swap.finish()
        if not file.after:
            remove_empty_folders(file)
        if outgoing is not None:
            self._outgoing.append((file, outgoing))

    def _taken_back(
        self,
        swaps: Sequence[FileSwap],
        index: int,
        first: Sequence[int],
        record: CheckpointRecord,
        changes: Sequence[FileChange],
    ) -> bool:
        """Takes one change back; False where that fails, or another program changed the file meanwhile."""
        file, change = record.files[index], changes[index]
        with suppress(OSError):
            if index not in first:
                return swaps[index].take_back()
            again = FileSwap(
                file.place, None, change.expected, beside=file.place.with_name(file.beside), mode=file.mode_before
            )
            make_folder(file.place.parent, mode=0o777)
            try:
                again.stage()
                again.make()
            finally:
                again.discard()
            return True
        return False

    def _keep_displaced(self, record: CheckpointRecord, error: UnexpectedContent) -> None:
        """Keeps texts of another program that were out of their file for an instant: it may have saved over them."""
        for body in dict.fromkeys(error.displaced):
            file = next((file for file in record.files if str(file.place) == error.filename), record.files[0])
            place = keep_beside(self.folder, f"{record.id}-{content_name(body)[:8]}", file, body)
            self._notices.append(
                f"{file.path} was saved while a tool changed it, and kept; a copy of what was saved is {place}."
            )

    def take_notices(self) -> tuple[str, ...]:
        """What the person should know, in sentences: changes that were interrupted, and texts that another program
        saved while a tool changed the file.

        A program that had a file open when it was replaced may write to the replaced one: that text is kept beside.
        """
        self.recover()
        if not self._is_pruned:
            self.prune()
        with self._guard:
            self._look_at_outgoing()
            notices, self._notices = tuple(self._notices), []
        return notices

    def close(self) -> None:
        """Looks once more at files that were replaced, and lets them go."""
        with self._guard:
            self._look_at_outgoing()

    def _look_at_outgoing(self) -> None:
        for file, outgoing in self._outgoing:
            if (body := outgoing.late_edit()) is not None:
                place = keep_beside(self.folder, new_id("ck"), file, body)
                self._notices.append(
                    f"{file.path} was saved at the moment a tool changed it; the text that was saved is {place}."
                )
            outgoing.close()
        self._outgoing.clear()

    @contextmanager
    def _locked(self) -> Generator[None]:
        with self._guard:
            try:
                make_private_folder(self.folder)
                self._file_lock.acquire()
            except LockTimeout as error:
                raise TemporaryFailure(
                    "Another process changes files", f"It has held {self._file_lock.path} for long.", "Try again."
                ) from error
            except OSError as error:
                raise NotChanged("No checkpoint", f"{self.folder} cannot be written: {_reason(error)}.") from error
            try:
                yield
            finally:
                self._file_lock.release()


def _refuse_unusable(changes: Sequence[FileChange]) -> None:
    if len({change.place for change in changes}) < len(changes):
        raise NotChanged("A file is named twice", "Each file can be changed once at a time.")
    for change in changes:
        if max(len(change.expected or b""), len(change.new or b"")) > MOST_BYTES:
            raise NotChanged("Too large", f"{change.path} is larger than {MOST_BYTES:,} bytes.")


def _holds(place: Path, expected: bytes | None) -> bool:
    if expected is None:
        return not exists(place) or is_folder(place)  # which another change may empty; if not, nothing is changed
    try:
        return content_name(read_bytes(place, most=len(expected))) == content_name(expected)
    except (FileTooLarge, FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False


def _missing_folders(change: FileChange) -> tuple[str, ...]:
    """The folders (relative) between the project folder and the file that do not exist, outermost first."""
    above = list(change.place.relative_to(change.folder).parents)[:-1]
    return tuple(folder.as_posix() for folder in reversed(above) if not is_folder(change.folder / folder))


def _swap(file: ChangedFile, change: FileChange) -> FileSwap:
    beside = file.place.with_name(file.beside)
    return FileSwap(file.place, change.expected, change.new, beside=beside, mode=change.mode)


def _makes_room(changes: Sequence[FileChange], index: int) -> bool:
    """Whether the file is deleted to make room: its name becomes a folder's, or its folder's name a file's.

    Other files are deleted last, so that no text of a moved file is missing.
    """
    if changes[index].new is not None:
        return False
    place = changes[index].place
    made = (other.place for other in changes if other.new is not None)
    return any(place.is_relative_to(other) or other.is_relative_to(place) for other in made)


def _reason(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    return (error.strerror or str(error)).rstrip(".")
