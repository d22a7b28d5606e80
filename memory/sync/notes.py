"""Notes between devices: what a person changed becomes a version, and what others changed is merged into the file.

A file that holds something private or a secret goes nowhere, and nothing is merged into it: it stays as it is.
"""

import hashlib
from collections.abc import Callable
from typing import Final

import apsw
import msgspec
from msgspec import Struct

from foundation.clock import to_ms
from foundation.privacy import clear
from foundation.terminal_text import visible_line
from memory.cold.encoding import to_bytes
from memory.cold.sql import fetch, first, run
from memory.cold.sync_clock import tick
from memory.errors import NoteChanged, UnwritableNotes
from memory.memory import Memory
from memory.sync.device import this_device
from memory.sync.limits import MOST_NOTE
from memory.sync.note_graph import heads_of, merged_text
from memory.sync.note_store import is_hidden_name, is_note, put_version, version_id, versions_of
from memory.sync.operation import NoteOperation
from memory.versions.cause import Author, caused_by

_LONGEST_NAME: Final = 60
_NOTHING: Final = hashlib.sha256(b"").digest()
_TO_MERGE: Final = """SELECT DISTINCT path FROM sync_notes LEFT JOIN sync_merged USING (path)
    WHERE stale IS NOT 0 ORDER BY path"""
_RECORD: Final = """INSERT INTO sync_merged (path, heads, sha256, stale) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (path) DO UPDATE SET heads = ?2, sha256 = ?3, stale = stale AND ?4"""


class ChangedNote(Struct, frozen=True):
    """A note file into which something of other devices was written, and their names."""

    path: str
    devices: tuple[str, ...]


class _Merged(Struct, frozen=True):
    """What a file held when its versions were last put together, and which versions those were."""

    heads: tuple[str, ...] = ()
    sha256: bytes = _NOTHING


class NoteSync:
    """The notes of one workspace. `held_back`: files that stay on this device, after `collect`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._cold = memory.cold
        self.held_back: tuple[str, ...] = ()

    def collect(self, device: str) -> int:
        """Makes a version of each file that was changed here; gives their number. Call it before others' are read."""
        self._memory.hot.look()
        files = {file.path: file for file in self._memory.hot.files() if is_note(file.path)}
        hidden = {file.path for file in self._memory.hot.files() if is_hidden_name(file.path)}
        unreadable = {path for path, file in files.items() if file.problem}
        texts = {path: file.text for path, file in files.items() if path not in unreadable}
        for (path,) in self._cold.read(lambda db: fetch(db, "SELECT path FROM sync_merged")):
            if path not in unreadable and is_note(path):
                texts.setdefault(path, "")  # deleted
        kept = {path for path, text in texts.items() if clear(text) != text or len(to_bytes(text)) > MOST_NOTE}
        self.held_back = tuple(sorted(kept | unreadable | hidden))
        changed = [(path, text) for path, text in sorted(texts.items()) if path not in kept]
        return sum(self._cold.write(lambda db, item=item: self._collect(db, device, *item)) for item in changed)

    def spread(self, should_stop: Callable[[], bool] = lambda: False) -> list[ChangedNote]:
        """Writes what all known versions make together into files that have new ones; gives those that it changed."""
        changed: list[ChangedNote] = []
        for (path,) in self._cold.read(lambda db: fetch(db, _TO_MERGE)):
            if should_stop():
                break
            if path not in self.held_back and is_note(path) and (note := self._spread(path)):
                changed.append(note)
        return changed

    def _collect(self, db: apsw.Connection, device: str, path: str, text: str) -> bool:
        before = _merged(db, path)
        body = to_bytes(text)
        if hashlib.sha256(body).digest() == before.sha256:
            return False
        clock = tick(db, to_ms(self._cold.clock.now()))
        id_ = version_id(path, before.heads, body, clock, device)
        version = NoteOperation(id=id_, path=path, parents=before.heads, text=body, clock=clock, device=device)
        put_version(db, version, own=True)
        _record(db, path, (id_,), body, stale=True)  # where it was so: others may have versions that are not merged yet
        return True

    def _spread(self, path: str) -> ChangedNote | None:
        versions = self._cold.read(lambda db: versions_of(db, path))
        heads = tuple(head.id for head in heads_of(versions))
        before = self._cold.read(lambda db: _merged(db, path))
        text = merged_text(versions)
        now = next((file.text for file in self._memory.hot.files() if file.path == path), "")
        if hashlib.sha256(to_bytes(now)).digest() != before.sha256:  # changed since `collect`: the next run's
            return None
        shown: list[str] = []
        if text != now:
            own = self._cold.read(this_device)
            others = {version.device for version in versions if version.id in heads} - {own.id if own else ""}
            shown = self._shown(sorted(others))
            try:
                with caused_by(Author.SYNC, f"from {', '.join(shown)}"):
                    self._memory.hot.replace_text(path, now, clear(text))
            except (NoteChanged, UnwritableNotes):  # the next run tries again
                return None
        self._cold.write(lambda db: _record(db, path, heads, to_bytes(text), stale=False))
        return ChangedNote(path, tuple(shown)) if text != now else None

    def _shown(self, ids: list[str]) -> list[str]:
        """The names of devices, for a person."""
        sql = "SELECT id, name FROM sync_devices UNION ALL SELECT id, name FROM sync_device"
        names: dict[str, str] = dict(self._cold.read(lambda db: fetch(db, sql)))
        return [visible_line(names.get(id_, id_))[:_LONGEST_NAME] for id_ in ids]


def _merged(db: apsw.Connection, path: str) -> _Merged:
    row = first(db, "SELECT heads, sha256 FROM sync_merged WHERE path = ?", (path,))
    return _Merged(msgspec.json.decode(row[0], type=tuple[str, ...]), row[1]) if row else _Merged()


def _record(db: apsw.Connection, path: str, heads: tuple[str, ...], body: bytes, *, stale: bool) -> None:
    values = (path, msgspec.json.encode(heads).decode(), hashlib.sha256(body).digest(), int(stale))
    run(db, _RECORD, values)
