"""The lines of a file of any size, in the memory of one line."""

from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct

PIECE = 2**20  # bytes of a line that is passed over, at once


class LineTooLong(Struct, frozen=True):
    """A line of so many bytes, passed over; `most` is what a line may have."""

    size: int
    most: int


def bounded_lines(stream: BinaryIO, most: int) -> Iterator[bytes | LineTooLong]:
    """Each line with its end; LineTooLong in the place of one with more than `most` bytes."""
    while line := stream.readline(most + 1):
        if len(line) <= most or line.endswith(b"\n"):
            yield line
            continue
        size = len(line)
        del line
        while piece := stream.readline(PIECE):
            size += len(piece)
            if piece.endswith(b"\n"):
                break
        yield LineTooLong(size, most)
