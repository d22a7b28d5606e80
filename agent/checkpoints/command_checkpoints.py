"""Makes the checkpoints of commands: secures the project's files before each, and records what it changed after it.

Recording runs in a thread, so that the answer goes on meanwhile; `settle` waits for it. What a background command does
is recorded whenever the history is read, and when it has ended. An edit of the person in that time looks the same, so
only files that were there before are recorded, and undo asks.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from threading import Event, Thread, current_thread
from typing import Final

from msgspec import Struct, structs

from agent.checkpoints.change import ChangedFile, CheckpointRecord, reason_of
from agent.checkpoints.command_changes import UnfinishedCommand, UnfinishedCommands
from agent.checkpoints.journal import Begun, Journal
from agent.checkpoints.notices import Notices
from foundation.errors import PalimpsestError
from memory.records import new_id

BACKGROUND: Final = "background command"
"""The label of what changed while a background command ran."""
BACKGROUND_SECONDS: Final = 3600.0  # after the last look, that what changed is a killed background command's


class _Background(Struct, frozen=True):
    running: UnfinishedCommand
    is_running: Callable[[], bool]


class CommandCheckpoints:
    """The commands of one session. `locked` is the lock of the checkpoints."""

    def __init__(
        self,
        unfinished: UnfinishedCommands,
        journal: Journal,
        notices: Notices,
        locked: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._unfinished = unfinished
        self._journal = journal
        self._notices = notices
        self._locked = locked
        self._thread: Thread | None = None
        self._closed = Event()
        self._ahead: Thread | None = None
        self._background: list[_Background] = []
        self.made: list[CheckpointRecord] = []

    @property
    def covers(self) -> bool:
        """Whether files are secured before a command runs."""
        return self._unfinished.covers

    def secure_ahead(self) -> None:
        """Begins to secure the files in a thread, so that the first command need not wait for it."""
        if self._ahead is None or not self._ahead.is_alive():
            self._ahead = Thread(target=self._secure_quietly, name="secured files", daemon=True)
            self._ahead.start()

    def _secure_quietly(self) -> None:
        with suppress(PalimpsestError, OSError):  # the command that needs it says why
            self._unfinished.secure(self._closed.is_set)

    def close(self) -> None:
        """Ends what runs in threads, and records what background commands changed."""
        if self._ahead is not None:
            self._closed.set()
            self._ahead.join()
        self.settle()
        with suppress(PalimpsestError, OSError):
            self.review()

    def begin(
        self,
        record: CheckpointRecord,
        edits: Iterable[CheckpointRecord],
        seconds: float,
        report: Callable[[str], None],
    ) -> UnfinishedCommand | None:
        """Secures the files before a command; see Checkpoints.before_command."""
        snapshots = self._unfinished.secure()
        if sentence := self._unfinished.unsecured_sentence():
            report(f"{sentence}\n")
            self._notices.add(sentence)
        with self._locked():
            return self._unfinished.begin(record, edits, snapshots, seconds)

    def finish(self, running: UnfinishedCommand) -> None:
        """Records in a thread what the command changed."""
        self.settle()
        self._thread = Thread(target=self._record, args=(running,), name="command changes")
        self._thread.start()

    def watch(self, running: UnfinishedCommand, is_running: Callable[[], bool]) -> None:
        """Has what changes recorded until the background command has ended."""
        self._background.append(_Background(running, is_running))

    @property
    def is_settled(self) -> bool:
        """Whether the changes made by the last command have been recorded."""
        return self._thread is None or not self._thread.is_alive()

    def settle(self) -> None:
        """Waits until they are. Not to be called with the lock held."""
        if self._thread is not None and self._thread is not current_thread():
            self._thread.join()

    def review(self) -> None:
        """Records what changed while background commands ran. Raises PalimpsestError, OSError."""
        for each in self._background[:]:
            goes_on, before = each.is_running(), each.running.stored
            now = self._unfinished.secure()
            changed = self._unfinished.changes(before, now)
            with self._locked():
                known = {
                    (file.place, file.after)
                    for line in self._journal.lines()
                    if isinstance(line, Begun)
                    for file in line.record.files
                }
                files = tuple(file for file in changed if file.before and (file.place, file.after) not in known)
                self.made += self._unfinished.end(each.running, files, self._journal)
                self._background.remove(each)
                each.running.lock.release()
                if goes_on:
                    record = structs.replace(before.record, id=new_id("ck"))
                    running = self._unfinished.begin(record, (), now, BACKGROUND_SECONDS)
                    self._background += [_Background(running, each.is_running)] if running else []

    def _record(self, running: UnfinishedCommand) -> None:
        try:
            files: tuple[ChangedFile, ...] = self._unfinished.changes(running.stored, self._unfinished.secure())
            with self._locked():
                self.made += self._unfinished.end(running, files, self._journal)
        except (PalimpsestError, OSError) as error:
            reason = error.message if isinstance(error, PalimpsestError) else f"{reason_of(error)}."
            self._notices.add(f"What a command changed could not be recorded and is not undone: {reason}")
        finally:
            running.lock.release()
        if sentence := self._unfinished.lost_sentence():
            self._notices.add(sentence)
