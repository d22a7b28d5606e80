"""A recording file system under SQLite, and what a power cut may leave of what it recorded.

The law: what was synced is there. What was written to a file since its last sync may be there or not, each write by
itself and in any order, and a write may be torn at a sector. File names are taken to last from the file's first sync.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import apsw
from msgspec import Struct

SECTOR = 512


class Write(Struct, frozen=True):
    file: str
    offset: int
    data: bytes


class Cut(Struct, frozen=True):
    """The file is made shorter, to `size`."""

    file: str
    size: int


class Sync(Struct, frozen=True):
    file: str


class Removed(Struct, frozen=True):
    file: str


class Acknowledged(Struct, frozen=True):
    """The program was told that this is on disk."""

    what: str


Event = Write | Cut | Sync | Removed | Acknowledged


class RecordingVFS(apsw.VFS):
    """Passes everything on to the system's own file system, and writes it down in `events`."""

    def __init__(self, name: str) -> None:
        self.events: list[Event] = []
        self.name = name
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return RecordingFile(self.events, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        self.events.append(Removed(Path(name).name))
        super().xDelete(name, syncdir)


class RecordingFile(apsw.VFSFile):
    def __init__(self, events: list[Event], name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._events = events
        whole = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        self._name = Path(whole).name
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._events.append(Write(self._name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self._events.append(Cut(self._name, size))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._events.append(Sync(self._name))


class Disk:
    """What lies on the platter for sure, and what is still on its way."""

    def __init__(self) -> None:
        self.sure: dict[str, bytearray] = {}
        self.waiting: dict[str, list[Write | Cut]] = {}
        self.acknowledged: list[str] = []

    def take(self, event: Event) -> None:
        match event:
            case Write() | Cut():
                self.waiting.setdefault(event.file, []).append(event)
            case Sync(file=file):
                content = self.sure.setdefault(file, bytearray())
                for change in self.waiting.pop(file, []):
                    put(content, change)
            case Removed(file=file):
                self.sure.pop(file, None)
                self.waiting.pop(file, None)
            case Acknowledged(what=what):
                self.acknowledged.append(what)

    def after_a_power_cut(self, chance: random.Random) -> dict[str, bytes]:
        """The files as they might be found: some of what was waiting, in some order, one of it torn."""
        found = {name: bytearray(content) for name, content in self.sure.items()}
        for name, changes in self.waiting.items():
            kept = [change for change in changes if chance.random() < 0.5]
            if chance.random() < 0.5:
                chance.shuffle(kept)
            content = found.setdefault(name, bytearray())
            for change in kept:
                put(content, torn(change, chance) if chance.random() < 0.2 else change)
        return {name: bytes(content) for name, content in found.items()}


def put(content: bytearray, change: Write | Cut) -> None:
    match change:
        case Cut(size=size):
            del content[size:]
        case Write(offset=offset, data=data):
            content.extend(bytes(max(0, offset + len(data) - len(content))))
            content[offset : offset + len(data)] = data


def torn(change: Write | Cut, chance: random.Random) -> Write | Cut:
    """A write that ends at one of its sectors."""
    if isinstance(change, Cut) or len(change.data) <= SECTOR:
        return change
    return Write(change.file, change.offset, change.data[: SECTOR * chance.randrange(len(change.data) // SECTOR)])


def power_cuts(events: list[Event], count: int, seed: int) -> Iterator[tuple[list[str], dict[str, bytes]]]:
    """So many moments at which the power went: what was acknowledged by then, and the files as found."""
    chance = random.Random(seed)
    moments = sorted(chance.randrange(len(events)) for _ in range(count))
    disk, done = Disk(), 0
    for moment in moments:
        while done <= moment:
            disk.take(events[done])
            done += 1
        yield list(disk.acknowledged), disk.after_a_power_cut(chance)
