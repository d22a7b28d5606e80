"""Notes between devices: what a person changed becomes a version, and what others changed is merged into the file.

A file that holds something private or a secret goes nowhere, and nothing is merged into it: it stays as it is.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import apsw
import msgspec
from msgspec import Struct

from foundation.clock import to_ms
from foundation.privacy import clear
from foundation.terminal_text import visible_line
from memory.cold.encoding import to_bytes
from memory.cold.note_lines import heard_of, pack_heard, stored_heard, take_forgotten
from memory.cold.note_names import due_names, heard_names, settle_names
from memory.cold.sql import fetch, first, run
from memory.cold.sync_clock import tick
from memory.errors import UnwritableNotes
from memory.hot.merge import is_empty
from memory.hot.move import remove_unchanged
from memory.hot.note import HotFile, TextChange
from memory.memory import Memory
from memory.sync.device import this_device
from memory.sync.limits import note_fits
from memory.sync.note_graph import heads_of, merged_text
from memory.sync.note_store import NoteVersion, is_hidden_name, is_note, put_version, version_id, versions_of
from memory.sync.operation import NoteOperation
from memory.versions.cause import Author, Cause, caused_by

T = TypeVar("T")

_LONGEST_NAME: Final = 60
_AT_ONCE: Final = 200  # notes
_MOST_AT_ONCE: Final = 2**23  # characters of them
_NAMES: Final = "SELECT id, name FROM sync_devices UNION ALL SELECT id, name FROM sync_device"
_NOTHING: Final = hashlib.sha256(b"").digest()
_TO_MERGE: Final = """SELECT DISTINCT path FROM sync_notes LEFT JOIN sync_merged USING (path)
    WHERE stale IS NOT 0 ORDER BY path"""
_RECORD: Final = """INSERT INTO sync_merged (path, heads, sha256, stale) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (path) DO UPDATE SET heads = ?2, sha256 = ?3, stale = stale AND ?4, held_by = '', held_lines = 0"""
_TAKEN_OVER: Final = """INSERT OR REPLACE INTO sync_merged (path, heads, sha256, stale, heard)
    VALUES (?, ?, ?, 1, ?)"""
_RENAMED: Final = Cause(Author.SYNC, "its name was forgotten on another device")
_HOLD: Final = "UPDATE sync_merged SET held_by = ?, held_lines = ? WHERE path = ?"
_HEARD: Final = "UPDATE sync_merged SET heard = ? WHERE path = ?"


class ChangedNote(Struct, frozen=True):
    """A note file into which something of other devices was written, and their names."""

    path: str
    devices: tuple[str, ...]


class KeptNote(Struct, frozen=True):
    """A note file that was deleted on some devices and is kept, since others edited it at the same time: the names of
    both, "" for this device."""

    path: str
    deleted_on: tuple[str, ...]
    edited_on: tuple[str, ...]


class _Merged(Struct, frozen=True):
    """What a file held when its versions were last put together, and which versions those were. `stale`: others have
    arrived since. `heard`: the forgettings whose lines it is without."""

    heads: tuple[str, ...] = ()
    sha256: bytes = _NOTHING
    stale: bool = True
    heard: tuple[int, ...] = ()


class _Merge(Struct, frozen=True):
    """What a file holds now, what its versions make together, their heads, and the other devices that made these.
    `kept`: an edit and a deletion met in it, which nobody was told of yet."""

    path: str
    now: str
    text: str
    heads: tuple[str, ...]
    devices: tuple[str, ...]
    kept: KeptNote | None

    @property
    def lost(self) -> int:
        """How many lines fewer the file has then; an edit of lines removes none."""
        return max(0, _lines(self.now) - _lines(self.text))


class NoteSync:
    """The notes of one workspace. `held_back`: files that stay on this device, after `collect`. `renamed`: the names
    that notes were given, for those of before were forgotten on another device. `kept`: the notes that were deleted and
    stay, after `spread`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._cold = memory.cold
        self.held_back: tuple[str, ...] = ()
        self.renamed: list[str] = []
        self.kept: list[KeptNote] = []

    def collect(self, device: str) -> int:
        """Makes a version of each file that was changed here; gives their number. Call it before others' are read."""
        self._memory.hot.look()
        files = {file.path: file for file in self._memory.hot.files() if is_note(file.path)}
        hidden = {file.path for file in self._memory.hot.files() if is_hidden_name(file.path)}
        unreadable = {path for path, file in files.items() if file.problem}
        texts = {path: file.text for path, file in files.items() if path not in unreadable}
        due = self._due(files)
        for (path,) in self._cold.read(lambda db: fetch(db, "SELECT path FROM sync_merged")):
            if path not in unreadable and is_note(path) and path not in due.values():
                texts.setdefault(path, "")  # deleted
        kept = {path for path, text in texts.items() if clear(text) != text or not note_fits(to_bytes(text))}
        self.held_back = tuple(sorted(kept | unreadable | hidden))
        merged = self._cold.read(_all_merged)
        changed = [
            (path, text)
            for path, text in sorted(texts.items())
            if path not in kept and path not in due and _digest(text) != merged.get(path, _NOTHING)
        ]
        count = 0
        for some in _portions(changed, lambda item: len(item[1])):
            count += self._cold.write(lambda db, some=some: sum(self._collect(db, device, *item) for item in some))
        self._rename_due()
        return count

    def spread(
        self, should_stop: Callable[[], bool] = lambda: False, may_remove: Callable[[int], bool] = lambda _: True
    ) -> list[ChangedNote]:
        """Writes what all known versions make together into files that have new ones; gives those that it changed. A
        merge that removes so many lines that `may_remove` refuses waits for `answer`."""
        self._rename_due()
        changed: list[ChangedNote] = []
        merges = (merge for merge in self._merges(should_stop) if may_remove(merge.lost) or self._hold(merge))
        for some in _portions(merges, lambda merge: len(merge.now) + len(merge.text)):
            changed += self._write(some)
        return changed

    def answer(self, paths: Collection[str], *, accept: bool) -> None:
        """Writes the merges of these files that waited, or makes what the files hold a version that replaces them."""
        merges = [merge for merge in self._merges(lambda: False) if merge.path in paths]
        if accept:
            self._write(merges)
            return
        own = self._cold.read(this_device)
        assert own is not None

        def refuse(db: apsw.Connection) -> None:
            for merge in merges:
                body = to_bytes(merge.now)
                id_ = self._put(db, own.id, merge.path, _Merged(merge.heads), body)
                _record(db, merge.path, (id_,), body, stale=False)

        self._cold.write(refuse)

    def _hold(self, merge: "_Merge") -> bool:
        """Notes that the merge waits; False, so that it is not written."""
        values = (", ".join(merge.devices) or "another device", merge.lost, merge.path)
        self._cold.write(lambda db: run(db, _HOLD, values))
        return False

    def _collect(self, db: apsw.Connection, device: str, path: str, text: str) -> bool:
        before = _merged(db, path)
        body = to_bytes(text)
        if hashlib.sha256(body).digest() == before.sha256:
            return False
        known = versions_of(db, path) if before.stale else []
        if known and merged_text(known) == text:  # written by a run that was cut off before it was noted
            _record(db, path, tuple(head.id for head in heads_of(known)), body, stale=False)
            return False
        id_ = self._put(db, device, path, before, body)
        _record(db, path, (id_,), body, stale=True)  # where it was so: others may have versions that are not merged yet
        return True

    def _put(self, db: apsw.Connection, device: str, path: str, before: "_Merged", body: bytes) -> str:
        """Makes a version of what the file holds; its id."""
        clock = tick(db, to_ms(self._cold.clock.now()))
        heard = tuple(sorted({*before.heard, *heard_names(db, self._cold.secret, path, before.heads)}))
        id_ = version_id(path, before.heads, body, clock, device, heard)
        version = NoteOperation(
            id=id_, path=path, parents=before.heads, text=body, clock=clock, device=device, heard=heard
        )
        put_version(db, version, own=True)
        take_forgotten(db, self._cold.secret, id_)  # heard of, and not taken out of the file yet
        return id_

    def _due(self, files: Iterable[str]) -> dict[str, str]:
        """The names of before that files here have still, with those that they are to get."""

        def read(db: apsw.Connection) -> dict[str, str]:
            merged = (path for (path,) in fetch(db, "SELECT path FROM sync_merged"))
            return due_names(db, self._cold.secret, (*files, *merged))

        return self._cold.read(read)

    def _rename_due(self) -> None:
        """Gives files the names that their notes have now. One that cannot be read, or is private while there is
        another of that name, waits."""
        cold = self._cold
        files = {file.path: file for file in self._memory.hot.files() if is_note(file.path)}
        waiting: list[str] = []
        for path, name in self._due(files).items():
            if self._rename(path, name, files.get(path), files.get(name)):
                self.renamed.append(name)
            else:
                waiting.append(path)
        cold.write(lambda db: settle_names(db, cold.secret, waiting))

    def _rename(self, path: str, name: str, file: HotFile | None, other: HotFile | None) -> bool:
        hot, text = self._memory.hot, file.text if file else ""
        is_kept = clear(text) != text or not note_fits(to_bytes(text))
        if (file and file.problem) or (other and (other.problem or is_kept)):
            return False
        if text and not other:
            try:
                with caused_by(_RENAMED.author, _RENAMED.reason):
                    hot.edit(name, lambda before: before or text)
            except UnwritableNotes:
                return False
        shared = None if is_kept else text
        self._cold.write(lambda db: self._take_over(db, path, name, shared, is_new=other is None))
        return file is None or remove_unchanged(hot, self._memory.workspace, file, _RENAMED)

    def _take_over(self, db: apsw.Connection, before: str, path: str, text: str | None, *, is_new: bool) -> None:
        """Notes what the file held under its name of before, and what it holds, as the note of its new one. `text`
        None: it stays on this device. `is_new`: there was no file of this name."""
        device = this_device(db)
        assert device is not None
        old, new = _merged(db, before), _merged(db, path)
        if not old.heads and is_new:
            old = new
        heads, digest = old.heads, old.sha256
        if text is not None and _digest(text) != digest:
            heads, digest = (self._put(db, device.id, path, old, to_bytes(text)),), _digest(text)
        if is_new:
            heads = tuple(sorted({*heads, *(new.heads if old is not new else ())}))
            run(db, _TAKEN_OVER, (path, msgspec.json.encode(heads).decode(), digest, pack_heard(old.heard)))
        run(db, "DELETE FROM sync_merged WHERE path = ?", (before,))
        run(db, "UPDATE sync_merged SET stale = 1 WHERE path = ?", (path,))

    def _merges(self, should_stop: Callable[[], bool]) -> Iterator[_Merge]:
        """What the versions make together, for each file that has new ones."""
        texts = {file.path: file.text for file in self._memory.hot.files()}
        own = self._cold.read(this_device)
        names = self._cold.read(lambda db: dict(fetch(db, _NAMES)))
        for (path,) in self._cold.read(lambda db: fetch(db, _TO_MERGE)):
            if should_stop():
                return
            if path in self.held_back or not is_note(path):
                continue
            now = texts.get(path, "")
            before, versions = self._cold.read(lambda db, path=path: (_merged(db, path), versions_of(db, path)))
            if _digest(now) != before.sha256:  # changed since `collect`: the next run's
                continue
            heads, text, own_id = heads_of(versions), merged_text(versions), own.id if own else ""
            others = {head.device for head in heads} - {own_id}
            kept = None
            if (met := _met_deletions(heads, before.heads)) and not is_empty(text):
                kept = KeptNote(path, *(_names({head.device for head in some}, names, own_id) for some in met))
            yield _Merge(path, now, text, tuple(head.id for head in heads), _names(others, names, own_id), kept)

    def _write(self, merges: Sequence[_Merge]) -> list[ChangedNote]:
        """Writes the files, and notes what they hold; a file that cannot be written now is the next run's."""
        changes = [
            TextChange(
                merge.path,
                merge.now,
                clear(merge.text),
                Cause(Author.SYNC, f"from {', '.join(merge.devices) or 'another device'}"),
            )
            for merge in merges
            if merge.text != merge.now
        ]
        written = set(self._memory.hot.replace_texts(changes)) if changes else set[str]()
        done = [merge for merge in merges if merge.text == merge.now or merge.path in written]

        def record(db: apsw.Connection) -> None:
            for merge in done:
                _record(db, merge.path, merge.heads, to_bytes(merge.text), stale=False)

        self._cold.write(record)
        self.kept += [merge.kept for merge in done if merge.kept]
        return [ChangedNote(merge.path, merge.devices) for merge in done if merge.path in written]


