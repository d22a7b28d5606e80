"""Parsers of what other devices write, and of the records of forgetting."""

import hashlib
from functools import cache

import msgspec

from foundation.typed_json import decode_json
from memory.forgotten.journal import ForgetJob
from memory.forgotten.tombstones import EntryTombstone, _decoded
from memory.sync.names import name_of
from memory.sync.operation import (
    ConversationKey,
    DeletionOperation,
    EntryOperation,
    ForgettingOperation,
    NoteOperation,
    ValueOperation,
)
from memory.sync.segment import Segment, decode_segment, encode_segment
from memory.zstd import packer
from tests.fuzz.target import FuzzTarget

DEVICE = "d_0123456789ab"


@cache
def _segment() -> Segment:
    key = ConversationKey("palimpsest", "c_1", "chat", 1_773_480_413_000)
    return Segment(
        device=DEVICE,
        name="desk",
        number=1,
        operations=(
            EntryOperation(
                conversation=key,
                id="e_1",
                parent="",
                kind="message",
                role="user",
                speaker="Ann",
                time_ms=1_773_480_413_000,
                text="The ferry 渡轮.".encode(),
                meta={"files": ["a.py"], "n": 1},
                complete=True,
            ),
            ValueOperation(conversation=key, field="", value=b"Boat", clock=2, device=DEVICE),
            DeletionOperation(token="a" * 64, deleted_ms=3),
            ForgettingOperation(token="b" * 64, forgotten_ms=4),
            NoteOperation(id="n_1", path="MEMORY.md", parents=(), text=b"- tea\n", clock=5, device=DEVICE),
        ),
    )


def _read_segment(data: bytes) -> None:
    """Under the name that its bytes have."""
    decode_segment(name_of(DEVICE, 1, data), data)


def _sealed_segment(data: bytes) -> bytes:
    return data[:5] + hashlib.sha256(data[37:]).digest() + data[37:]


def _read_operations(data: bytes) -> None:
    """MessagePack as a segment with its seals."""
    frame = packer()(data)
    _read_segment(b"PSS1p" + hashlib.sha256(frame).digest() + frame)


TARGETS = (
    FuzzTarget(
        name="sync-segment", seeds=lambda: [encode_segment(_segment())], parse=_read_segment, seal=_sealed_segment
    ),
    FuzzTarget(
        name="sync-operations",
        seeds=lambda: [msgspec.msgpack.encode(_segment())],
        parse=_read_operations,
        words=(b"\xa5entry", b"\xa5value", b"\xc0", b"\xdf\xff\xff\xff\xff", b"\xcf" + b"\xff" * 8, b"\x91" * 40),
    ),
    FuzzTarget(
        name="tombstones",
        seeds=lambda: [msgspec.json.encode(EntryTombstone(token="a" * 64, forgotten_ms=1))],
        parse=_decoded,
        refusals=(),
    ),
    FuzzTarget(
        name="forget-job",
        seeds=lambda: [msgspec.json.encode(ForgetJob(id="f_1", begun_ms=1, entries=(1, 2), refs=("a",)))],
        parse=lambda data: decode_json(data, ForgetJob),
        refusals=(msgspec.DecodeError,),
    ),
)
