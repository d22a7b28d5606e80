"""Looks for forgotten words in every byte of a workspace.

Each file is read as it is, and so is what its zstd frames unpack to; contents that are stored as differences are put
together; of the database also every value of every table, unpacked, because a value may be spread over its pages. The
names of files and folders are looked through, too. Copies of what goes are known by their origin besides.
"""

import re
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import apsw
from msgspec import Struct

from foundation.files import UnsafePath, is_held, is_held_index, list_folders, open_for_reading, read_bytes, scan
from foundation.paths import Workspace
from memory.cold.encoding import to_bytes
from memory.cold.mirrors.parse import read_mirror
from memory.cold.sql import each, fetch
from memory.cold.store_file import StoreFile
from memory.errors import Damaged
from memory.forget.escapes import unescaped
from memory.forget.later import written_later
from memory.forget.notes import holds_besides_kept, keeps_lines
from memory.forget.own_figures import (
    DIGESTS,
    figures_of_column,
    figures_of_file,
    holds_said,
    without,
    without_own_names,
)
from memory.forget.used_paths import PLACES, PathsInUse, paths_in_use
from memory.forget.work import ForgetWork
from memory.forgotten.fingerprints import Fingerprints
from memory.versions.objects import Objects

_BLOCK: Final = 2**22
_OVERLAP: Final = 4096
_EDGE: Final = 1024  # bytes of a block that another one has in its middle
_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_LARGEST_FRAME: Final = 2**28  # bytes that one frame may unpack to
_LARGEST_OTHER: Final = 2**24  # bytes of a person's file that is read for the plan
CONTENTS: Final = ("versions/objects", "checkpoints/blobs")
_SKIPPED: Final = (".lock", ".sock")


class ScanResult(Struct, frozen=True):
    """How many files and bytes were read, and the relative names of those that hold the words, ours and others'."""

    places: int
    bytes: int
    found: tuple[str, ...] = ()
    others: tuple[str, ...] = ()  # files of the person
    kept: tuple[str, ...] = ()  # files in which the person keeps the words
    later: tuple[str, ...] = ()  # entries and notes with the words that were written since it began
    used: tuple[str, ...] = ()  # paths with the words that backups and sync need


def scan_workspace(work: ForgetWork, on_file: Callable[[int], None] = lambda _: None) -> ScanResult:
    """Looks through the whole workspace. `on_file` receives the number of files so far."""
    space = work.workspace
    later, words = written_later(work)
    prints = work.prints.without(words.prints)
    places = size = 0
    found: list[str] = []
    others: list[str] = []
    kept: list[str] = []
    allowed = _contents_of_kept(work)
    unread = {problem.path for problem in work.memory.hot.problems}  # no step changes them
    used = paths_in_use(work.memory, prints)
    for path in files_below(space.root):
        places += 1
        on_file(places)
        name = path.relative_to(space.root).as_posix()
        size += path.stat().st_size if path.exists() else 0
        is_kept = keeps_lines(work, name)
        if is_kept or work.keeps(name):
            kept.append(name)
        if work.keeps(name) or path.name in allowed:
            continue
        if is_kept:
            holds = holds_besides_kept(work, name, read_bytes(path))
        else:
            figures = figures_of_file(space, name)
            holds = holds_words(prints, path, used if used.names(space, name) else None, figures)
            own = without_own_names(space, name)
            holds = holds or holds_name(prints, own, DIGESTS if path.is_relative_to(space.state) else None)
            holds = holds or is_copy_of_it(work, path)
        if holds and path.is_relative_to(space.checkpoints) and not holds_words(prints.distinctive, path):
            kept.append(name)  # short words in a file of the person's that a tool changed
        elif holds:
            (found if is_ours(space, name) and name not in unread else others).append(name)
    for folder in folders_below(space.root):
        if holds_name(prints, without_own_names(space, name := folder.relative_to(space.root).as_posix())):
            (found if folder.is_relative_to(space.state) else others).append(f"{name}/")
    if work.memory.cold.read(lambda db: values_hold(db, prints, used)):
        found.append(f"{space.database.relative_to(space.root).as_posix()} (values)")
    for folder in CONTENTS:
        looked_for = prints.distinctive if (space.state / folder).is_relative_to(space.checkpoints) else prints
        found += _in_objects(space.state / folder, looked_for, allowed)
    return ScanResult(places, size, tuple(dict.fromkeys(found)), tuple(others), tuple(kept), tuple(later), used.paths)


