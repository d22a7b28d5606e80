"""Names of segments: the device, the number, and the beginning of the file's SHA-256."""

import hashlib
import re
from typing import Final

from msgspec import Struct

_NAME: Final = re.compile(r"(d_[0-9a-z]{12})-([0-9]{8})-([0-9a-f]{16})\.segment(\.age)?", re.ASCII)


class SegmentName(Struct, frozen=True, order=True):
    """A name names its content, so that a file never changes: what is written anew gets another name."""

    device: str
    number: int
    digest: str
    is_encrypted: bool = False

    def __str__(self) -> str:
        return f"{self.device}-{self.number:08}-{self.digest}.segment{'.age' if self.is_encrypted else ''}"


def name_of(device: str, number: int, stored: bytes, *, is_encrypted: bool = False) -> SegmentName:
    """The name of a segment that is stored as these bytes."""
    return SegmentName(device, number, digest_of(stored), is_encrypted)


def parse_name(name: str) -> SegmentName | None:
    """The parts of a segment's name; None for another file."""
    match = _NAME.fullmatch(name)
    return SegmentName(match[1], int(match[2]), match[3], bool(match[4])) if match else None


def digest_of(stored: bytes) -> str:
    return hashlib.sha256(stored).hexdigest()[:16]
