"""What a person was told is lost of the versions, so that a later check does not name it as new damage.

A file with one line: the SHA-256 of its JSON, a space, and the JSON, which holds hashes and times alone. A file that
cannot be read says nothing: then all is named as damage again.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from foundation.clock import from_ms
from foundation.figures import counted
from foundation.files import read_bytes, remove, write_atomically
from foundation.typed_json import decode_json
from memory.versions.digest_line import body_of, with_digest


class Damage(Struct, frozen=True):
    """A damaged part: the SHA-256 of a content and that of the bytes that are there instead ("" for none), or a kind of
    damage of the manifest and what names it. Other damage of the same part is another one."""

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
            if (body := body_of(read_bytes(self._path, owned=True))) is not None:
                return {lost.damage: lost.since_ms for lost in decode_json(body, tuple[LostPart, ...])}
        except (OSError, msgspec.DecodeError):
            pass
        return {}

    def write(self, parts: Iterable[LostPart]) -> None:
        """Replaces the record, atomically. Raises OSError."""
        parts = tuple(parts)
        if parts:
            write_atomically(self._path, with_digest(msgspec.json.encode(parts)))
        else:
            remove(self._path, missing_ok=True)


def lost_sentence(since_ms: Sequence[int]) -> str:
    """How many versions are lost, and since which day; "" for none."""
    if not since_ms:
        return ""
    day = f"{from_ms(min(since_ms)).astimezone():%Y-%m-%d}"
    return f"{counted(len(since_ms), 'version')} {'is' if len(since_ms) == 1 else 'are'} lost since {day}."