def is_copy_of_it(work: ForgetWork, path: Path) -> bool:
    """Whether the file is a copy of what goes by its origin, whatever its words: of a text beside an archive any line,
    of a copy of a mirror any turn."""
    space = work.workspace
    if path.is_relative_to(space.kept_texts):
        going = work.lines_named(path.relative_to(space.root).as_posix())
        text = read_bytes(path).decode("utf-8", "replace") if going else ""
        return bool(going) and any(work.hashed(part) in going for part in (text, *text.splitlines()))
    if path.suffix != ".md" or not (path.is_relative_to(space.versions) or path.is_relative_to(space.damaged)):
        return False
    mirror = read_mirror(path)
    return mirror is not None and any(map(work.is_ref, (mirror.id, *(turn.id for turn in mirror.turns))))


def is_ours(space: Workspace, name: str) -> bool:
    """Whether this program writes the file: its state but for the person's configuration, the mirrors, the notes."""
    if name == space.config.relative_to(space.root).as_posix():
        return False
    kept_texts = "memory/archive/"
    return name.startswith((f"{space.state.name}/", "conversations/", kept_texts)) or is_note(name)


def is_note(name: str) -> bool:
    """Whether a file of that relative name is one of the notes."""
    folder, _, file = name.rpartition("/")
    return name == "MEMORY.md" or (folder == "memory" and file.endswith(".md") and not file.startswith("."))


def holds_name(prints: Fingerprints, name: str, figures: re.Pattern[bytes] | None = None) -> bool:
    """Whether a name holds any of the words. `figures` are digests of ours in it."""
    return holds_said(prints, name.encode("utf-8", "surrogateescape"), figures)


def files_below(folder: Path) -> Iterator[Path]:
    """Every regular file below the folder; links are not followed."""
    with suppress(OSError, UnsafePath):
        for path, found in scan(folder):
            if stat.S_ISDIR(found.st_mode):
                if path.name != ".git":
                    yield from files_below(path)
            elif stat.S_ISREG(found.st_mode) and not path.name.endswith(_SKIPPED):
                yield path


def own_files(space: Workspace) -> Iterator[tuple[str, bytes]]:
    """The relative names and the bytes of the person's own files, but for very large ones."""
    for path in files_below(space.root):
        name = path.relative_to(space.root).as_posix()
        with suppress(FileNotFoundError):
            if not is_ours(space, name) and path.stat().st_size <= _LARGEST_OTHER:
                yield name, read_bytes(path)


def folders_below(folder: Path) -> Iterator[Path]:
    """Every folder below the folder, the deepest first; links are not followed."""
    with suppress(OSError, UnsafePath):
        for path in list_folders(folder):
            if path.name != ".git":
                yield from folders_below(path)
                yield path


def holds_words(
    prints: Fingerprints, path: Path, used: PathsInUse | None = None, figures: re.Pattern[bytes] | None = None
) -> bool:
    """Whether the file holds any of the words, as it is or in a zstd frame. One that is gone does not. `used` are paths
    in which it may, and `figures` what the program wrote for itself."""
    if is_held_index(path):
        return False
    with suppress(FileNotFoundError), StoreFile(path) if is_held(path) else open_for_reading(path) as stream:
        before, offset, frames = b"", 0, list[int]()
        while block := stream.read(_BLOCK):
            data = before + block
            if prints.holds(data):
                said = data if figures is None else without(prints, data, figures)
                edges = _EDGE if before else 0, _EDGE if len(block) == _BLOCK else 0
                if prints.holds(said) and (used is None or used.beside(said, *edges)):
                    return True
            frames += _frames(data, offset - len(before))
            before, offset = data[-_OVERLAP:], offset + len(block)
        for at in dict.fromkeys(frames):
            stream.seek(at)
            if any(prints.holds(piece) for piece in _unpacked(stream)):
                return True
    return False


