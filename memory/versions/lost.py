"""What a person was told is lost of the versions, so that a later check does not name it as new damage.

A file with one line: the SHA-256 of its JSON, a space, and the JSON, which holds hashes and times alone. A file that
cannot be read says nothing: then all is named as damage again.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from foundation.clock import from_ms
from foundation.figures import counted
from foundation.files import read_bytes, remove, write_atomically
from foundation.typed_json import decode_json


class Damage(Struct, frozen=True):
    """A damaged part: the SHA-256 of a content, or of a line of the manifest, and that of the bytes that are there
    instead ("" for none). Other damage of the same part is another one."""

    part: str
    there: str


class LostPart(Struct, frozen=True):
    """A damage that nothing mends, and since when a person knows of it."""

    damage: Damage
    since_ms: int


class LostParts:
    """Reads and writes the file at `path`. Writers hold the lock of the store."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def since(self) -> dict[Damage, int]:
        """When each was recorded as lost, in milliseconds since 1970."""
        try:
            digest, _, body = read_bytes(self._path, owned=True).partition(b" ")
            if digest == hashlib.sha256(body).hexdigest().encode():
                return {lost.damage: lost.since_ms for lost in decode_json(body, tuple[LostPart, ...])}
        except (OSError, msgspec.DecodeError):
            pass
        return {}

    def write(self, parts: Iterable[LostPart]) -> None:
        """Replaces the record, atomically. Raises OSError."""
        parts = tuple(parts)
        if parts:
            body = msgspec.json.encode(parts)
            write_atomically(self._path, hashlib.sha256(body).hexdigest().encode() + b" " + body)
        else:
            remove(self._path, missing_ok=True)


def lost_sentence(since_ms: Sequence[int]) -> str:
    """How many versions are lost, and since which day; "" for none."""
    if not since_ms:
        return ""
    day = f"{from_ms(min(since_ms)).astimezone():%Y-%m-%d}"
    return f"{counted(len(since_ms), 'version')} {'is' if len(since_ms) == 1 else 'are'} lost since {day}."
