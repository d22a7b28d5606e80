"""Which files are the hot memory, and whether one of them changed. Watchers are a hint; hashes are the truth."""

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from foundation.errors import PalimpsestError
from foundation.files import NotUtf8, UnsafePath, is_folder, read_bytes, resolve_within, scan, status
from foundation.paths import LINKABLE, Workspace
from foundation.workspace_trust import trust_command
from memory.errors import UnwritableNotes
from memory.hot.note import HotFileProblem, Note
from memory.hot.parse import parse
from memory.hot.swap import decode

_UNSURE_NS = 2_000_000_000  # a file this fresh may change again without a new time stamp (FAT counts in 2 s)

MOST_BYTES = 32_000_000
"""Of one file: far more than anybody edits by hand."""

Signature = tuple[int, int, int, int]


class FileSnapshot(Struct, frozen=True):
    """A file as it was when we last looked. `signature` is None where a look at it alone cannot be trusted."""

    path: str
    signature: Signature | None
    digest: bytes
    text: str
    notes: tuple[Note, ...]
    problem: HotFileProblem | None = None


def hot_files(workspace: Workspace) -> Iterator[tuple[str, Path]]:
    """MEMORY.md and memory/*.md: relative name and path, MEMORY.md first."""
    if workspace.memory_md.is_file():
        yield "MEMORY.md", workspace.memory_md
    try:
        folder = memory_folder(workspace)
    except UnsafePath:
        yield "memory", workspace.memory_dir  # a problem to report, not a file
        return
    for path, _ in scan(folder, "*.md"):
        if not path.name.startswith("."):
            yield f"memory/{path.name}", path


def is_hot_name(name: str) -> bool:
    """Whether that relative name is one of a file of the hot memory."""
    return name == "MEMORY.md" or name.startswith("memory/")


def is_gone(workspace: Workspace, name: str) -> bool:
    """Whether nothing is where the file of that relative name was. False where that is not known: the folder is a link
    to what is not there now, or cannot be read."""
    try:
        if name == "MEMORY.md":
            return status(workspace.memory_md) is None
        folder = memory_folder(workspace)
        is_known = is_folder(folder) or not workspace.memory_dir.is_symlink()
        return is_known and status(folder / name.removeprefix("memory/")) is None
    except OSError:  # UnsafePath is one
        return False


def memory_folder(workspace: Workspace) -> Path:
    """Where memory/ is: a link to a folder within the workspace, or one allowed, is followed. Raises UnsafePath."""
    return resolve_within(workspace.memory_dir, workspace.bounds_of(workspace.memory_dir))


def hot_folders(workspace: Workspace) -> list[Path]:
    """The folders of the hot memory that exist."""
    folders = [workspace.root]
    with suppress(UnsafePath):
        folders.append(memory_folder(workspace))
    return [folder for folder in folders if folder.is_dir()]


def is_hot_path(workspace: Workspace, path: Path) -> bool:
    """Whether a watched path is a file of the hot memory, by the names alone: macOS tells of /private/…"""
    if path.name == "MEMORY.md":
        return path.parent.name == workspace.root.name
    return path.parent.name == workspace.memory_dir.name and path.suffix == ".md" and not path.name.startswith(".")


def snapshot_file(workspace: Workspace, name: str, path: Path, last: FileSnapshot | None) -> FileSnapshot | None:
    """The file now: `last` itself where nothing changed, None where it is gone."""
    try:
        return _looked(name, path, resolve_within(path, workspace.bounds_of(path)), last)
    except FileNotFoundError:
        return None
    except UnsafePath as error:
        leads_out = f"{path} is a link that leads out of the workspace"
        if name in LINKABLE:
            leads_out += f"; `{trust_command(workspace, '--allow', name)}` follows it."
        else:
            leads_out += "and is not followed. Replace it with the file itself."
        return _with_problem(name, leads_out if error.reason == "outside" else error.message, last)
    except OSError as error:
        return _with_problem(name, f"{path} cannot be read: {error.strerror or error}.", last)


def _looked(name: str, path: Path, target: Path, last: FileSnapshot | None) -> FileSnapshot | None:
    if (found := status(target)) is None:
        return None
    if not stat.S_ISREG(found.st_mode):
        return _with_problem(name, f"{path} is not a file.", last)
    now = _signature(found)
    if last and last.signature is not None and now == last.signature:
        return last
    if found.st_size > MOST_BYTES:
        return _with_problem(name, too_large_message(path, found.st_size), last)
    body = read_bytes(target, most=MOST_BYTES)
    digest = hashlib.sha256(body).digest()
    signature = now if time.time_ns() - max(now[0], now[1]) > _UNSURE_NS else None
    if last and last.digest == digest:
        return last if last.signature == signature else _with_signature(last, signature)
    return _parse_file(name, path, body, digest, signature)


def refuse_too_large(path: Path) -> None:
    """Raises UnwritableNotes for a file that is not read, so that it is not written either."""
    found = status(path)
    if found is not None and found.st_size > MOST_BYTES:
        raise UnwritableNotes("Not written", too_large_message(path, found.st_size), "Nothing was changed.")


def too_large_message(path: Path, size: int) -> str:
    """The sentence for a file that is not read."""
    return f"{path} has {size:,} bytes; the maximum for a memory file is {MOST_BYTES:,}: split it."


def _signature(found: os.stat_result) -> Signature:
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _parse_file(name: str, path: Path, body: bytes, digest: bytes, signature: Signature | None) -> FileSnapshot:
    try:
        text = decode(path, body)
    except NotUtf8 as error:
        problem = HotFileProblem(name, f"{error.message} {error.hint}", is_no_text=True)
        return FileSnapshot(name, signature, digest, "", (), problem)
    return FileSnapshot(name, signature, digest, text, parse(text, name))


def _with_signature(seen: FileSnapshot, signature: Signature | None) -> FileSnapshot:
    return FileSnapshot(seen.path, signature, seen.digest, seen.text, seen.notes, seen.problem)


def _with_problem(name: str, what: str, last: FileSnapshot | None) -> FileSnapshot:
    problem = HotFileProblem(name, what)
    return last if last and last.problem == problem else FileSnapshot(name, None, b"", "", (), problem)


def edit_target(workspace: Workspace, name: str, error: type[PalimpsestError]) -> Path:
    """The file that an edit of the note file `name` goes to: links within the workspace are resolved.

    Raises `error` where it is outside of the workspace, or is no file.
    """
    path = workspace.memory_md if name == "MEMORY.md" else workspace.memory_dir / name.removeprefix("memory/")
    try:
        target = resolve_within(path, workspace.bounds_of(path))
        found = status(target)
    except UnsafePath as refusal:
        link = "memory" if workspace.memory_dir.is_symlink() and name != "MEMORY.md" else name
        wanted = f"To allow it: `{trust_command(workspace, '--allow', link)}`.  " if link in LINKABLE else ""
        raise error(
            "Not written",
            f"{workspace.root / link} is a link that leads out of the workspace.",
            f"{wanted}{'Else replace' if wanted else 'Replace'} the link with its target.",
        ) from refusal
    if found is not None and not stat.S_ISREG(found.st_mode):
        raise error("Not written", f"{path} is not a file.", "Move it away; a new file is made in its place.")
    return target
