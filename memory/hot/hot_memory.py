"""Hot memory: the user's Markdown notes (MEMORY.md and memory/*.md), read, extended and edited."""

from collections import defaultdict, deque
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from threading import RLock
from typing import Final

from foundation.clock import Clock
from foundation.errors import Misuse, TemporaryFailure
from foundation.files import (
    NotUtf8,
    encode,
    list_files,
)
from foundation.paths import Workspace
from foundation.privacy import Cleared
from foundation.program import PROGRAM
from foundation.workspace_trust import trust_command
from memory.errors import NoSuchNote, NoteChanged, UnwritableNotes
from memory.hot.edits import (
    Edit,
    append_entry,
    as_items,
    find_rewritten,
    heading_after,
    heading_for,
    one_line,
    remove_note,
    rewrite_note,
    split_heading,
)
from memory.hot.files import (
    FileSnapshot,
    edit_target,
    hot_files,
    hot_folders,
    is_gone,
    is_hot_name,
    is_hot_path,
    refuse_too_large,
    snapshot_file,
)
from memory.hot.lock import NotesLock
from memory.hot.merge import merge
from memory.hot.note import HotFile, HotFileProblem, Note, TextChange
from memory.hot.parse import parse
from memory.hot.recovery import RecentVersion, settle_leftovers, target_name
from memory.hot.swap import ExposedStates, PreparedWrites, apply_edit, merge_or_append, merge_or_keep
from memory.hot.versions import Versions
from memory.versions.cause import caused_by
from memory.versions.file_history import FileHistory

_LATE_BYTES: Final = 32_000_000  # of versions that are still read again for late writes


