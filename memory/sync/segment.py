"""A segment: operations of one device as a file, packed, hashed, and encrypted where the owner wants it."""

import hashlib
import hmac
from typing import Any, Final

import msgspec
from msgspec import Struct

from foundation.program import PROGRAM
from memory.cold.note_lines import MOST_LINES
from memory.cold.sync_values import MOST_HEARD
from memory.errors import Damaged
from memory.sync.encryption import PROOF, Keys
from memory.sync.errors import NewerSegment, NoKey, SegmentDamaged, UnprovenSegment
from memory.sync.limits import (
    MOST_BYTES,
    MOST_META,
    MOST_META_VALUES,
    MOST_NESTED,
    MOST_OPERATIONS,
    MOST_TEXT,
    MOST_VALUES,
    is_within,
    note_fits,
)
from memory.sync.names import SegmentName, digest_of
from memory.sync.operation import (
    EntryOperation,
    ForgottenNamesOperation,
    NoteOperation,
    Operation,
    ValueOperation,
)
from memory.zstd import packer, unpack

_FAMILY: Final = b"PSS"
_FIRST: Final = b"PSS1"
_FORGETS: Final = b"PSS2"  # it has versions of notes with forgotten lines: who reads the first alone leaves it
_NAMES: Final = b"PSS3"  # it tells of forgotten titles, labels or names of notes
_KNOWN: Final = frozenset({_FIRST, _FORGETS, _NAMES})
_PLAIN, _ENCRYPTED, _UNPROVEN = b"p", b"a", b"e"  # the last one was written before there were proofs
_CHECK: Final = 32
_AROUND: Final = 4  # the segment, its list, an operation, and its meta


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
    magic = max(map(_magic_for, segment.operations), default=_FIRST)
    if keys is None:
        return magic + _PLAIN + body
    encrypted = keys.encrypt(body)
    return magic + _ENCRYPTED + keys.proof(encrypted) + encrypted


def _magic_for(operation: Operation) -> bytes:
    """The first format whose readers know such an operation."""
    match operation:
        case ForgottenNamesOperation() | ValueOperation(heard=(_, *_)):
            return _NAMES
        case NoteOperation() if operation.renamed:
            return _NAMES
        case NoteOperation() if operation.forgotten or operation.heard:
            return _FORGETS
        case _:
            return _FIRST


def decode_segment(name: SegmentName, stored: bytes, keys: Keys | None = None, *, takes_plain: bool = True) -> Segment:
    """The segment of that name. Without `takes_plain` only one that a device with a key wrote.

    Raises SegmentDamaged, UnprovenSegment, NewerSegment, NoKey.
    """
    if stored[:3] == _FAMILY and stored[3:4].isdigit() and stored[3:4] > max(_KNOWN)[3:]:
        raise NewerSegment(
            "A newer version wrote it",
            f"{name}: written by a newer version of Palimpsest. It was not read, and nothing was changed.",
            "Upgrade this device to read it.",
        )
    if digest_of(stored) != name.digest or stored[:4] not in _KNOWN:
        raise damaged(name)
    body = _opened(name, stored[4:5], stored[5:], keys, takes_plain)
    check, frame = body[:_CHECK], body[_CHECK:]
    if not hmac.compare_digest(hashlib.sha256(frame).digest(), check):
        raise damaged(name)
    try:
        packed = unpack(frame, limit=MOST_BYTES)
        if not is_within(packed, values=MOST_VALUES, nested=MOST_NESTED + _AROUND):
            raise too_large(name)
        segment = msgspec.msgpack.decode(packed, type=Segment)
    except (Damaged, msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise (error if isinstance(error, SegmentDamaged) else damaged(name)) from error
    if (segment.device, segment.number) != (name.device, name.number):
        raise damaged(name)
    if len(segment.operations) > MOST_OPERATIONS or not all(map(_fits, segment.operations)):
        raise too_large(name)
    return segment


def _fits(operation: Operation) -> bool:
    match operation:
        case EntryOperation():
            return len(operation.text) <= MOST_TEXT and meta_fits(operation.meta)
        case NoteOperation():
            return note_fits(operation.text) and _lines_fit(operation)
        case ValueOperation():
            return len(operation.heard) <= MOST_HEARD
        case ForgottenNamesOperation():
            return len(operation.dropped) <= MOST_HEARD
        case _:
            return True


def _lines_fit(operation: NoteOperation) -> bool:
    """Whether the forgotten lines are lines of the text."""
    sizes = [len(bits) for _, bits in operation.forgotten]
    return sum(sizes) <= MOST_LINES + 1 and max(sizes, default=0) <= operation.text.count(b"\n") // 8 + 1


def meta_fits(meta: dict[str, Any]) -> bool:
    """Whether the meta of an entry is one that other devices take."""
    try:
        packed = msgspec.msgpack.encode(meta)
    except (ValueError, OverflowError, RecursionError):  # a lone surrogate, a number of more than 64 bits
        return False
    return len(packed) <= MOST_META and is_within(packed, values=MOST_META_VALUES, nested=MOST_NESTED)


def _opened(name: SegmentName, mode: bytes, body: bytes, keys: Keys | None, takes_plain: bool) -> bytes:
    if mode == _PLAIN and takes_plain:
        return body
    if mode == _PLAIN:
        raise UnprovenSegment(
            "A segment is not encrypted",
            f"{name} is not encrypted, so anyone could have written it. It was not read.",
            f"If a device of yours wrote it: `{PROGRAM} sync add LOCATION --key FILE` and `{PROGRAM} sync now` there.",
        )
    if mode not in {_ENCRYPTED, _UNPROVEN}:
        raise damaged(name)
    if keys is None:
        raise NoKey(
            "It is encrypted",
            f"{name} is encrypted, but this device has no key.",
            "Copy the key file of a device that can read it, then `sync add LOCATION --key FILE`.",
        )
    proof, encrypted = (body[:PROOF], body[PROOF:]) if mode == _ENCRYPTED else (b"", body)
    opened = keys.decrypt(encrypted, str(name))
    if not hmac.compare_digest(keys.proof(encrypted), proof) and not (proof and keys.knows_others):
        raise UnprovenSegment(
            "Unknown author of a segment",
            f"{name} is encrypted for this device, but no device with its key wrote it. It was not read.",
            f"If a device of yours wrote it: `{PROGRAM} sync add LOCATION --key FILE` and `{PROGRAM} sync now` there.",
        )
    return opened


def damaged(name: SegmentName) -> SegmentDamaged:
    """The error for a segment that is not what was written."""
    return SegmentDamaged(
        "A segment is damaged",
        f"{name} is incomplete or was changed. It was not read.",
        "The device that wrote it uploads it again at its next sync.",
    )


def too_large(name: SegmentName) -> SegmentDamaged:
    """The error for a segment that holds more than a device writes."""
    return SegmentDamaged(
        "A segment is too large",
        f"{name} is larger than any valid segment. It was not read.",
        "Delete it where you do not know the device that wrote it.",
    )
