"""The list of versions: an append-only file with a line for each.

A line is the SHA-256 of its JSON, a space, and the JSON, which names the SHA-256 of the line before. So a changed line
is found by itself, and a missing one by the next.
"""

import hashlib
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from foundation.files import append, read_bytes, status, write_atomically
from foundation.typed_json import decode_json
from memory.versions.cause import Author

_TORN: Final = b" torn"  # at the end of a line that a crash cut off
_DIGEST: Final = 64  # characters


class Version(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file as it was from `time_ms` (since 1970) on. `sha256` is "" where it was removed then."""

    number: int
    """From 1 on, over all files; a number is never given twice."""
    path: str
    """Relative to the workspace, with `/`."""
    time_ms: int
    author: Author
    reason: str = ""
    sha256: str = ""
    size: int = 0  # bytes


class _Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    version: Version
    after: str = ""  # the SHA-256 of the line before, "" for the first one


class ManifestLine(Struct, frozen=True):
    """A line by its number, from 1 on, and the SHA-256 of its bytes."""

    number: int
    sha256: str


class ManifestContent(Struct, frozen=True):
    """The versions that can be read, oldest first, the lines that cannot be, and those before which one is missing;
    the SHA-256 of the last line, and what that line lacks at its end."""

    versions: tuple[Version, ...] = ()
    unreadable: tuple[ManifestLine, ...] = ()
    gaps: tuple[ManifestLine, ...] = ()
    last: str = ""
    lacks: bytes = b""


class Manifest:
    """Reads and writes the file at `path`. Writers hold the lock of the store."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[tuple[int, int, int], ManifestContent] | None = None

    def content(self) -> ManifestContent:
        """What the file holds. Raises OSError where it cannot be read at all."""
        found = status(self.path)
        if found is None:
            return ManifestContent()
        signature = (found.st_size, found.st_mtime_ns, found.st_ino)
        if self._read is None or self._read[0] != signature:
            self._read = (signature, _parsed(read_bytes(self.path, owned=True)))
        return self._read[1]

    def add(self, versions: Iterable[Version]) -> None:
        """Appends the versions, synced at once. Raises OSError."""
        content = self.content()
        append(self.path, content.lacks + b"".join(_lines(versions, content.last)), sync=True)

    def rewrite(self, versions: Iterable[Version]) -> None:
        """Replaces the whole list, atomically."""
        write_atomically(self.path, b"".join(_lines(versions)))


def _lines(versions: Iterable[Version], last: str = "") -> Generator[bytes]:
    """The lines of these versions after a line with the SHA-256 `last`."""
    for version in versions:
        line = _encoded(_Line(version=version, after=last))
        last = line[:_DIGEST].decode()
        yield line


def _encoded(line: _Line) -> bytes:
    body = msgspec.json.encode(line)
    return hashlib.sha256(body).hexdigest().encode() + b" " + body + b"\n"


def _parsed(body: bytes) -> ManifestContent:
    versions: list[Version] = []
    unreadable: list[ManifestLine] = []
    gaps: list[ManifestLine] = []
    last = ""
    *whole, rest = body.split(b"\n")
    for number, text in enumerate(whole, 1):
        if text.endswith(_TORN):
            continue
        line = _decoded(text)
        if line is None:
            unreadable.append(ManifestLine(number, hashlib.sha256(text).hexdigest()))
            last = "?"
            continue
        if last not in {line.after, "?"}:
            gaps.append(ManifestLine(number, hashlib.sha256(text).hexdigest()))
        versions.append(line.version)
        last = text[:_DIGEST].decode()
    lacks = _TORN + b"\n" if rest else b""
    if (line := _decoded(rest)) is not None:  # all but its end was written
        versions.append(line.version)
        last, lacks = rest[:_DIGEST].decode(), b"\n"
    return ManifestContent(tuple(versions), tuple(unreadable), tuple(gaps), last.strip("?"), lacks)


def _decoded(text: bytes) -> _Line | None:
    digest, _, body = text.partition(b" ")
    if digest != hashlib.sha256(body).hexdigest().encode():
        return None
    try:
        return decode_json(body, _Line)
    except msgspec.DecodeError:
        return None
