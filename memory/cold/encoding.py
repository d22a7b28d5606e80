"""Encoding of text columns: UTF-8 with lone surrogates kept, long text as a zstd frame; JSON columns as ASCII."""

import hashlib
import json
from typing import Any, cast

import msgspec

from foundation.privacy import ClearedFields
from foundation.program import PROGRAM
from memory.errors import Damaged
from models.cleared_parts import ClearedParts
from models.messages import MessagePart

LONGEST = 10**9  # bytes of one text: SQLite holds no longer value unpacked, so a frame has no right to unfold to more
PACK_FROM = 1024  # bytes; below it a frame saves too little to be worth unpacking
LEVEL = 3
WIDEST = 4  # bytes that one character can take in UTF-8


def to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def to_text(body: bytes) -> str:
    return body.decode("utf-8", "surrogatepass")


def plain(text: str) -> str:
    """A name for a TEXT column: a lone surrogate becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def digest(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()


def pack(raw: bytes) -> tuple[bytes, int]:
    """The bytes to store, and 1 where they are a zstd frame, which is used only where it is smaller. Frames have a
    checksum."""
    if not PACK_FROM <= len(raw) <= LONGEST:
        return raw, 0
    from zstandard import ZstdCompressor

    frame = ZstdCompressor(level=LEVEL, write_content_size=True, write_checksum=True).compress(raw)
    return (frame, 1) if len(frame) < len(raw) else (raw, 0)


def unpack(body: bytes, packed: int, chars: int) -> str:
    """The text of a body, without comparing a hash. `chars` limits what a frame may unpack to. Raises Damaged."""
    return _decoded(_unpacked(body, packed, chars))


def unpack_compared(body: bytes, packed: int, chars: int, sha256: bytes) -> tuple[str, bool]:
    """The text of a body, and whether it matches this SHA-256. Raises Damaged."""
    raw = _unpacked(body, packed, chars) if packed else body
    return _decoded(raw), hashlib.sha256(raw).digest() == sha256


def _unpacked(body: bytes, packed: int, chars: int) -> bytes:
    return _unfold(body, min(chars * WIDEST, LONGEST)) if packed else body


def _decoded(raw: bytes) -> str:
    try:
        return to_text(raw)
    except UnicodeDecodeError as error:
        raise Damaged("Damaged text", "A stored text is not UTF-8.", _HINT) from error


def _unfold(frame: bytes, most: int) -> bytes:
    from zstandard import ZstdDecompressor, ZstdError, frame_content_size

    try:
        declared = frame_content_size(frame)
        if not 0 <= declared <= most:
            raise Damaged("Damaged text", f"A stored text says it is {declared} bytes; at most {most} fit.", _HINT)
        return ZstdDecompressor().decompress(frame, max_output_size=declared)
    except ZstdError as error:
        raise Damaged("Damaged text", f"A stored text cannot be unpacked: {error}.", _HINT) from error


_HINT = f"`{PROGRAM} check --repair` repairs what can be repaired and keeps a copy first."


def from_meta(meta: ClearedFields) -> bytes | None:
    return _encode(meta) if meta else None


def to_meta(column: bytes | None) -> dict[str, Any]:
    """Encodes a JSON object. Raises ValueError or TypeError for anything else."""
    if not column:
        return {}
    found: object = json.loads(column)
    if not isinstance(found, dict):
        raise TypeError("no JSON object")
    return cast(dict[str, Any], found)


def readable_meta(column: bytes | str | None) -> dict[str, Any]:
    """Decodes a column that may be damaged: {} where it is no JSON object."""
    try:
        found: object = json.loads(column) if column else {}
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def from_parts(parts: ClearedParts) -> bytes | None:
    return _encode(parts) if parts else None


def to_parts(column: bytes | None) -> tuple[MessagePart, ...]:
    return msgspec.convert(json.loads(column), tuple[MessagePart, ...]) if column else ()


def _encode(value: object) -> bytes:
    plain = msgspec.to_builtins(value)
    return json.dumps(plain, ensure_ascii=True, separators=(",", ":")).encode("ascii")
