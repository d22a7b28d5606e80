"""Reads the segments that other devices wrote to a location. A damaged one is named, and read once it is whole."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import apsw
from msgspec import Struct

from foundation.clock import to_ms
from foundation.terminal_text import visible_line
from memory.backup.place import BackupPlace
from memory.cold import ColdStore
from memory.cold.sql import fetch, first, run
from memory.cold.sync_clock import AHEAD_YEARS, is_believable
from memory.errors import Damaged
from memory.forgotten.tombstones import Tombstones
from memory.sync.encryption import Keys
from memory.sync.errors import NewerSegment, NoKey, SegmentDamaged
from memory.sync.inbox import KINDS, Inbox, Taken
from memory.sync.limits import MOST_STORED
from memory.sync.names import SegmentName
from memory.sync.operation import (
    DeletionOperation,
    EntryOperation,
    ForgettingOperation,
    ForgottenNamesOperation,
    NoteOperation,
    Operation,
    ValueOperation,
)
from memory.sync.segment import Segment, decode_segment, too_large

_LONGEST_NAME = 60
_COPY = "is a copy of a segment made by another program. It was not read and may contain forgotten text: delete it."
_AT_ONCE = 100  # operations of a transaction: some 60 ms
_NOTES_AT_ONCE = 1_000
_READER = 1  # 0 left out files of knowledge: what it read is read once more


class Unread(Struct, frozen=True):
    """A segment that could not be read, and why, as a sentence."""

    name: str
    message: str


class NewDevice(Struct, frozen=True):
    """A device of which something was read for the first time."""

    id: str
    name: str


class OtherLogs:
    """The segments of other devices at one location. Without `takes_plain` only encrypted ones are read."""

    def __init__(
        self,
        cold: ColdStore,
        place: BackupPlace,
        keys: Keys | None,
        tombstones: Tombstones,
        *,
        takes_plain: bool = True,
    ) -> None:
        self._cold = cold
        self._place = place
        self._keys = keys
        self._tombstones = tombstones
        self._takes_plain = takes_plain
        self.new_devices: list[NewDevice] = []
        self._known: dict[str, str] = {}  # why segments could not be read
        self._notes: dict[str, str] = {}  # not written yet

    def read(
        self, names: Mapping[str, SegmentName], listed: Mapping[str, int], own: str, should_stop: Callable[[], bool]
    ) -> tuple[Taken, int, bool]:
        """Reads what is new; gives what was taken, the number of segments, and whether it was stopped before the end.

        A segment is applied in small transactions, so that a chat that goes on meanwhile waits for none of them. One
        that was not applied to its end is applied once more: what is there is not taken again.
        """
        where = self._place.name
        sql = "SELECT name, problem FROM sync_read WHERE location = ? AND problem <> ''"
        self._known = dict(self._cold.read(lambda db: fetch(db, sql, (where,))))
        done = self._cold.read(lambda db: read_segments(db, where))
        try:
            result = self._read(names, listed, lambda text, name: name.device == own or text in done, should_stop)
        finally:
            self._write_notes()
        if not result[2]:
            self._forget_missing(names)
        return result

    def _read(
        self,
        names: Mapping[str, SegmentName],
        listed: Mapping[str, int],
        is_done: Callable[[str, SegmentName], bool],
        should_stop: Callable[[], bool],
    ) -> tuple[Taken, int, bool]:
        taken, count = Taken(), 0
        for text, name in sorted(names.items(), key=lambda item: (item[1].number, item[0])):
            if is_done(text, name):
                continue
            if should_stop():
                return taken, count, True
            if (segment := self._opened(name, text, listed[text])) is None:
                continue
            believed = self._believed(segment.operations)
            known = [each for each in believed if _kind_of(each) in KINDS]
            for batch in _batches(known):
                try:
                    taken += self._cold.write(lambda db, segment=segment, batch=batch: self._apply(db, segment, batch))
                except SegmentDamaged as error:
                    self._note(text, f"{text}: {error.message}")
                    break
                if should_stop():
                    return taken, count, True
            else:
                if len(known) < len(segment.operations):
                    wrong = _wrong_clock(name, segment) if len(believed) < len(segment.operations) else ""
                    self._note(text, wrong or _unknown_kinds(name, segment))
                    continue
                self._cold.write(lambda db, text=text: self._record(db, text, ""))
                count += 1
        return taken, count, False

    def _believed(self, operations: Sequence[Operation]) -> list[Operation]:
        """Those whose clock is no more than some years ahead of the time here."""
        now = to_ms(self._cold.clock.now())
        return [each for each in operations if all(is_believable(clock, now) for clock in _clocks(each))]

    def _opened(self, name: SegmentName, text: str, size: int) -> Segment | None:
        """The segment of that name; None where it cannot be read, which is noted."""
        try:
            if size > MOST_STORED:
                raise too_large(name)
            return decode_segment(name, self._place.read(text), self._keys, takes_plain=self._takes_plain)
        except (Damaged, NewerSegment, NoKey) as error:  # damaged, or gone since it was listed
            self._note(text, error.message)
            return None

    def _apply(self, db: apsw.Connection, segment: Segment, operations: Sequence[Operation]) -> Taken:
        shown = visible_line(segment.name)[:_LONGEST_NAME]
        inbox = Inbox(db, self._cold.clock, self._cold.analyse, self._cold.secret, self._tombstones)
        taken = inbox.take(operations, f"{shown} ({segment.device})")
        if first(db, "SELECT 1 FROM sync_devices WHERE id = ?", (segment.device,)) is None:
            self.new_devices.append(NewDevice(segment.device, shown))
        now = to_ms(self._cold.clock.now())
        sql = "INSERT OR REPLACE INTO sync_devices (id, name, read_ms) VALUES (?, ?, ?)"
        run(db, sql, (segment.device, shown, now))
        return taken

    def _note(self, name: str, problem: str) -> None:
        """Notes why a segment could not be read, many in one transaction, and none that is noted already."""
        if self._known.get(name) != problem:
            self._notes[name] = self._known[name] = problem
        if len(self._notes) >= _NOTES_AT_ONCE:
            self._write_notes()

    def _write_notes(self) -> None:
        notes, self._notes = self._notes, {}

        def write(db: apsw.Connection) -> None:
            for name, problem in notes.items():
                self._record(db, name, problem)

        if notes:
            self._cold.write(write)

    def _record(self, db: apsw.Connection, name: str, problem: str) -> None:
        sql = "INSERT OR REPLACE INTO sync_read (location, name, problem, reader) VALUES (?, ?, ?, ?)"
        run(db, sql, (self._place.name, name, problem, _READER))

    def _forget_missing(self, names: Mapping[str, SegmentName]) -> None:
        """Drops the notes of files that are not there any more and could not be read."""

        def forget(db: apsw.Connection) -> None:
            sql = "SELECT name FROM sync_read WHERE location = ? AND problem <> ''"
            for (name,) in fetch(db, sql, (self._place.name,)):
                if name not in names:
                    run(db, "DELETE FROM sync_read WHERE location = ? AND name = ?", (self._place.name, name))

        self._cold.write(forget)


def _clocks(operation: Operation) -> tuple[int, ...]:
    match operation:
        case NoteOperation():
            return operation.clock, operation.renamed
        case ValueOperation():
            return (operation.clock,)
        case _:
            return ()


def _wrong_clock(name: SegmentName, segment: Segment) -> str:
    shown = visible_line(segment.name)[:_LONGEST_NAME]
    return (
        f"{name}: titles, labels or notes of {shown} are dated more than {AHEAD_YEARS} years ahead and "
        "were ignored. Is the clock of one of the devices wrong?"
    )


def _kind_of(operation: Operation) -> str:
    """The kind of the conversation that it belongs to; one that is taken where it belongs to none."""
    match operation:
        case EntryOperation() | ValueOperation() | ForgottenNamesOperation():
            return operation.conversation.kind
        case _:
            return "chat"


def _unknown_kinds(name: SegmentName, segment: Segment) -> str:
    shown = visible_line(segment.name)[:_LONGEST_NAME]
    kinds = visible_line(", ".join(sorted({*map(_kind_of, segment.operations)} - KINDS)))[:_LONGEST_NAME]
    return (
        f"{name}: {shown} wrote data of an unknown type ({kinds}), which was ignored. Upgrade this device to sync it."
    )


def _batches(operations: Sequence[Operation]) -> Iterator[Sequence[Operation]]:
    """The operations in small transactions, deletions first; one without any for an empty segment."""
    ordered = sorted(operations, key=lambda each: not isinstance(each, DeletionOperation | ForgettingOperation))
    for start in range(0, max(1, len(ordered)), _AT_ONCE):
        yield ordered[start : start + _AT_ONCE]


def foreign_objects(place: BackupPlace) -> list[Unread]:
    """What has the name of a segment and is no file, and copies of segments under other names. None is read."""
    skipped = [
        Unread(name, f"{name} is a folder, a link or a pipe, not a file. It was skipped.") for name in place.foreign()
    ]
    return skipped + [Unread(name, f"{visible_line(name)} {_COPY}") for name in place.copies()]


def read_segments(db: apsw.Connection, location: str) -> set[str]:
    """Names of the segments at the location of which this version has nothing more to take."""
    sql = "SELECT name FROM sync_read WHERE location = ? AND problem = '' AND reader >= ?"
    return {name for (name,) in fetch(db, sql, (location, _READER))}


def unread_segments(db: apsw.Connection, location: str) -> list[Unread]:
    """Segments at the location that could not be read when it was last looked at."""
    sql = "SELECT name, problem FROM sync_read WHERE location = ? AND problem <> '' ORDER BY name"
    return [Unread(name, problem) for name, problem in fetch(db, sql, (location,))]
