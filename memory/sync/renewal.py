"""Takes what was forgotten from the locations of sync, and knows those from which it is still to be taken.

These are written down when a forgetting begins: so a kill, or a location that does not answer, leaves them for the next
`forget`, `sync now` or start of the chat.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from foundation.clock import to_ms
from foundation.errors import PalimpsestError
from foundation.files import FileLock, make_private_folder, read_bytes, remove, write_atomically
from foundation.program import PROGRAM
from foundation.terminal_text import visible_line
from foundation.typed_json import decode_json
from memory.cold.sql import fetch
from memory.forgotten.journal import ForgetJournal
from memory.memory import Memory
from memory.settings import SyncSettings
from memory.sync.encryption import open_keys
from memory.sync.forgotten import note_own
from memory.sync.place import open_sync_place
from memory.sync.status import stale_locations, untold_locations, used_locations
from memory.sync.sync import Sync

TRIED_AGAIN: Final = f"`{PROGRAM} forget`, `{PROGRAM} sync now` and the next start of the chat try again."
_COPY: Final = "a copy made by another program may contain it: delete it"
_FILE: Final = "locations.json"
_LOCK_SECONDS: Final = 10
_MOST: Final = 65_536  # bytes


class LocationAccess(Struct, frozen=True):
    """How locations are reached: the settings of sync, and the environment, which names the folder of the key."""

    settings: SyncSettings
    environment: Mapping[str, str]


class UnreachedLocation(Struct, frozen=True):
    """A location that holds what was forgotten, and why it was not taken from there."""

    location: str
    reason: str

    def __str__(self) -> str:
        return f"{self.location} ({self.reason})"


def unreached_sentence(left: Iterable[UnreachedLocation]) -> str:
    """A sentence about locations that hold it still; "" for none."""
    places = ", ".join(map(str, left))
    return f"It was deleted here, but could not be deleted from {places}. {TRIED_AGAIN}" if places else ""


def renew_locations(
    memory: Memory, access: LocationAccess, on_step: Callable[[str], None] = lambda _: None
) -> tuple[UnreachedLocation, ...]:
    """Takes what was forgotten from the locations that answer, and tells other devices there; gives those that do not
    answer. Blocks.

    A PalimpsestError from `on_step` stops it: the locations that remain are among the others.
    """
    left: list[UnreachedLocation] = []
    settings, workspace = access.settings, memory.workspace
    _note_tombstones(memory)
    for name in sorted({*stale_locations(memory), *untold_locations(memory)}.intersection(settings.locations)):
        try:
            on_step(name)
        except PalimpsestError:
            left.append(UnreachedLocation(name, "it was stopped"))
            continue
        try:
            folders = [workspace.root, *(Path(target) for _, target in workspace.links)]
            keys = open_keys(settings.recipients, access.environment)
            sync = Sync(memory, None, keys=keys, encrypts=bool(settings.recipients))
            place = open_sync_place(name, workspace.root, folders)
            sync.renew(place)
            left += [UnreachedLocation(name, f"{visible_line(copy)} {_COPY}") for copy in place.copies()]
        except (PalimpsestError, OSError) as error:
            reason = error.message.rstrip(".") if isinstance(error, PalimpsestError) else str(error)
            left.append(UnreachedLocation(name, reason))
    _pending(memory, settings.locations)
    return tuple(left)


class RemovedLocation(Struct, frozen=True):
    """A location that is none of this workspace any more; whether files that this device wrote are there."""

    name: str
    has_ours: bool


def removed_sentence(removed: Iterable[RemovedLocation]) -> str:
    """A sentence about such locations; "" for none."""
    sentences: list[str] = []
    for location in removed:
        left = (
            "files that this device wrote there may still contain it. Delete them there yourself"
            if location.has_ours
            else "devices that sync there keep their copies and are not informed"
        )
        sentences.append(f"{location.name} is no longer a location of this workspace: {left}.")
    return " ".join(sentences)


def take_removed_locations(memory: Memory, settings: SyncSettings) -> tuple[RemovedLocation, ...]:
    """Locations that were removed from the settings, and where what was forgotten since may be still: nothing takes it
    from there. Each is given once for a forgetting. Raises OSError."""
    folder = memory.workspace.forgotten
    if not _noted(folder).difference(settings.locations):
        return ()
    with _locked(folder):
        removed = (noted := _noted(folder)).difference(settings.locations)
        _write(folder, noted - removed)
    stale = stale_locations(memory)
    return tuple(RemovedLocation(name, name in stale) for name in used_locations(memory) if name in removed)


def note_locations(memory: Memory) -> None:
    """Writes down that what is forgotten now must leave each location that this device uses, and be told there.
    Raises OSError."""
    if used := used_locations(memory):
        with _locked(memory.workspace.forgotten):
            _write(memory.workspace.forgotten, {*_noted(memory.workspace.forgotten), *used})


def pending_locations(memory: Memory) -> tuple[str, ...]:
    """Locations from which a forgetting is still to be taken, or where it is to be told. Quick without any. Raises
    OSError."""
    return _pending(memory, None)


def _pending(memory: Memory, known: Collection[str] | None) -> tuple[str, ...]:
    """The same; where the locations of the settings are known, others need not be told."""
    folder = memory.workspace.forgotten
    if not _noted(folder):
        return ()
    _note_tombstones(memory)
    with _locked(folder):
        noted = _noted(folder)
        untold = [name for name in untold_locations(memory) if known is None or name in known]
        left = noted.intersection((*stale_locations(memory), *untold))
        if left != noted and not ForgetJournal(folder).open_ids():  # an open job has not come to them yet
            _write(folder, left)
    return tuple(sorted(left))


def _note_tombstones(memory: Memory) -> None:
    """Has other devices told of what was forgotten here: a forgetting writes its tombstones into a file."""
    if memory.read_only or not used_locations(memory):
        return
    tokens = memory.conversations.tombstones.tokens()
    known = memory.cold.read(lambda db: {token for (token,) in fetch(db, "SELECT token FROM sync_forgotten")})
    if new := tokens - known:
        memory.cold.write(lambda db: note_own(db, new, to_ms(memory.cold.clock.now())))


def _noted(folder: Path) -> frozenset[str]:
    with suppress(FileNotFoundError, msgspec.DecodeError):
        return frozenset(decode_json(read_bytes(folder / _FILE, most=_MOST, owned=True), list[str]))
    return frozenset()


def _write(folder: Path, locations: Iterable[str]) -> None:
    if listed := sorted(locations):
        write_atomically(folder / _FILE, msgspec.json.encode(listed))
    else:
        remove(folder / _FILE, missing_ok=True)


def _locked(folder: Path) -> FileLock:
    make_private_folder(folder)
    return FileLock(folder / "locations.lock", timeout=_LOCK_SECONDS)
