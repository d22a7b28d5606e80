"""Plans and makes undo, redo and rewind: takes checkpoints back, the newest first, from the files as they are now."""

import stat
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct, structs

from agent.checkpoints.change import ChangedFile, CheckpointKind, CheckpointRecord, FileChange, NotChanged
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.conflicts import keep_beside
from agent.checkpoints.line_matcher import LineMatcher
from agent.checkpoints.merge import Conflict, FileState, take_back
from foundation.errors import PalimpsestError
from foundation.files import is_file, is_folder, read_bytes, scan
from foundation.files.conditional import UnexpectedContent, permission_bits
from memory.errors import Damaged
from memory.versions.objects import MOST_BYTES

_ATTEMPTS: Final = 5  # against a person who saves meanwhile
_STATE_FOLDER: Final = ".palimpsest"
_IS_FOLDER: Final = "is a folder now"


class PlannedFile(Struct, frozen=True, kw_only=True):
    """One file of a plan. `problem` is a clause that says why the file stays as it is; "" where it is restored."""

    file: ChangedFile
    """The oldest change that is taken back."""
    now: FileState
    wanted: FileState
    merged: bool = False
    """Edits that were made in between are kept."""
    folders: tuple[str, ...] = ()
    problem: str = ""
    added: int = 0
    removed: int = 0
    command: bool = False
    """A command changed it, too."""

    @property
    def is_change(self) -> bool:
        return not self.problem and self.now != self.wanted

    @property
    def verb(self) -> str:
        """What happens to the file, in a word."""
        if self.problem or not self.is_change:
            return "keep"
        if self.wanted.body is None:
            return "delete"
        return "merge" if self.merged else "restore"

    @property
    def effect(self) -> str:
        """What happens to the file, as a phrase."""
        if self.problem:
            return f"not restored, it {self.problem}"
        if not self.is_change:
            return "already restored"
        if self.wanted.body is None:
            return "deleted, because it was created then"
        lines = f"+{self.added} −{self.removed}" if self.added or self.removed else "contents"
        what = (
            "created again" if self.now.body is None else "permissions" if self.now.body == self.wanted.body else lines
        )
        return what + (", keeping later edits" if self.merged else "")


class RestorePlan(Struct, frozen=True):
    """What taking back `records` (newest first) does to the files."""

    records: tuple[CheckpointRecord, ...]
    files: tuple[PlannedFile, ...]

    @property
    def changes(self) -> tuple[PlannedFile, ...]:
        return tuple(file for file in self.files if file.is_change)

    @property
    def conflicts(self) -> tuple[PlannedFile, ...]:
        return tuple(file for file in self.files if file.problem)


class Restored(Struct, frozen=True):
    """What was done. `kept` are the versions of files with a conflict: the file, and where its version is; `unkept`
    those that could not be written there: the file, and why. They are in the checkpoint still."""

    plan: RestorePlan
    record: CheckpointRecord
    kept: tuple[tuple[Path, Path], ...] = ()
    unkept: tuple[tuple[Path, str], ...] = ()


def plan_restore(checkpoints: Checkpoints, records: Sequence[CheckpointRecord], folders: Sequence[Path]) -> RestorePlan:
    """The plan of taking the checkpoints (oldest first) back. Only files below `folders` are to be touched."""
    newest_first = tuple(reversed(records))
    by_path: dict[Path, list[tuple[CheckpointRecord, ChangedFile]]] = {}
    for record in newest_first:
        for file in record.files:
            by_path.setdefault(file.place, []).append((record, file))
    planned = [_planned(checkpoints, place, steps, folders) for place, steps in sorted(by_path.items())]
    made = {Path(file.file.folder, name) for file in planned for name in file.folders}
    planned = [structs.replace(file, folders=_above(file.file, made)) for file in planned]
    deleted = [file for file in planned if file.is_change and file.wanted.body is None]
    gone = {file.file.place for file in deleted}
    gone |= {Path(file.file.folder, name) for file in deleted for name in file.folders}
    return RestorePlan(newest_first, tuple(_unless_in_the_way(file, gone) for file in planned))


def restore(
    checkpoints: Checkpoints, records: Sequence[CheckpointRecord], kind: CheckpointKind, folders: Sequence[Path]
) -> Restored:
    """Takes the checkpoints back, as one checkpoint of its own. Files with a conflict stay as they are, and the
    version that was to be restored is kept beside. Raises NotChanged, PalimpsestError."""
    for _ in range(_ATTEMPTS):
        plan = plan_restore(checkpoints, records, folders)
        with suppress(UnexpectedContent):
            record = _make(checkpoints, plan, kind)
            return Restored(plan, record, *_keep_conflicts(checkpoints, plan, record))
    raise NotChanged("Not restored", "The files keep changing.", "Try again.")


