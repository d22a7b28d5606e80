"""Changes files of the project, and keeps what each held before.

A change of several files is made as a whole: the contents before and after are stored, the journal says what is going
to be done, then each file is exchanged (foundation.files.conditional), then the journal says that it was done. Where a
file is not as expected, or the disk refuses, the files that were changed are put back. A process that is killed leaves
each file as it was or as it was to be; the next one finds out which (`recover`), and undo takes those back.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Final

from agent.checkpoints.change import (
    ChangedFile,
    CheckpointKind,
    CheckpointRecord,
    FileChange,
    NotChanged,
    makes_room,
    missing_folders,
    name_beside,
    reason_of,
    refuse_unusable,
    remove_empty_folders,
)
from agent.checkpoints.command_changes import UnfinishedCommand, UnfinishedCommands
from agent.checkpoints.command_checkpoints import CommandCheckpoints
from agent.checkpoints.conflicts import keep_beside
from agent.checkpoints.history import CheckpointHistory, unfinished
from agent.checkpoints.journal import Begun, Ended, Journal
from agent.checkpoints.late_edits import LateEdits
from agent.checkpoints.notices import Notices
from agent.checkpoints.recovery import recover_change
from agent.checkpoints.retention import keep_only
from agent.checkpoints.secured_projects import SECURED, remove_unused
from agent.checkpoints.snapshot import FileCoverage
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
from foundation.files.conditional import FileSwap, UnexpectedContent, permission_bits
from foundation.program import PROGRAM
from memory.errors import Damaged
from memory.records import new_id
from memory.versions.objects import Objects, content_name

LOCK_TIMEOUT: Final = 30.0  # seconds that a change waits for that of another process
MS_PER_DAY: Final = 86_400_000


class Checkpoints:
    """The checkpoints of a workspace, for one session at a time. Its methods block; call them from any thread."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        folders: Sequence[Path] = (),
        *,
        keep_days: int = 0,
        coverage: FileCoverage | None = None,
    ) -> None:
        """`folder` is `.palimpsest/checkpoints`; it is made with the first change. Only below the project folders
        `folders` is cleared up after killed processes. `keep_days`: see `prune`. `coverage`: the files that are secured
        before commands, of which else only those that tools changed are known."""
        self.folder = folder
        self.blobs = Objects(folder / "blobs", "checkpoint")
        self.journal = Journal(folder / "journal.jsonl")
        self.conversation = ""
        self.message = ""
        self._unfinished = UnfinishedCommands(folder / "commands", self.blobs, coverage)
        self._notices = Notices(folder / "notices.json")
        self.commands = CommandCheckpoints(self._unfinished, self.journal, self._notices, self.locked)
        self._late_edits = LateEdits(folder, self._notices)
        self._clock = clock
        self._keep_days = keep_days
        self._folders = folders
        self._recovered: set[str] = set()
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
        if changes:
            return self.make(changes, CheckpointKind.TOOL, entry=entry, label=label)
        raise NotChanged("Nothing to change", "No file was named.")

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
        refuse_unusable(changes)
        self.commands.settle()
        with self.locked():
            self._late_edits.keep()
            try:
                self.journal.begin()
                files = tuple(self._stored(change) for change in changes)
                record = self._record(files, kind, entry=entry, label=label, reverts=reverts, conversation=conversation)
                self.journal.add(Begun(record))
            except PalimpsestError:
                raise
            except OSError as error:
                raise NotChanged("No checkpoint", f"{self.folder} cannot be written: {reason_of(error)}.") from error
            self._change_files(record, changes)
            with suppress(OSError):  # the files are changed; `recover` finds that out
                self.journal.add(Ended(record.id))
        if entry:
            self.commands.made.append(record)
        return record

    def take_made(self, entry: str = "") -> tuple[CheckpointRecord, ...]:
        """The checkpoints that the tool call with this result made, or all; each is given once."""
        self.commands.settle()
        with self._guard:
            made = self.commands.made
            taken = tuple(record for record in made if entry in {"", record.entry})
            self.commands.made = [record for record in made if record not in taken]
        return taken

    def history(self, conversation: str) -> CheckpointHistory:
        """The checkpoints of the conversation, with interrupted ones cleared up. Raises Damaged where the journal
        cannot be opened."""
        try:
            self.commands.settle()
            if exists(self.folder) and not is_folder(self.folder):
                raise Damaged("No checkpoints", f"{self.folder} is not a folder.", "Move it away.")
            self.recover()
            self.commands.review()
        except OSError as error:
            if isinstance(error, PalimpsestError):
                raise
            raise Damaged("No checkpoints", f"{error.filename or self.folder}: {reason_of(error)}.") from error
        return CheckpointHistory.read(self.journal.content(), conversation)

    def recover(self) -> None:
        """Clears up after processes that were killed in the middle of a change; `take_notices` says what was found.

        Files of the person that such a change had just taken out are put back; the changes themselves stay as far as
        they were made, and undo takes them back.
        """
        if not unfinished(self.journal.lines()) and not self._unfinished.stored():
            return
        with self.locked():
            for record in unfinished(self.journal.lines()):
                if record.id not in self._recovered:  # one of other folders stays unfinished
                    self._notices.add(recover_change(record, self.journal, self.folder, self._folders))
                    self._recovered.add(record.id)
            for sentence in self._unfinished.recover(self.journal, self._folders):
                self._notices.add(sentence)

    def prune_once(self, conversation: str) -> None:
        """Prunes at the first message of a session; `conversation` is open."""
        if not self._is_pruned:
            self.conversation = self.conversation or conversation
            self.prune()

    def prune(self) -> int:
        """Removes the checkpoints of conversations in which nothing changed for `keep_days` days (0: none), those of
        the open one excepted; gives the number of checkpoints. A damaged journal is left as it is."""
        self._is_pruned = True
        if not self._keep_days or not exists(self.folder / "journal.jsonl"):
            return 0
        if damage := self.journal.content().damage:
            self._notices.add(f"{damage}, so no checkpoint is deleted. Run `{PROGRAM} check` for details.")
            return 0
        oldest = to_ms(self._clock.now()) - self._keep_days * MS_PER_DAY
        remove_unused(self.folder / SECURED, oldest * 1_000_000)
        with self.locked():
            records = [line.record for line in self.journal.lines() if isinstance(line, Begun)]
            fresh = {record.conversation for record in records if record.time >= oldest} | {self.conversation}
            return keep_only(lambda record: record.conversation in fresh, self.journal, self._unfinished, self.folder)

    def forget(self, conversation: str) -> int:
        """Removes the checkpoints of a deleted conversation; gives their number. Raises Damaged, with all left as it
        is, where lines of the journal cannot be read: they may need any version."""
        if not exists(self.folder / "journal.jsonl"):
            return 0
        with self.locked():
            if damage := self.journal.content().damage:
                raise Damaged("Not removed", f"{damage} and may refer to any version.")
            return keep_only(
                lambda record: record.conversation != conversation, self.journal, self._unfinished, self.folder
            )

    def before_command(
        self, entry: str = "", *, label: str = "", seconds: float = 0, report: Callable[[str], None] = lambda _: None
    ) -> UnfinishedCommand | None:
        """Call before a command runs, for `seconds` at most: secures the project's files, and stores those that tools
        changed in this conversation. `report` is called with a sentence on files that are not secured, once for each.
        None where no file is known. Raises PalimpsestError, OSError where they cannot be secured."""
        edits = self.history(self.conversation).edits()
        record = self._record((), CheckpointKind.COMMAND, entry=entry, label=label)
        return self.commands.begin(record, edits, seconds, report)

    def after_command(self, running: UnfinishedCommand | None) -> None:
        """Call after it, with what `before_command` gave: the files that the command changed become a checkpoint."""
        if running is not None:
            self.commands.finish(running)

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
            before=(before := "" if change.expected is None else self.blobs.put(change.expected)),
            after="" if change.new is None else self.blobs.put(change.new, before),
            mode_before=before_bits,
            mode_after=None if change.new is None else before_bits if change.mode is None else change.mode,
            beside=name_beside(place),
            folders=change.folders if change.new is None else missing_folders(change),
        )

    def _change_files(self, record: CheckpointRecord, changes: Sequence[FileChange]) -> None:
        swaps = [_swap(file, change) for file, change in zip(record.files, changes, strict=True)]
        first = [index for index in range(len(changes)) if makes_room(changes, index)]
        others = sorted(set(range(len(changes))) - set(first), key=lambda index: changes[index].new is None)
        made: list[int] = []
        try:
            for index in first:
                swaps[index].make()
                made.append(index)
                self._finish(swaps[index], record, index)
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
                    "Not written", f"{error.filename or record.files[0].place}: {reason_of(error)}."
                ) from error
            raise
        for index in others:
            self._finish(swaps[index], record, index)

    def _finish(self, swap: FileSwap, record: CheckpointRecord, index: int) -> None:
        outgoing, file = swap.finish(), record.files[index]
        if not file.after:
            remove_empty_folders(file)
        if outgoing is not None:
            self._late_edits.watch(record.id, file, outgoing)

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
            self._notices.add(
                f"{file.path} was saved while a tool changed it. Your version was kept; a copy of it is {place}."
            )

    def take_notices(self) -> tuple[str, ...]:
        """What the person should know, in sentences: changes that were interrupted, and texts that another program
        saved while a tool changed the file.

        A program that had a file open when it was replaced may write to the replaced one: that text is kept beside.
        Those that a session found at its end are given by the next one.
        """
        self.commands.settle()
        self.recover()
        if exists(self._notices.path):
            with self.locked(), suppress(OSError):
                self._notices.load()
        with self._guard:
            self._late_edits.keep()
            return self._notices.take()

    def close(self) -> None:
        """Looks once more at files that were replaced, lets them go, and stores the notices that nobody has taken."""
        self.commands.close()
        with self._guard:
            self._late_edits.keep()
        if self._notices:
            with suppress(PalimpsestError, OSError), self.locked():  # else `take_notices` of this object has them
                self._notices.store()

    @contextmanager
    def locked(self) -> Generator[None]:
        """Holds the lock that a change of files and of the journal needs. Raises TemporaryFailure, NotChanged."""
        with self._guard:
            try:
                make_private_folder(self.folder)
                self._file_lock.acquire()
            except LockTimeout as error:
                raise TemporaryFailure(
                    "Another process changes files",
                    f"It has locked {self._file_lock.path} for a long time.",
                    "Try again.",
                ) from error
            except OSError as error:
                raise NotChanged("No checkpoint", f"{self.folder} cannot be written: {reason_of(error)}.") from error
            try:
                yield
            finally:
                self._file_lock.release()


def _holds(place: Path, expected: bytes | None) -> bool:
    if expected is None:
        return not exists(place) or is_folder(place)  # which another change may empty; if not, nothing is changed
    try:
        return content_name(read_bytes(place, most=len(expected))) == content_name(expected)
    except (FileTooLarge, FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False


def _swap(file: ChangedFile, change: FileChange) -> FileSwap:
    beside = file.place.with_name(file.beside)
    return FileSwap(file.place, change.expected, change.new, beside=beside, mode=change.mode)
