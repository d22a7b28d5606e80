"""What the journal of checkpoints holds: file changes and the checkpoints that they belong to."""

import re
import secrets
from contextlib import suppress
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct, structs

from foundation.errors import PalimpsestError
from foundation.files import remove_folder

_BESIDE: Final = ".checkpoint"
_LONGEST_STEM: Final = 60  # characters of a name, which may be 4 bytes each of the 255 that a name may have


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
    for name in reversed(file.folders):
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
    """Microseconds since 1970."""
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
    if not path or relative.is_absolute() or ".." in relative.parts or "\0" in path or not folder.is_absolute():
        raise NotChanged("Not a path", f"{path!r} is not a relative path below {folder}.")
    return folder.joinpath(*relative.parts)
