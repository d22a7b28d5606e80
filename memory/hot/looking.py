"""Which files are the hot memory, and whether one of them changed. Watchers are a hint; hashes are the truth."""

import hashlib
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from foundation.errors import PalimpsestError
from foundation.files import NotUtf8
from foundation.paths import Workspace
from memory.hot.notes import Note, Problem
from memory.hot.parse import parse
from memory.hot.racing import decode

_UNSURE_NS = 2_000_000_000  # a file this fresh may change again without a new time stamp (FAT counts in 2 s)

Signature = tuple[int, int, int, int]


class Seen(Struct, frozen=True):
    """A file as it was when we last looked. `signature` is None where a look at it alone cannot be trusted."""

    path: str
    signature: Signature | None
    digest: bytes
    text: str
    notes: tuple[Note, ...]
    problem: Problem | None = None


def hot_files(workspace: Workspace) -> Iterator[tuple[str, Path]]:
    """MEMORY.md and memory/*.md: relative name and path, MEMORY.md first."""
    if workspace.memory_md.is_file():
        yield "MEMORY.md", workspace.memory_md
    if workspace.memory_dir.is_dir():
        for path in sorted(workspace.memory_dir.glob("*.md")):
            if not path.name.startswith("."):
                yield f"memory/{path.name}", path


def look(workspace: Workspace, name: str, path: Path, last: Seen | None) -> Seen | None:
    """The file now: `last` itself where nothing changed, None where it is gone."""
    try:
        if problem := _unreadable(workspace, name, path):
            return last if last and last.problem == problem else Seen(name, None, b"", "", (), problem)
        now = _signature(path)
        if last and last.signature is not None and now == last.signature:
            return last
        body = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        problem = Problem(name, f"{path} cannot be read: {error.strerror or error}.")
        return last if last and last.problem == problem else Seen(name, None, b"", "", (), problem)
    digest = hashlib.sha256(body).digest()
    signature = now if time.time_ns() - max(now[0], now[1]) > _UNSURE_NS else None
    if last and last.digest == digest:
        return last if last.signature == signature else _with_signature(last, signature)
    return _read(name, path, body, digest, signature)


def _read(name: str, path: Path, body: bytes, digest: bytes, signature: Signature | None) -> Seen:
    try:
        text = decode(path, body)
    except NotUtf8 as error:
        return Seen(name, signature, digest, "", (), Problem(name, f"{error.message} {error.hint}"))
    return Seen(name, signature, digest, text, parse(text, name))


def _with_signature(seen: Seen, signature: Signature | None) -> Seen:
    return Seen(seen.path, signature, seen.digest, seen.text, seen.notes, seen.problem)


def _signature(path: Path) -> Signature:
    found = path.stat()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _unreadable(workspace: Workspace, name: str, path: Path) -> Problem | None:
    if leads_out(workspace, path):
        return Problem(name, f"{path} is a link that leads out of the workspace; it is not followed.")
    if not stat.S_ISREG(path.stat().st_mode):
        return Problem(name, f"{path} is not a file.")
    return None


def leads_out(workspace: Workspace, path: Path) -> bool:
    """Whether the path is a link, or lies in one, that ends outside of the workspace."""
    return not path.resolve().is_relative_to(workspace.root.resolve())


def refuse_unless_ours(workspace: Workspace, path: Path, error: type[PalimpsestError]) -> None:
    """Raises where writing to the path would write outside of the workspace, or to what is no file."""
    if leads_out(workspace, path):
        raise error(
            "Not written",
            f"{path} is a link that leads out of the workspace.",
            "Replace the link with a file, or open the folder it leads to as the workspace.",
        )
    if path.exists() and not path.is_file():
        raise error("Not written", f"{path} is not a file.", "Move it away; a new file is made in its place.")
