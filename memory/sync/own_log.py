"""Writes this device's segments to a location: those that are new, that got lost there, or that must be without
something."""

from collections.abc import Callable, Mapping
from typing import Final

import apsw
from msgspec import Struct

from foundation.errors import Misuse
from foundation.program import PROGRAM
from memory.backup.place import BackupPlace
from memory.cold import ColdStore
from memory.cold.sql import fetch, first, run
from memory.errors import Damaged
from memory.records import Entry
from memory.sync.device import Device, become_another, this_device
from memory.sync.encryption import Keys
from memory.sync.names import SegmentName, digest_of, name_of, parse_name
from memory.sync.outbox import FORGOTTEN_NOTES, assign, assign_deletions, content_of, operations_of
from memory.sync.segment import Segment, encode_segment

VERIFIED: Final = 2**20
"""Bytes of own files that a run reads again, to see that the location still has what was written."""


DELETING: Final = f"""SELECT segment FROM sync_deletions
    UNION SELECT segment FROM sync_notes WHERE {FORGOTTEN_NOTES}
    UNION SELECT segment FROM sync_forgotten WHERE own = 1
    UNION SELECT segment FROM sync_forgotten_names WHERE own = 1"""
"""SQL: the numbers of segments that tell other devices of deletions and forgettings."""
_UNTOLD: Final = f"""SELECT segment FROM ({DELETING})
    WHERE segment IS NOT NULL
    AND segment NOT IN (SELECT number FROM sync_written WHERE location = ? AND current = 1)"""


class OwnFile(Struct, frozen=True):
    """A file of this device at a location."""

    name: str
    number: int
    size: int
    stale: bool


