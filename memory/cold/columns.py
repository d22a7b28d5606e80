"""JSON columns. Escaped to ASCII, so that lone surrogates pass."""

import json
from typing import Any, cast

import msgspec

from foundation.privacy import ClearedFields
from models.cleared_parts import ClearedParts
from models.messages import Part


def from_meta(meta: ClearedFields) -> bytes | None:
    return _encode(meta) if meta else None


def to_meta(column: bytes | None) -> dict[str, Any]:
    """Raises ValueError or TypeError for what is no JSON object."""
    found: object = json.loads(column) if column else {}
    if not isinstance(found, dict):
        raise TypeError("no JSON object")
    return cast(dict[str, Any], found)


def readable_meta(column: bytes | str | None) -> dict[str, Any]:
    """The same of a column that may be damaged: {} where it is no JSON object."""
    try:
        found: object = json.loads(column) if column else {}
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def from_parts(parts: ClearedParts) -> bytes | None:
    return _encode(parts) if parts else None


def to_parts(column: bytes | None) -> tuple[Part, ...]:
    return msgspec.convert(json.loads(column), tuple[Part, ...]) if column else ()


def _encode(value: object) -> bytes:
    plain = msgspec.to_builtins(value)
    return json.dumps(plain, ensure_ascii=True, separators=(",", ":")).encode("ascii")
