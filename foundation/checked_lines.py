"""Lines with a checksum, of a file that is only added to.

Each line is the CRC-32 of its JSON, a space, and the JSON. One that a crash cut off is marked as such before the next
one is added.
"""

import re
import zlib
from pathlib import Path
from typing import Final

from foundation.files import append, is_cut_off

CUT_OFF: Final = b" torn"  # at the end of a line that a crash cut off
BEGINNING: Final = re.compile(rb"[0-9a-f]{0,8}|[0-9a-f]{8} (\{.*)?", re.DOTALL)
"""What a line looks like that was cut off while it was written."""


def with_checksum(body: bytes) -> bytes:
    """The line that holds this JSON."""
    return b"%08x " % zlib.crc32(body) + body + b"\n"


def body_of(line: bytes) -> bytes | None:
    """The JSON of a line, without its end; None where it is not what was written."""
    checksum, _, body = line.partition(b" ")
    return body if checksum == b"%08x" % zlib.crc32(body) else None


def add_lines(path: Path, lines: bytes) -> None:
    """Appends them, synced. Raises OSError."""
    append(path, (CUT_OFF + b"\n" if is_cut_off(path) else b"") + lines, sync=True)