def _frames(data: bytes, offset: int) -> Iterator[int]:
    at = data.find(_MAGIC)
    while at >= 0:
        yield offset + at
        at = data.find(_MAGIC, at + 1)


def _unpacked(source: Any) -> Iterator[bytes]:
    """What the frame unpacks to, in overlapping pieces; nothing where there is none."""
    import zstandard

    before, total = b"", 0
    unpacker = zstandard.ZstdDecompressor(max_window_size=2**27)
    with suppress(zstandard.ZstdError, MemoryError), unpacker.stream_reader(source, closefd=False) as reader:
        while total < _LARGEST_FRAME and (piece := reader.read(_BLOCK)):
            yield before + piece
            before, total = piece[-_OVERLAP:], total + len(piece)


def values_hold(db: apsw.Connection, prints: Fingerprints, used: PathsInUse) -> bool:
    """Whether any value of any table holds the words."""
    return any(
        holds_said(prints, batch, figures) and (table not in PLACES or used.beside(batch))
        for table, figures, batch in values_of(db, beside=())
    )


def values_of(db: apsw.Connection, beside: Collection[str]) -> Iterator[tuple[str, re.Pattern[bytes] | None, bytes]]:
    """The values of the tables but those `beside`, some megabytes at a time, each with its table and its figures."""
    tables = [name for (name,) in fetch(db, "SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        if table in beside:
            continue
        columns = [row[1] for row in fetch(db, f'PRAGMA table_info("{table}")') if row[2].upper() in {"TEXT", "BLOB"}]
        for figures in dict.fromkeys(figures_of_column(table, column) for column in columns):
            alike = [column for column in columns if figures_of_column(table, column) is figures]
            listed = ", ".join(f'CAST("{column}" AS BLOB)' for column in alike)
            for batch in _batches(each(db, f'SELECT {listed} FROM "{table}"')):
                yield table, figures, batch


def _batches(rows: Iterator[tuple[Any, ...]]) -> Iterator[bytes]:
    """The values of the rows, unpacked, between zero bytes, some megabytes at a time."""
    parts: list[bytes] = []
    size = 0
    for row in rows:
        for value in row:
            if not value:
                continue
            whole = _whole(value)
            parts.append(whole)
            if b"\\" in whole:
                parts += map(to_bytes, unescaped(whole.decode("utf-8", "replace")))
            size += len(whole)
        if size >= _BLOCK:
            yield b"\0".join(parts)
            parts, size = [], 0
    yield b"\0".join(parts)


def _whole(value: bytes) -> bytes:
    return b"".join(_unpacked(value)) or value if value.startswith(_MAGIC) else value


def _contents_of_kept(work: ForgetWork) -> frozenset[str]:
    """Names of stored contents of files that the person keeps, in whole or but for the lines that go."""
    store, allowed = work.memory.versions.store, set[str]()
    for version in store.versions():
        if work.keeps(version.path):
            allowed.add(version.sha256)
        elif keeps_lines(work, version.path):
            with suppress(Damaged):
                if not holds_besides_kept(work, version.path, store.body(version)):
                    allowed.add(version.sha256)
    return frozenset(allowed)


def _in_objects(folder: Path, prints: Fingerprints, allowed: frozenset[str]) -> Iterator[str]:
    """Contents that hold the words once they are put together."""
    objects = Objects(folder, "content")
    for name in objects.names():
        with suppress(Damaged, OSError):
            if name not in allowed and prints.holds(objects.get(name)):
                yield f"{folder.parent.name}/{folder.name}/{name[:2]}/{name}"
