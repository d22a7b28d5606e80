"""What a location has, and what of it could not be read: for a person."""

from collections.abc import Iterable
from typing import Final

import apsw
from msgspec import Struct

from memory.backup.place import BackupPlace
from memory.cold.sql import fetch
from memory.memory import Memory
from memory.sync.device import Device, this_device
from memory.sync.inbox import waiting_counts
from memory.sync.names import SegmentName, parse_name
from memory.sync.other_logs import Unread, foreign_objects, read_segments, unread_segments
from memory.sync.own_log import DELETING, has_unwritten

_USED: Final = """SELECT location FROM sync_written WHERE current = 1 UNION SELECT location FROM sync_read"""


class OtherDevice(Struct, frozen=True):
    """Another device, by what it wrote at a location. `name` is "" before anything of it was read."""

    id: str
    name: str
    segments: int
    unread: int
    missing: tuple[int, ...]
    """Numbers of segments that are not there, though later ones are, and that were never read."""


class LocationStatus(Struct, frozen=True, kw_only=True):
    """A location now, compared with what was read of it."""

    location: str
    segments: int
    bytes: int
    devices: tuple[OtherDevice, ...]
    problems: tuple[Unread, ...]
    """Segments that could not be read, each with a sentence."""


class WorkspaceStatus(Struct, frozen=True, kw_only=True):
    """`unwritten`: something of this device is still to be written. `waiting`: entries that need one that is not here.
    `due`: conversations that another device deleted, and that are still to be deleted here."""

    device: Device | None
    unwritten: bool
    waiting: int
    due: int


def workspace_status(memory: Memory) -> WorkspaceStatus:
    def read(db: apsw.Connection) -> WorkspaceStatus:
        return WorkspaceStatus(
            device=this_device(db),
            unwritten=has_unwritten(db),
            waiting=sum(waiting_counts(db).values()),
            due=fetch(db, "SELECT count(*) FROM sync_due WHERE answer NOT IN (1, 2)")[0][0],
        )

    return memory.cold.read(read)


def location_status(memory: Memory, place: BackupPlace) -> LocationStatus:
    """Looks at the location. Changes nothing. Raises BackupUnreachable."""
    place.require()
    listed = place.sizes()
    foreign = foreign_objects(place)
    names = [name for text in listed if (name := parse_name(text)) is not None]

    def read(db: apsw.Connection) -> LocationStatus:
        done = {name for text in read_segments(db, place.name) if (name := parse_name(text)) is not None}
        device = this_device(db)
        known: dict[str, str] = dict(fetch(db, "SELECT id, name FROM sync_devices"))
        others = sorted({name.device for name in names} - {device.id if device else ""})
        return LocationStatus(
            location=place.name,
            segments=len(names),
            bytes=sum(listed.values()),
            devices=tuple(_device(id_, known.get(id_, ""), names, done) for id_ in others),
            problems=(*foreign, *(each for each in unread_segments(db, place.name) if each.name in listed)),
        )

    return memory.cold.read(read)


def _device(id_: str, name: str, names: Iterable[SegmentName], done: set[SegmentName]) -> OtherDevice:
    there = {each for each in names if each.device == id_}
    numbers = {each.number for each in there | done if each.device == id_}
    missing = sorted(set(range(1, max(numbers, default=0) + 1)) - numbers)
    return OtherDevice(id_, name, len(there), len(there - done), tuple(missing[:20]))


def stale_locations(memory: Memory) -> list[str]:
    """Locations where a segment of this device holds something that was deleted here since: the next sync writes it
    anew."""
    sql = "SELECT DISTINCT location FROM sync_written WHERE stale = 1 AND current = 1 ORDER BY location"
    return [location for (location,) in memory.cold.read(lambda db: fetch(db, sql))]


def untold_locations(memory: Memory) -> list[str]:
    """Locations where other devices cannot read yet what was deleted or forgotten here."""
    sql = f"""SELECT l.location FROM ({_USED}) l WHERE EXISTS (
        SELECT 1 FROM ({DELETING}) s
        WHERE NOT EXISTS (SELECT 1 FROM sync_written w
            WHERE w.location = l.location AND w.number = s.segment AND w.current = 1 AND w.stale = 0))
        ORDER BY l.location"""
    return [location for (location,) in memory.cold.read(lambda db: fetch(db, sql))]


def used_locations(memory: Memory) -> list[str]:
    """Locations at which this device wrote, or of which it read."""
    return sorted(location for (location,) in memory.cold.read(lambda db: fetch(db, _USED)))
