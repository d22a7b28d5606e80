"""Paths of backups and of locations of sync: what is needed to reach them stays, though it holds forgotten words."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import apsw
import msgspec
from msgspec import Struct

from foundation.files import read_bytes
from foundation.paths import Workspace
from foundation.typed_json import decode_json
from memory.cold.sql import fetch
from memory.forgotten.fingerprints import Fingerprints
from memory.memory import Memory

PLACES: Final = ("sync_written", "sync_read")
"""Tables that name locations."""
_LOCATIONS: Final = "SELECT location FROM sync_written UNION SELECT location FROM sync_read"
_BACKUP: Final = "backup.json"  # memory.backup.reminder
_RUNS: Final = "sync.json"  # memory.sync.last_run
_FILES: Final = (_BACKUP, _RUNS, "forgotten/locations.json", "cold.db", "cold.db-wal")


class _Place(Struct, frozen=True):
    """What the notes of the last backup and of the last runs of sync say of a place."""

    place: str = ""
    location: str = ""


class PathsInUse(Struct, frozen=True):
    """Those of them that hold the words of `prints`."""

    paths: tuple[str, ...]
    prints: Fingerprints

    def names(self, space: Workspace, file: str) -> bool:
        """Whether the file of that relative name says where backups and locations are."""
        return bool(self.paths) and file in {f"{space.state.name}/{name}" for name in _FILES}

    def beside(self, data: bytes, start: int = 0, end: int = 0) -> bool:
        """Whether the data holds any of the words outside of these paths. What begins in the first `start` bytes, or
        ends in the last `end`, may be cut: another look has it whole."""
        held = [
            (at, at + len(form))
            for path in self.paths
            for form in {path.encode("utf-8", "surrogatepass"), msgspec.json.encode(path)[1:-1]}
            for at in _positions(data, form)
        ]
        spans = (span for span in self.prints.spans(data) if span.start >= start and span.end <= len(data) - end)
        return any(not any(first <= span.start and span.end <= last for first, last in held) for span in spans)


def paths_in_use(memory: Memory, prints: Fingerprints) -> PathsInUse:
    """The paths of the last backup and of all locations that were used, of which the words are a part."""

    def locations(db: apsw.Connection) -> list[str]:
        return [location for (location,) in fetch(db, _LOCATIONS)]

    paths = (*memory.cold.read(locations), *_noted(memory.workspace))
    held = (path for path in dict.fromkeys(paths) if prints.holds(path.encode("utf-8", "surrogatepass")))
    return PathsInUse(tuple(held), prints)


def _noted(space: Workspace) -> Iterator[str]:
    with suppress(OSError, msgspec.DecodeError):
        yield decode_json(read_bytes(space.own / _BACKUP, owned=True), _Place).place
    with suppress(OSError, msgspec.DecodeError):
        yield from (run.location for run in decode_json(read_bytes(space.own / _RUNS, owned=True), list[_Place]))


def _positions(data: bytes, form: bytes) -> list[int]:
    found: list[int] = []
    at = data.find(form)
    while at >= 0:
        found.append(at)
        at = data.find(form, at + 1)
    return found
