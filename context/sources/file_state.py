"""The workspace's files that requests are made of, read only when they changed."""

import hashlib
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from foundation.clock import Clock
from foundation.files.untrusted import UnreadableFile, read_own_text

_YOUNG_NS = 2_000_000_000  # a file as young as this may change again within one tick of its clock: read it again


class SourceFile(Struct, frozen=True):
    """A file as last read. `digest` is "" where there is no such file."""

    path: Path
    text: str = ""
    digest: str = ""
    signature: tuple[int, int, int] = (0, 0, 0)  # mtime in ns, bytes, inode
    trouble: str = ""


def refreshed(known: SourceFile, clock: Clock, root: Path) -> SourceFile:
    """The file as it is now: `known` itself where its stat is unchanged.

    A link that leads out of `root` is reported as trouble, and not read.
    """
    try:
        stat = known.path.stat()
    except FileNotFoundError:
        return known if not known.digest and not known.trouble else SourceFile(known.path)
    except OSError as error:
        return SourceFile(known.path, trouble=f"it cannot be read: {error.strerror}")
    signature = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    if signature == known.signature and not _young(stat.st_mtime_ns, clock.now()):
        return known
    return _read(known, signature, root)


def _read(known: SourceFile, signature: tuple[int, int, int], root: Path) -> SourceFile:
    try:
        text = read_own_text(known.path, within=root)
    except FileNotFoundError:
        return SourceFile(known.path)
    except UnreadableFile as error:
        return SourceFile(known.path, signature=signature, trouble=str(error))
    digest = digest_of(text)
    if digest == known.digest:
        return SourceFile(known.path, known.text, digest, signature)
    return SourceFile(known.path, text.replace("\r\n", "\n"), digest, signature)


def _young(mtime_ns: int, now: datetime) -> bool:
    return now.timestamp() * 1e9 - mtime_ns < _YOUNG_NS


def digest_of(text: str) -> str:
    """Sixteen hex digits of the hash of the text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
