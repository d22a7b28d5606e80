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
from memory.versions.digest_line import DIGEST, body_of, with_digest

_TORN: Final = b" torn"  # at the end of a line that a crash cut off


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
    after: str = ""  # the SHA-256 of the line before, "" for the first one; `lost …` where lines before it were lost
    lost: int = 0  # how many versions those were


class ManifestLine(Struct, frozen=True):
    """A line by its number, from 1 on, and the SHA-256 of its bytes; where lines are missing before it, what it says
    that it follows, and how many versions those were: one at least."""

    number: int
    sha256: str
    lost: int = 1


class ManifestContent(Struct, frozen=True):
    """The versions that can be read, oldest first, the lines that cannot be, and those before which one is missing;
    the SHA-256 of the last line, and what that line lacks at its end."""

    versions: tuple[Version, ...] = ()
    unreadable: tuple[ManifestLine, ...] = ()
    gaps: tuple[ManifestLine, ...] = ()
    last: str = ""
    lacks: bytes = b""

    @property
    def lines(self) -> int:
        """The lines that hold a version, those that cannot be read among them."""
        return len(self.versions) + len(self.unreadable)


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

    def add(self, versions: Iterable[Version], after: str = "", lost: int = 0) -> None:
        """Appends the versions, synced at once; where so many are lost before them, `after` names those (`lost_end`).

        Raises OSError.
        """
        content = self.content()
        lines = _lines(versions, after or content.last, lost)
        append(self.path, content.lacks + b"".join(lines), sync=True)

    def rewrite(self, versions: Iterable[Version]) -> None:
        """Replaces the whole list, atomically."""
        write_atomically(self.path, b"".join(_lines(versions)))


def lost_end(newest: int) -> str:
    """What a line says that it follows, where the versions up to that number are missing before it."""
    return f"lost {newest}"


def _lines(versions: Iterable[Version], last: str = "", lost: int = 0) -> Generator[bytes]:
    """The lines of these versions after a line with the SHA-256 `last`, the first with `lost`."""
    for version in versions:
        line = _encoded(_Line(version=version, after=last, lost=lost))
        last, lost = line[:DIGEST].decode(), 0
        yield line


def _encoded(line: _Line) -> bytes:
    return with_digest(msgspec.json.encode(line)) + b"\n"


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
        if line.lost or last not in {line.after, "?"}:
            gaps.append(ManifestLine(number, line.after or hashlib.sha256(text).hexdigest(), max(1, line.lost)))
        versions.append(line.version)
        last = text[:DIGEST].decode()
    lacks = _TORN + b"\n" if rest else b""
    if (line := _decoded(rest)) is not None:  # all but its end was written
        versions.append(line.version)
        last, lacks = rest[:DIGEST].decode(), b"\n"
    return ManifestContent(tuple(versions), tuple(unreadable), tuple(gaps), last.strip("?"), lacks)


def _decoded(text: bytes) -> _Line | None:
    try:
        return None if (body := body_of(text)) is None else decode_json(body, _Line)
    except msgspec.DecodeError:
        return None
