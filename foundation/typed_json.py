"""Typed JSON from outside: whatever is not such a value is a DecodeError.

msgspec raises UnicodeDecodeError for a string that is not UTF-8 and RecursionError for a deep one: both come from bytes
that anybody can write, and a caller that names DecodeError alone would pass them on.
"""

from typing import TypeVar

import msgspec

T = TypeVar("T")


def decode_json(body: bytes | str, kind: "type[T] | msgspec.json.Decoder[T]") -> T:
    """The value. Raises msgspec.DecodeError (ValidationError where it is JSON of another kind)."""
    try:
        if isinstance(kind, msgspec.json.Decoder):
            return kind.decode(body)
        return msgspec.json.decode(body, type=kind)
    except UnicodeError as error:  # a lone surrogate in a text, or bytes that are no UTF-8
        raise msgspec.DecodeError("JSON is malformed: it is not UTF-8") from error
    except RecursionError as error:
        raise msgspec.DecodeError("JSON is malformed: it is nested too deeply") from error