def _met_deletions(
    heads: Sequence[NoteVersion], before: Collection[str]
) -> tuple[list[NoteVersion], list[NoteVersion]] | None:
    """The deletions and the edits among the heads; None where one of them is missing, or both met before."""
    deletions = [head for head in heads if is_empty(head.text)]
    edits = [head for head in heads if not is_empty(head.text)]
    have_met = all(any(head.id in before for head in some) for some in (deletions, edits))
    return None if not deletions or not edits or have_met else (deletions, edits)


def _names(devices: Iterable[str], names: Mapping[str, str], own: str) -> tuple[str, ...]:
    """The names of devices to be shown, "" for this one."""
    return tuple("" if id_ == own else visible_line(names.get(id_, id_))[:_LONGEST_NAME] for id_ in sorted(devices))


def _portions(items: Iterable[T], size_of: Callable[[T], int]) -> Iterator[Sequence[T]]:
    """The items in portions that fit into memory and into a short transaction."""
    portion, size = list[T](), 0
    for item in items:
        portion.append(item)
        size += size_of(item)
        if len(portion) >= _AT_ONCE or size >= _MOST_AT_ONCE:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _lines(text: str) -> int:
    return sum(not line.isspace() for line in text.splitlines() if line)


def _digest(text: str) -> bytes:
    return hashlib.sha256(to_bytes(text)).digest()


def _all_merged(db: apsw.Connection) -> dict[str, bytes]:
    return dict(fetch(db, "SELECT path, sha256 FROM sync_merged"))


def _merged(db: apsw.Connection, path: str) -> _Merged:
    row = first(db, "SELECT heads, sha256, stale, heard FROM sync_merged WHERE path = ?", (path,))
    if not row:
        return _Merged()
    heads = msgspec.json.decode(row[0], type=tuple[str, ...])
    return _Merged(heads, row[1], bool(row[2]), stored_heard(row[3]))


def _record(db: apsw.Connection, path: str, heads: tuple[str, ...], body: bytes, *, stale: bool) -> None:
    values = (path, msgspec.json.encode(heads).decode(), hashlib.sha256(body).digest(), int(stale))
    run(db, _RECORD, values)
    if not stale:
        run(db, _HEARD, (pack_heard(heard_of(db, path)), path))
