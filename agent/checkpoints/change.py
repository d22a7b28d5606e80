"""What the journal of checkpoints holds: file changes and the checkpoints that they belong to."""

import errno
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct, structs

from foundation.errors import PalimpsestError
from foundation.files import is_folder, remove_folder
from memory.versions.objects import MOST_BYTES

_BESIDE: Final = ".checkpoint"
_LONGEST_STEM: Final = 55  # characters, of 4 bytes each at most; with the rest, and STAGED, a name has 255 at most


class NotChanged(PalimpsestError):
    """A change of files was not made; those that were changed before it failed are as they were."""

    code = "not_changed"


class FileChange(Struct, frozen=True, kw_only=True):
    """A change that is to be made: `path` below `folder` holds `expected` and is to hold `new`; None is no file.

    `mode` are the permission bits; None keeps those of the file, or gives a new file the usual ones.
    """

    folder: Path
    """A project folder, absolute and without links."""
    path: str
    """Relative, with `/`."""
    expected: bytes | None
    new: bytes | None
    mode: int | None = None
    folders: tuple[str, ...] = ()
    """Where the file is deleted: the folders to remove with it where they are empty, outermost first."""

    @property
    def place(self) -> Path:
        return file_path(self.folder, self.path)


class ChangedFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change that was made, as the journal holds it: `before` and `after` are SHA-256 of the bytes, "" is no file.

    `beside` is the name of the temporary file. `folders` are those that were made or removed with the file, outermost
    first.
    """

    folder: str
    path: str
    before: str = ""
    after: str = ""
    mode_before: int | None = None
    mode_after: int | None = None
    beside: str = ""
    folders: tuple[str, ...] = ()

    @property
    def change(self) -> str:
        """`created`, `deleted` or `changed`."""
        return "changed" if self.before and self.after else "created" if self.after else "deleted"

    @property
    def place(self) -> Path:
        return file_path(Path(self.folder), self.path)


def remove_empty_folders(file: ChangedFile) -> None:
    """Removes the folders that were made for the file, where they are empty."""
    above = {folder.as_posix() for folder in PurePosixPath(file.path).parents}
    for name in reversed(file.folders):
        if name not in above:  # forged
            continue
        with suppress(OSError, PalimpsestError):
            remove_folder(structs.replace(file, path=name).place)


def name_beside(place: Path) -> str:
    """A name for the temporary file beside it."""
    return f".{place.name[:_LONGEST_STEM]}.{secrets.token_hex(6)}{_BESIDE}"


def is_beside(name: str, place: Path) -> bool:
    """Whether `name_beside` gives such a name for the file."""
    return bool(re.fullmatch(rf"\.{re.escape(place.name[:_LONGEST_STEM])}\.[0-9a-f]{{12}}{re.escape(_BESIDE)}", name))


class CheckpointKind(StrEnum):
    """What changed the files."""

    TOOL = "tool"
    COMMAND = "command"
    UNDO = "undo"
    REDO = "redo"
    REWIND = "rewind"


class CheckpointRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change of files that is undone as a whole.

    `message` is the user's message (an entry id) whose turn made it, `entry` the result of the tool call. `reverts`
    are the checkpoints (ids) that an undo, redo or rewind took back.
    """

    id: str
    time: int
    """Milliseconds since 1970."""
    kind: CheckpointKind
    conversation: str
    message: str = ""
    entry: str = ""
    label: str = ""
    """The tool's name or the command."""
    files: tuple[ChangedFile, ...]
    reverts: tuple[str, ...] = ()


def file_path(folder: Path, path: str) -> Path:
    """The file's path. Raises NotChanged unless `path` is relative and stays below the folder."""
    relative = PurePosixPath(path)
    is_relative = path and not relative.is_absolute() and ".." not in relative.parts and "\0" not in path
    if not is_relative or not folder.is_absolute() or ".." in folder.parts or "\0" in str(folder):
        raise NotChanged("Not a path", f"{path!r} is not a relative path below {folder}.")
    return folder.joinpath(*relative.parts)


def refuse_unusable(changes: Sequence[FileChange]) -> None:
    """Raises NotChanged where a file is named twice or too large."""
    if len({change.place for change in changes}) < len(changes):
        raise NotChanged("A file is named twice", "Each file can be changed once at a time.")
    for change in changes:
        if max(len(change.expected or b""), len(change.new or b"")) > MOST_BYTES:
            raise NotChanged("Too large", f"{change.path} is larger than {MOST_BYTES:,} bytes.")


def missing_folders(change: FileChange) -> tuple[str, ...]:
    """The folders (relative) between the project folder and the file that do not exist, outermost first."""
    above = list(change.place.relative_to(change.folder).parents)[:-1]
    return tuple(folder.as_posix() for folder in reversed(above) if not is_folder(change.folder / folder))


def is_path(file: ChangedFile) -> bool:
    """Whether the file's path can be one that a tool changed; a forged journal may name others."""
    with suppress(NotChanged):
        return bool(file.place)
    return False


def is_below(folder: str, path: str, folders: Sequence[Path]) -> bool:
    """Whether `path` below `folder` is below one of these folders."""
    with suppress(NotChanged):
        place = file_path(Path(folder), path)
        return any(place.is_relative_to(allowed) for allowed in folders)
    return False


def makes_room(changes: Sequence[FileChange], index: int) -> bool:
    """Whether the file is deleted to make room: its name becomes a folder's, or its folder's name a file's.

    Other files are deleted last, so that no text of a moved file is missing.
    """
    if changes[index].new is not None:
        return False
    place = changes[index].place
    made = (other.place for other in changes if other.new is not None)
    return any(place.is_relative_to(other) or other.is_relative_to(place) for other in made)


def reason_of(error: OSError) -> str:
    """What the system says, as the end of a sentence without its point."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    return (error.strerror or str(error)).rstrip(".")
