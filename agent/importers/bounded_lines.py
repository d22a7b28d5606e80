"""Line reader with bounded memory."""

from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct

CHUNK = 2**20  # bytes of a skipped line that are read at once


class LineTooLong(Struct, frozen=True):
    """A skipped line: its size, and the limit `most`, in bytes."""

    size: int
    most: int


def bounded_lines(stream: BinaryIO, max_bytes: int) -> Iterator[bytes | LineTooLong]:
    """Each line with its line end; LineTooLong for one of more than `max_bytes` bytes."""
    while line := stream.readline(max_bytes + 1):
        if len(line) <= max_bytes or line.endswith(b"\n"):
            yield line
            continue
        size = len(line)
        del line
        while chunk := stream.readline(CHUNK):
            size += len(chunk)
            if chunk.endswith(b"\n"):
                break
        yield LineTooLong(size, max_bytes)