class HotMemory:
    """MEMORY.md and memory/*.md of one workspace. Safe to use from several threads and processes."""

    def __init__(self, workspace: Workspace, clock: Clock, history: FileHistory | None = None) -> None:
        self._workspace = workspace
        self._clock = clock
        self._history = history or FileHistory(workspace, clock)
        self._versions = Versions(workspace.versions, self._history.is_forgotten)
        self._came_out: list[bytes] = []  # of others, in the write under way
        self._seen: dict[str, FileSnapshot] = {}
        self._unreported: set[str] = set()
        self._only_ours: set[str] = set()  # of those unreported, files that nobody else changed
        self._ours: set[str] = set()  # files whose last known text we wrote
        self._exposed: defaultdict[str, ExposedStates] = defaultdict(ExposedStates)
        self._late: deque[RecentVersion] = deque()
        self._has_read = False
        self._lock = RLock()
        self._between_processes = NotesLock(workspace)

    def refresh(self, *, ours: bool = True) -> list[str]:
        """Files (relative names) that changed, appeared or disappeared since the last refresh; the first call returns
        all.

        Without `ours`, files that only this memory itself changed are left out.
        """
        with self._lock:
            self._read_changes()
            changed = sorted(self._unreported if ours else self._unreported - self._only_ours)
            self._unreported.clear()
            self._only_ours.clear()
            return changed

    def look(self) -> None:
        """Reads the files again for `notes`; their changes are reported by the next `refresh`."""
        with self._lock:
            self._read_changes()

    def notes(self) -> tuple[Note, ...]:
        """Every note as of the last look, MEMORY.md's first, in the order of the files."""
        with self._lock:
            self._ensure_read()
            return tuple(note for seen in self._seen.values() for note in seen.notes)

    def note(self, id: str) -> Note:  # noqa: A002  (the field's own word)
        """The note with this id as of the last look; raises NoSuchNote."""
        found = next((note for note in self.notes() if note.id == id), None)
        if found is None:
            raise NoSuchNote(
                "No such note", f"No note has the id {id}.", f"`{PROGRAM} memory list` shows the notes and their ids."
            )
        return found

    @property
    def problems(self) -> tuple[HotFileProblem, ...]:
        """Files that could not be read as of the last look, and why."""
        with self._lock:
            self._ensure_read()
            return tuple(seen.problem for seen in self._seen.values() if seen.problem)

    def files(self) -> tuple[HotFile, ...]:
        """Every file as of the last look, MEMORY.md first."""
        with self._lock:
            self._ensure_read()
            return tuple(HotFile(name, seen.text, len(seen.notes), seen.problem) for name, seen in self._seen.items())

    def replace_text(self, name: str, base: str, text: Cleared) -> str:
        """Gives a file a new text, made from `base`; gives what it holds then. What others changed meanwhile is merged.

        Raises NoteChanged, with the file unchanged, where they changed the same lines.
        """
        with self._writing(name):
            self._replace(name, base, text)
            return self._seen[name].text if name in self._seen else ""

    def replace_texts(self, changes: Sequence[TextChange]) -> list[str]:
        """As `replace_text` for many files, which are durable together at the end; gives the names of those that were
        written. One that was edited stays as it is where its new text is empty. Raises TemporaryFailure, after which
        any of them may be written.
        """
        prepared, ready, written = PreparedWrites(), list[TextChange](), list[str]()
        with self._writing(), self._history.together():
            try:
                for change in changes:
                    with suppress(UnwritableNotes):
                        prepared.prepare(self._read_newest(change.name), change.text)
                        ready.append(change)
                prepared.sync()
                for change in ready:
                    with suppress(NoteChanged, UnwritableNotes), caused_by(change.cause.author, change.cause.reason):
                        self._replace(change.name, change.base, change.text, prepared)
                        written.append(change.name)
            finally:
                prepared.finish()
        return written

    def _replace(self, name: str, base: str, text: Cleared, prepared: PreparedWrites | None = None) -> None:
        seen = self._seen.get(name)
        if merge(base, seen.text if seen else "", text).leftover.strip():
            raise NoteChanged(
                "The file changed",
                f"Not saved: the same lines of {name} were changed meanwhile.",
                "Copy your text, open the file again, and insert it.",
            )
        moment = self._clock.now()
        merged = merge_or_keep if prepared else merge_or_append
        self._write(name, lambda before: merged(base, before, text, moment), prepared)

    def memory_md(self) -> str:
        """MEMORY.md as of the last look; "" where there is none."""
        with self._lock:
            self._ensure_read()
            seen = self._seen.get("MEMORY.md")
            return seen.text if seen else ""

    def remember(
        self,
        text: Cleared,
        *,
        heading: Cleared | None = None,
        conversation: str | None = None,
        file: str = "MEMORY.md",
    ) -> Note:
        """Appends an entry to the timeline of MEMORY.md, or of another file (relative name).

        Without a heading its first words become the heading.
        """
        title, body = one_line(heading or ""), str(text)
        if not title:
            title, body = split_heading(body)
        if not text.strip() and not heading:
            raise Misuse("Nothing to remember", "The text is empty.", f"Give the text: {PROGRAM} remember TEXT")
        with self._writing(file):
            moment = self._free_moment(file, title)
            now = self._write(file, append_entry(file, moment, title, body, conversation))
            return next(note for note in now if note.time == moment and note.heading == title)

    def rewrite(self, note_id: str, text: Cleared) -> Note:
        """Gives a note a new text. Its time, link and heading stay, and so does its id where it has a time or heading.

        A heading made from the old text's first words is made from the new text's, and the id with it. A concurrent
        edit by the user is merged. Where that fails, the user's text stays, and ours becomes an entry of its own, which
        is returned.
        """
        seen = self.note(note_id)
        with self._writing(seen.path):
            heading = heading_after(seen, text) or one_line(heading_for(text))
            moment = self._free_moment(seen.path, heading)
            now = self._write(seen.path, rewrite_note(seen, text, (moment, heading)))
        wanted = as_items(text).rstrip("\n")
        found = (
            next((note for note in now if note.time == moment and note.heading == heading), None)
            or next((note for note in now if note.id == note_id), None)
            or find_rewritten(now, seen, text)
            or next((note for note in now if note.text == wanted), None)
        )
        if found is None:
            raise NoteChanged(
                "The note changed",
                f"{seen.ref} was changed again immediately after it was rewritten.",
                "Read it again.",
            )
        return found

    def edit(self, name: str, edit: Edit) -> None:
        """Applies the edit to a file (relative name); what was late for an earlier version of it is not waited for."""
        with self._writing(name):
            self._write(name, edit)
            self._late = deque(late for late in self._late if late.name != name)
            self._exposed.pop(name, None)

    def remove(self, note_id: str) -> None:
        """Removes a note from its file; a version is kept. Raises NoteChanged where the user changed it meanwhile."""
        seen = self.note(note_id)
        with self._writing(seen.path):
            now = self._write(seen.path, remove_note(seen))
        if any(note.id == note_id for note in now):
            raise NoteChanged(
                "The note changed",
                f"Not removed: {seen.ref} was edited since it was last read.",
                "Check it again, then remove it.",
            )

    async def watch(self) -> AsyncIterator[set[Path]]:
        """Yields changed paths of hot memory: a hint to call `refresh` soon, not a complete list."""
        from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]  (its stop_event)

        async for changes in awatch(*hot_folders(self._workspace), recursive=False, step=50):
            paths = {Path(path) for _, path in changes}
            if ours := {path for path in paths if is_hot_path(self._workspace, path)}:
                yield ours

    def _ensure_read(self) -> None:
        if not self._has_read:
            self._read_changes()

    def _read_changes(self) -> None:
        is_first = not self._has_read
        if is_first:
            self._has_read = True
            self._settle_leftovers()
        self._merge_late_writes()
        files = dict(hot_files(self._workspace))
        with self._history.together():
            for name in self._history.files() if is_first else ():  # removed while nobody looked
                if name not in files and is_hot_name(name) and is_gone(self._workspace, name):
                    self._history.seen(name, None)
            for name in [name for name in self._seen if name not in files]:
                self._note_change(name, None)
            for name, path in files.items():
                self._read_file(name, path)
        self._seen = {name: self._seen[name] for name in files if name in self._seen}

    def _read_file(self, name: str, path: Path) -> None:
        last = self._seen.get(name)
        now = snapshot_file(self._workspace, name, path, last)
        if now is last:
            return
        if now and last and now.digest == last.digest and now.problem == last.problem:
            self._seen[name] = now
            return
        self._note_change(name, now)
        if now and not now.problem and self._exposed[name].mend(now.text) != now.text:
            with suppress(TemporaryFailure, UnwritableNotes), self._file_lock():
                self._write(name, lambda text: text)

    def _note_change(self, name: str, now: FileSnapshot | None) -> None:
        last = self._seen.get(name)
        if last and name in self._ours:  # somebody replaced what we wrote: ours is kept
            self._ours.discard(name)
            self._versions.keep(name, encode(last.text), self._clock.now())
        if now is None:
            self._seen.pop(name, None)
        else:
            self._seen[name] = now
        if now is None or not now.problem:
            self._history.seen(name, now.text if now else None)
        self._unreported.add(name)
        self._only_ours.discard(name)

    @contextmanager
    def _writing(self, *names: str) -> Generator[None]:
        """Holds the locks of this process and between processes, with the newest texts of these files read."""
        with self._lock, self._file_lock():
            self._ensure_read()
            self._merge_late_writes()
            for name in names:
                self._read_newest(name)
            try:
                yield
            except TemporaryFailure:
                self._has_read = False  # what lies beside the file is settled at the next look
                raise

    def _read_newest(self, name: str) -> Path:
        """Reads the file that is to be written; its path. Raises UnwritableNotes where its notes cannot be known."""
        path = edit_target(self._workspace, name, UnwritableNotes)
        refuse_too_large(path)
        self._read_file(name, path)
        if (seen := self._seen.get(name)) and seen.problem and not seen.digest:
            raise UnwritableNotes(
                "Not written", seen.problem.text, "Nothing was changed. Check the disk, then try again."
            )
        return path

    @contextmanager
    def _file_lock(self) -> Generator[None]:
        if self._workspace.is_read_only:
            raise UnwritableNotes(
                "The workspace is not trusted",
                f"{self._workspace.root} is open read-only: nothing is written to it.",
                f"If it is yours: `{trust_command(self._workspace)}`, then try again.",
            )
        with self._between_processes.held():
            yield

    def _write(self, name: str, edit: Edit, prepared: PreparedWrites | None = None) -> tuple[Note, ...]:
        """Applies the edit, reads the file again, and returns the notes of the text that was written."""
        path = edit_target(self._workspace, name, UnwritableNotes)
        exposed = self._exposed[name]
        self._came_out.clear()
        try:
            moment = self._clock.now()
            text = apply_edit(path, edit, lambda file, body: self._keep(name, file, body), moment, exposed, prepared)
        except OSError as error:
            raise UnwritableNotes(
                "Not written",
                f"{error.filename or path} could not be written: {error.strerror or error}.",
                "Nothing was changed. Free some space or allow writing there, then try again.",
            ) from error
        theirs = [body for body in self._came_out if not exposed.has(body.decode("utf-8", "replace"))]
        self._history.wrote(name, theirs, text)
        alone = name not in self._unreported or name in self._only_ours
        self._read_file(name, path)
        if (seen := self._seen.get(name)) and seen.text == text:
            if alone:
                self._only_ours.add(name)
            self._ours.add(name)
            return seen.notes
        self._versions.keep(name, encode(text), self._clock.now())
        return parse(text, name)

    def _keep(self, name: str, file: Path, body: bytes) -> None:
        self._came_out.append(body)
        place = self._versions.take(name, file, body, self._clock.now())
        self._late.append(RecentVersion(name, place, body))
        while len(self._late) > 1 and sum(late.size for late in self._late) > _LATE_BYTES:
            self._late.popleft()

    def _merge_late_writes(self) -> None:
        """Merges writes that went to a kept version, by an editor that had the file open during the exchange."""
        for late in list(self._late):
            if (content := late.changed_content()) is None:
                if late.is_over:
                    self._late.remove(late)
                continue
            self._late.remove(late)
            with suppress(NotUtf8, TemporaryFailure, UnwritableNotes), self._file_lock():
                self._write(late.name, late.edit(content, self._clock.now()))
            self._late.append(RecentVersion(late.name, late.place, content))

    def _settle_leftovers(self) -> None:
        folders = hot_folders(self._workspace)
        if not any(list_files(folder, ".*.md.*") for folder in folders):
            return
        with suppress(TemporaryFailure, UnwritableNotes), self._file_lock():
            for folder in folders:
                prefix = "" if folder == self._workspace.root else "memory/"
                settle_leftovers(
                    folder,
                    lambda file, body, prefix=prefix: self._keep(prefix + target_name(file), file, body),
                    self._clock.now(),
                )

    def _free_moment(self, name: str, heading: str) -> datetime:
        """Now, to the second; or the next second without an entry of this heading."""
        seen = self._seen.get(name)
        taken = {note.time for note in seen.notes if note.heading == heading} if seen else set[datetime | None]()
        moment = self._clock.now().replace(microsecond=0)
        while moment in taken:
            moment += timedelta(seconds=1)
        return moment