class OwnLog:
    """This device's segments at one location. `text_of` reads an entry's text back from its pages."""

    def __init__(
        self,
        cold: ColdStore,
        place: BackupPlace,
        keys: Keys | None,
        text_of: Callable[[Entry], str | None],
    ) -> None:
        self._cold = cold
        self._place = place
        self._keys = keys
        self._text_of = text_of

    def claim(self, names: Mapping[str, SegmentName]) -> Device:
        """This device; under another id where a file there has its id, and it never wrote that one.

        That is another copy of this workspace, or a later state of it than a backup brought back.
        """

        def claimed(db: apsw.Connection) -> Device:
            device = this_device(db)
            assert device is not None
            known = {name for (name,) in fetch(db, "SELECT name FROM sync_written")}
            if any(name.device == device.id and text not in known for text, name in names.items()):
                return become_another(db)
            return device

        return self._cold.write(claimed)

    def refuse_mixed(self, names: Mapping[str, SegmentName]) -> None:
        """Raises Misuse where others encrypt what they write there, and this device would not. A file of a device that
        is not known, beside others that are not encrypted, may be anybody's: it stops no sync."""
        own = self._cold.read(this_device)
        known = {id_ for (id_,) in self._cold.read(lambda db: fetch(db, "SELECT id FROM sync_devices"))}
        plain = {name.device for name in names.values() if not name.is_encrypted}
        encrypted = {name.device for name in names.values() if name.is_encrypted and (not own or name.device != own.id)}
        if self._keys is None and (encrypted - plain) and (not plain or known & (encrypted - plain)):
            raise Misuse(
                "The location is encrypted",
                f"Other devices encrypt their data at {self._place.name}, but this device does not. Nothing was sent.",
                f"Run `{PROGRAM} sync add LOCATION --key FILE` with the key file of one of them, then sync again. "
                "If none of your devices encrypts, the files that end in .age are forged: delete them.",
            )

    def write(self, device: Device, listed: Mapping[str, int]) -> tuple[int, int]:
        """Writes what is new and what is missing; gives the number of files that were written, and their bytes."""
        while self._cold.write(assign):
            pass
        last = self._cold.read(lambda db: fetch(db, "SELECT segment FROM sync_device")[0][0])
        files = {file.number: file for file in self._files()}
        verified = self._damaged(files, listed)
        count = size = 0
        for number in range(1, last + 1):
            file = files.get(number)
            if file is None or file.name in verified or not self._is_current(file, listed):
                written = self._write_segment(device, number)
                count, size = count + 1, size + written
        self._remove_old(listed)
        return count, size

    def renew(self, device: Device, listed: Mapping[str, int]) -> int:
        """Writes those anew that hold what was deleted here since, with the deletions and tombstones for other devices,
        and sends nothing else; gives their number."""
        while self._cold.write(assign_deletions):
            pass
        untold = self._cold.read(lambda db: fetch(db, _UNTOLD, (self._place.name,)))
        numbers = {file.number for file in self._files() if file.stale} | {number for (number,) in untold}
        for number in sorted(numbers):
            self._write_segment(device, number)
        self._remove_old(listed)
        return len(numbers)

    def _is_current(self, file: OwnFile, listed: Mapping[str, int]) -> bool:
        """Whether the location has the file as it would be written now: nothing is new or gone, and as encrypted."""
        is_encrypted = file.name.endswith(".age")
        return not file.stale and listed.get(file.name) == file.size and is_encrypted == (self._keys is not None)

    def _write_segment(self, device: Device, number: int) -> int:
        content = self._cold.read(lambda db: content_of(db, number))
        operations = operations_of(content, self._text_of)
        segment = Segment(device=device.id, name=device.name, number=number, operations=operations)
        stored = encode_segment(segment, self._keys)
        name = str(name_of(device.id, number, stored, is_encrypted=self._keys is not None))
        where = self._place.name

        def noted(db: apsw.Connection) -> None:
            run(db, "UPDATE sync_written SET current = 0 WHERE location = ? AND number = ?", (where, number))
            sql = "INSERT OR REPLACE INTO sync_written (location, name, number, size, stale) VALUES (?, ?, ?, ?, ?)"
            run(db, sql, (where, name, number, len(stored), 1))

        def finished(db: apsw.Connection) -> None:
            run(db, "UPDATE sync_written SET stale = 0 WHERE location = ? AND name = ?", (where, name))

        self._cold.write(noted)  # before the file: it is known as this device's whatever happens
        self._place.write(name, stored, sync=True)
        if self._cold.read(lambda db: content_of(db, number)) == content:  # else something was deleted meanwhile
            self._cold.write(finished)
        return len(stored)

    def _files(self) -> list[OwnFile]:
        sql = "SELECT name, number, size, stale FROM sync_written WHERE location = ? AND current = 1"
        rows = self._cold.read(lambda db: fetch(db, sql, (self._place.name,)))
        return [OwnFile(name, number, size, bool(stale)) for name, number, size, stale in rows]

    def _damaged(self, files: Mapping[int, OwnFile], listed: Mapping[str, int]) -> set[str]:
        """Own files that are no longer what was written, among the newest ones."""
        damaged, read = set[str](), 0
        for number in sorted(files, reverse=True):
            file = files[number]
            if not self._is_current(file, listed):
                continue
            if (read := read + file.size) > VERIFIED:
                break
            if not self._is_whole(file):
                damaged.add(file.name)
        return damaged

    def _is_whole(self, file: OwnFile) -> bool:
        name = parse_name(file.name)
        try:
            return name is not None and name.digest == digest_of(self._place.read(file.name))
        except Damaged:  # gone since it was listed
            return False

    def _remove_old(self, listed: Mapping[str, int]) -> None:
        """Deletes files of this device that others took the place of."""

        def old(db: apsw.Connection) -> list[str]:
            sql = "SELECT name FROM sync_written WHERE location = ? AND current = 1"
            current = {name for (name,) in fetch(db, sql, (self._place.name,))}
            return [name for (name,) in fetch(db, "SELECT DISTINCT name FROM sync_written") if name not in current]

        for name in self._cold.read(old):
            if name in listed:
                self._place.delete(name)


def has_unwritten(db: apsw.Connection) -> bool:
    """Whether something of this device is in no segment yet, or a segment is to be written anew."""
    sql = """SELECT 1 FROM sync_entries WHERE segment IS NULL
        UNION ALL SELECT 1 FROM sync_values WHERE segment IS NULL AND own = 1
        UNION ALL SELECT 1 FROM sync_deletions WHERE segment IS NULL
        UNION ALL SELECT 1 FROM sync_notes WHERE segment IS NULL AND own = 1
        UNION ALL SELECT 1 FROM sync_forgotten WHERE segment IS NULL AND own = 1
        UNION ALL SELECT 1 FROM sync_forgotten_names WHERE segment IS NULL AND own = 1
        UNION ALL SELECT 1 FROM sync_written WHERE stale = 1 AND current = 1 LIMIT 1"""
    return first(db, sql) is not None


def note_key(db: apsw.Connection, recipient: str) -> None:
    """Has every segment written anew if this device had another key when it last wrote: what it wrote with that one
    nobody else may be able to read."""
    (before,) = fetch(db, "SELECT recipient FROM sync_device")[0]
    if before not in {"", recipient}:
        write_all_again(db)
    run(db, "UPDATE sync_device SET recipient = ?", (recipient,))


def write_all_again(db: apsw.Connection) -> None:
    """Has every segment written anew by the next run: for other recipients."""
    run(db, "UPDATE sync_written SET stale = 1")