def _make(checkpoints: Checkpoints, plan: RestorePlan, kind: CheckpointKind) -> CheckpointRecord:
    """Makes what can be made. The checkpoints count as taken back, also where no file could be restored: otherwise
    the same ones would be tried for ever."""
    changes = [
        FileChange(
            folder=Path(planned.file.folder),
            path=planned.file.path,
            expected=planned.now.body,
            new=planned.wanted.body,
            mode=planned.wanted.mode,
            folders=planned.folders,
        )
        for planned in plan.changes
    ]
    reverts = tuple(record.id for record in plan.records)
    return checkpoints.make(changes, kind, reverts=reverts, conversation=plan.records[0].conversation)


def _keep_conflicts(
    checkpoints: Checkpoints, plan: RestorePlan, record: CheckpointRecord
) -> tuple[tuple[tuple[Path, Path], ...], tuple[tuple[Path, str], ...]]:
    """Keeps the versions; those kept, and those that could not be, each with the reason."""
    kept: list[tuple[Path, Path]] = []
    unkept: list[tuple[Path, str]] = []
    for planned in plan.conflicts:
        file = planned.file
        with suppress(Damaged):  # the plan's problem says so
            if file.before:
                body = checkpoints.blobs.get(file.before)
                try:
                    kept.append((file.place, keep_beside(checkpoints.folder, record.id, file, body)))
                except (OSError, PalimpsestError) as error:
                    reason = error.message if isinstance(error, PalimpsestError) else error.strerror or str(error)
                    unkept.append((file.place, reason.rstrip(".")))
    return tuple(kept), tuple(unkept)


def _planned(
    checkpoints: Checkpoints,
    place: Path,
    steps: Sequence[tuple[CheckpointRecord, ChangedFile]],
    folders: Sequence[Path],
) -> PlannedFile:
    oldest = steps[-1][1]
    made = max((file.folders for _, file in steps if not file.before), key=len, default=())
    command = any(record.kind is CheckpointKind.COMMAND for record, _ in steps)

    planned = partial(PlannedFile, file=oldest, folders=made, command=command)
    unread = partial(planned, now=FileState(None), wanted=FileState(None))
    if not any(place.is_relative_to(folder) for folder in folders):
        return unread(problem="is not in the current project folders")
    if _STATE_FOLDER in {part.casefold() for part in PurePosixPath(oldest.path).parts}:
        return unread(problem="belongs to Palimpsest's own state")
    try:
        now = state = _present(place)
        merged = False
        for _, file in steps:
            before, after = (
                _stored(checkpoints, file.before, file.mode_before),
                _stored(checkpoints, file.after, file.mode_after),
            )
            found = take_back(state, before, after)
            if isinstance(found, Conflict):
                problem = _IS_FOLDER if is_folder(place) else found.reason
                return planned(now=now, wanted=now, problem=problem)
            merged = merged or (state.body not in (before.body, after.body))
            state = found
    except PalimpsestError as error:
        return unread(problem=f"cannot be restored: {error.message.rstrip('.')}")
    except OSError as error:
        return unread(problem=f"cannot be read: {error.strerror}")
    added, removed = line_counts(now.body, state.body)
    return planned(now=now, wanted=state, merged=merged, added=added, removed=removed)


def _above(file: ChangedFile, made: set[Path]) -> tuple[str, ...]:
    """Those of the folders that the file lies in, as the journal names them: outermost first."""
    root = Path(file.folder)
    inner = (folder for folder in reversed(file.place.parents) if folder in made and folder.is_relative_to(root))
    return tuple(folder.relative_to(root).as_posix() for folder in inner)


def _unless_in_the_way(planned: PlannedFile, gone: set[Path]) -> PlannedFile:
    """The plan of the file; a conflict where it would be made, and in its place is a folder that stays, or in that of
    a folder above it a file. `gone` are the files and folders that the plan deletes."""
    place = planned.file.place
    if planned.problem or planned.wanted.body is None:
        return planned
    if is_folder(place) and not _is_emptied(place, gone):
        return structs.replace(planned, wanted=planned.now, problem=_IS_FOLDER)
    above = (folder for folder in place.parents if folder.is_relative_to(planned.file.folder))
    if any(is_file(folder) and folder not in gone for folder in above):
        return structs.replace(planned, wanted=planned.now, problem="would be below a path that is now a file")
    return planned


def _is_emptied(folder: Path, gone: set[Path]) -> bool:
    return folder in gone and all(
        _is_emptied(path, gone) if stat.S_ISDIR(found.st_mode) else path in gone for path, found in scan(folder)
    )


def _present(place: Path) -> FileState:
    try:
        return FileState(read_bytes(place, most=MOST_BYTES), permission_bits(place))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return FileState(None)


def _stored(checkpoints: Checkpoints, name: str, mode: int | None) -> FileState:
    return FileState(checkpoints.blobs.get(name), mode) if name else FileState(None)


def line_counts(before: bytes | None, after: bytes | None) -> tuple[int, int]:
    """Lines added and removed; (0, 0) for what is no text."""
    if b"\0" in (before or b"") or b"\0" in (after or b""):
        return 0, 0
    old, new = (before or b"").splitlines(), (after or b"").splitlines()
    opcodes = LineMatcher(old, new).get_opcodes()
    same = sum(end - start for tag, start, end, _, _ in opcodes if tag == "equal")
    return len(new) - same, len(old) - same
