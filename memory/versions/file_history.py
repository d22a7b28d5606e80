"""Records versions: what others wrote as soon as it is seen, what this program or a model wrote with its cause."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import local
from typing import Final

from foundation.clock import Clock, to_ms
from foundation.files import LockTimeout, encode, list_files, list_folders, read_bytes, remove
from foundation.paths import Workspace
from memory.errors import Damaged
from memory.versions.cause import BY_HAND, FOUND, FOUND_AFTER_LOSS, Author, Cause, current_cause
from memory.versions.manifest import Version
from memory.versions.objects import content_name
from memory.versions.store import RecordedState, VersionStore

_EARLIER: Final = Cause(Author.USER, "saved by an earlier release")
_STAMP: Final = "%Y%m%dT%H%M%S.%fZ"  # of a copy's name
_COPY_MS: Final = 24 * 60 * 60 * 1000  # that a copy from before a write is kept, at least
_MOST_BYTES: Final = 2**24  # that wait to be written together


class _Waiting(local):
    """What a thread is to write at the end of `FileHistory.together`."""

    def __init__(self) -> None:
        self.is_open = False
        self.names = set[str]()
        self._states: list[RecordedState] = []
        self._size = 0

    def add(self, state: RecordedState) -> int:
        """Gives the bytes that wait."""
        self.names.add(state.path)
        self._states.append(state)
        self._size += len(state.body or b"")
        return self._size

    def take(self) -> list[RecordedState]:
        states = self._states
        self.names, self._states, self._size = set[str](), [], 0
        return states


class FileHistory:
    """Records into the versions of a workspace, one that is open read-only excepted.

    What cannot be recorded, as on a full disk, stops no write: a copy of what was replaced is kept beside all this.
    """

    def __init__(
        self, workspace: Workspace, clock: Clock, is_forgotten: Callable[[bytes], bool] = lambda _: False
    ) -> None:
        """`is_forgotten`: whether a text holds what was forgotten since it was read; it becomes no version."""
        self.is_forgotten = is_forgotten
        self.store = VersionStore(workspace.versions, clock)
        self._folder = workspace.versions
        self._is_read_only = workspace.is_read_only
        self._made: list[Version] = []  # by models, in this process
        self._together = _Waiting()
        self._has_begun = False
        self._continues = False  # there were versions before this process

    def seen(self, name: str, text: str | None) -> None:
        """Somebody else's text of a file (relative name); None where it is gone."""
        if self._begin():
            self._record(name, text, self._by_hand(name))

    def wrote(self, name: str, replaced: Iterable[bytes], text: str | bytes | None, cause: Cause | None = None) -> None:
        """What was written to a file, by `cause` or the present one, and the texts of others that it took the place
        of; None where it was removed.
        """
        if self._begin():
            for body in replaced:
                self._record(name, body, self._by_hand(name))
            self._record(name, text, cause or current_cause())

    def files(self) -> list[str]:
        """The relative names of the files that were there when they were recorded last; none where nothing is, or where
        it cannot be read."""
        with suppress(OSError):
            if self._begin():
                return [version.path for version in self.store.newest_of_all() if version.sha256]
        return []

    @contextmanager
    def together(self) -> Generator[None]:
        """What this thread records within is written at the end, and is durable together: for changes of many files."""
        if self._together.is_open:
            yield
            return
        self._together.is_open = True
        try:
            yield
        finally:
            self._together.is_open = False
            self._write(self._together.take())

    @property
    def made(self) -> tuple[int, ...]:
        """The numbers of the versions that `take_made` gives next."""
        return tuple(version.number for version in self._made)

    def take_made(self) -> tuple[Version, ...]:
        """The versions that models made through this object since the last call."""
        made, self._made = tuple(self._made), []
        return made

    def _begin(self) -> bool:
        """Whether anything is recorded here. Copies that earlier releases kept become versions first."""
        if self._is_read_only:
            return False
        if not self._has_begun:
            self._has_begun = True
            self._continues = self.store.has_begun()
            if not self._continues:
                with suppress(OSError, LockTimeout):
                    self._take_over_copies()
        return True

    def _take_over_copies(self) -> None:
        for name, copy, time in self._copies():
            self.store.record(name, read_bytes(copy), _EARLIER, time_ms=to_ms(time))

    def drop_copies(self, most: int, should_stop: Callable[[], bool] = lambda: False) -> int:
        """Deletes copies of notes from before a write that are a day old and that a version holds to the byte, at most
        so many; gives their number. Reads both. Raises OSError."""
        before = self.store.now_ms() - _COPY_MS
        versions = {version.sha256: version for version in self.store.versions()}
        count = 0
        for _, copy, time in self._copies():
            if count == most or should_stop():
                break
            if to_ms(time) >= before:
                continue
            with suppress(Damaged, FileNotFoundError):
                body = read_bytes(copy)
                version = versions.get(content_name(body))
                if version is not None and self.store.body(version) == body:
                    remove(copy)
                    count += 1
        return count

    def _copies(self) -> Iterator[tuple[str, Path, datetime]]:
        """The copies, each with the note it is of and when it was kept."""
        for folder in list_folders(self._folder):
            name = folder.name.replace("memory__", "memory/", 1)
            if not _is_note(name):
                continue
            for copy in list_files(folder):
                if (time := _time_of(copy)) is not None:
                    yield name, copy, time

    def _by_hand(self, name: str) -> Cause:
        is_new_note = self._continues and _is_note(name)  # each start looks at all notes
        if is_new_note or name in self._together.names or self.store.newest(name):
            return BY_HAND
        return FOUND_AFTER_LOSS if self.store.is_cut() else FOUND

    def _record(self, name: str, body: bytes | str | None, cause: Cause) -> None:
        raw = encode(body) if isinstance(body, str) else body
        waiting = self._together
        if name not in waiting.names and self.store.is_known(name, raw):
            return
        state = RecordedState(name, raw, cause, self.store.now_ms())
        if not waiting.is_open:
            self._write([state])
        elif waiting.add(state) > _MOST_BYTES:
            self._write(waiting.take())

    def _write(self, states: Iterable[RecordedState]) -> None:
        with suppress(OSError, LockTimeout):
            kept = [state for state in states if state.body is None or not self.is_forgotten(state.body)]
            made = self.store.record_all(kept)
            self._made += [version for version in made if version.author is Author.MODEL]


def is_versioned(name: str) -> bool:
    """Whether versions of this file (relative name) are kept."""
    *folders, last = name.split("/")
    match folders:
        case []:
            return last in {"MEMORY.md", "AGENTS.md", "SOUL.md", "system.yaml"}
        case ["memory"]:
            return last.endswith(".md") and not last.startswith(".")
        case ["skills", *_]:
            return last == "SKILL.md"
        case _:
            return False


def _is_note(name: str) -> bool:
    return name == "MEMORY.md" or name.startswith("memory/")


def _time_of(copy: Path) -> datetime | None:
    try:
        return datetime.strptime(copy.name.partition("-")[0], _STAMP).replace(tzinfo=UTC)
    except ValueError:  # not one of ours
        return None
