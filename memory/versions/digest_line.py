"""Lines with the SHA-256 of their JSON before it, and a space between: what was not written so is not believed."""

import hashlib
from typing import Final

DIGEST: Final = 64  # characters


def with_digest(body: bytes) -> bytes:
    """The line that holds this JSON, without its end."""
    return hashlib.sha256(body).hexdigest().encode() + b" " + body


def body_of(line: bytes) -> bytes | None:
    """The JSON of a line, without its end; None where it is not what was written."""
    body = line[DIGEST + 1 :]
    return body if line == with_digest(body) else None
