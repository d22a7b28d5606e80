"""A segment: operations of one device as a file, packed, hashed, and encrypted where the owner wants it."""

import hashlib
import hmac
from typing import Final

import msgspec
from msgspec import Struct

from memory.errors import Damaged
from memory.sync.encryption import Keys
from memory.sync.errors import NewerSegment, NoKey, SegmentDamaged
from memory.sync.names import SegmentName, digest_of
from memory.sync.operation import Operation
from memory.zstd import packer, unpack

_FAMILY: Final = b"PSS"
_MAGIC: Final = b"PSS1"
_PLAIN, _ENCRYPTED = b"p", b"e"
_CHECK: Final = 32
MOST: Final = 2**28  # bytes of unpacked operations


class Segment(Struct, frozen=True, kw_only=True):
    """What a device wrote: its id, its name for a person, the segment's number, and the operations."""

    device: str
    name: str
    number: int
    operations: tuple[Operation, ...]


def encode_segment(segment: Segment, keys: Keys | None = None) -> bytes:
    """What is stored of a segment. With keys only their owners can read it."""
    frame = packer()(msgspec.msgpack.encode(segment))
    body = hashlib.sha256(frame).digest() + frame
    if keys is None:
        return _MAGIC + _PLAIN + body
    return _MAGIC + _ENCRYPTED + keys.encrypt(body)


def decode_segment(name: SegmentName, stored: bytes, keys: Keys | None = None) -> Segment:
    """The segment of that name. Raises SegmentDamaged, NewerSegment, NoKey."""
    if stored[:3] == _FAMILY and stored[3:4].isdigit() and stored[3:4] > _MAGIC[3:]:
        raise NewerSegment(
            "A newer version wrote it",
            f"{name}: a newer version of this program wrote it. It was not read, and nothing was changed for it.",
            "Upgrade this device; what it holds is read then.",
        )
    if digest_of(stored) != name.digest or stored[:4] != _MAGIC:
        raise damaged(name)
    body = _opened(name, stored[4:5], stored[5:], keys)
    check, frame = body[:_CHECK], body[_CHECK:]
    if not hmac.compare_digest(hashlib.sha256(frame).digest(), check):
        raise damaged(name)
    try:
        segment = msgspec.msgpack.decode(unpack(frame, limit=MOST), type=Segment)
    except (Damaged, msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise damaged(name) from error
    if (segment.device, segment.number) != (name.device, name.number):
        raise damaged(name)
    return segment


def _opened(name: SegmentName, mode: bytes, body: bytes, keys: Keys | None) -> bytes:
    if mode == _PLAIN:
        return body
    if mode != _ENCRYPTED:
        raise damaged(name)
    if keys is None:
        raise NoKey(
            "It is encrypted",
            f"{name} is encrypted, and this device has no key.",
            "Copy the key file of a device that reads it, then `sync add LOCATION --key FILE`.",
        )
    return keys.decrypt(body, str(name))


def damaged(name: SegmentName) -> SegmentDamaged:
    """The error for a segment that is not what was written."""
    return SegmentDamaged(
        "A segment is damaged",
        f"{name} is torn, or not what was written. It was not read.",
        "The device that wrote it writes it again at its next sync.",
    )
