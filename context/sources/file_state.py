"""Cached source files of the workspace, read again only when they changed."""

import hashlib
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from foundation.clock import Clock
from foundation.files.untrusted import UnreadableFile, read_own_text

_RECENT_NS = 2_000_000_000  # newer files are read again: they may change within one tick of the file clock


class SourceFile(Struct, frozen=True):
    """A file as last read. `digest` is "" for a missing file."""

    path: Path
    text: str = ""
    raw: str = ""  # as it is in the file: `text` has one kind of line end
    digest: str = ""
    signature: tuple[int, int, int] = (0, 0, 0)  # mtime in ns, bytes, inode
    problem: str = ""


def refreshed(previous: SourceFile, clock: Clock, root: Path) -> SourceFile:
    """The current state of the file: `previous` itself where its stat is unchanged.

    A link that leads out of `root` is reported as a problem, and not read.
    """
    try:
        stat = previous.path.stat()
    except FileNotFoundError:
        return previous if not previous.digest and not previous.problem else SourceFile(previous.path)
    except OSError as error:
        return SourceFile(previous.path, problem=f"it cannot be read: {error.strerror}")
    signature = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    if signature == previous.signature and not _is_recent(stat.st_mtime_ns, clock.now()):
        return previous
    return _read(previous, signature, root)


def _read(previous: SourceFile, signature: tuple[int, int, int], root: Path) -> SourceFile:
    try:
        text = read_own_text(previous.path, within=root)
    except FileNotFoundError:
        return SourceFile(previous.path)
    except UnreadableFile as error:
        return SourceFile(previous.path, signature=signature, problem=str(error))
    digest = digest_of(text)
    if digest == previous.digest:
        return SourceFile(previous.path, previous.text, previous.raw, digest, signature)
    return SourceFile(previous.path, text.replace("\r\n", "\n"), text, digest, signature)


def _is_recent(mtime_ns: int, now: datetime) -> bool:
    return now.timestamp() * 1e9 - mtime_ns < _RECENT_NS


def digest_of(text: str) -> str:
    """First 16 hex digits of the text's SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
