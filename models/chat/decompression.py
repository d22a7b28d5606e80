"""Unpacks a compressed body in small pieces, so that two megabytes of it never become six gigabytes of memory."""

import zlib
from collections.abc import Iterator

from foundation.sizes import MEGABYTE
from models.limits import StreamLimitExceeded, StreamLimits

ACCEPTED = "gzip, deflate"
PIECE = 64 * 1024  # bytes unpacked at once


class DecompressionError(Exception):
    """The body is not packed as its headers say, or in a way that was not asked for."""


class Unpacker:
    """Feed it a body's bytes in the content coding of its headers; it gives them unpacked."""

    def __init__(self, coding: str, limits: StreamLimits) -> None:
        """Raises DecompressionError for a coding that was not asked for."""
        self._coding = coding.strip().lower().replace("x-gzip", "gzip")
        if self._coding not in {"", "identity", "gzip", "deflate"}:
            raise DecompressionError(f"it is packed as {self._coding[:40]}, which was not asked for")
        self._times = limits.unpacked_times
        self._packed = self._unpacked = 0
        self._inflating = zlib.decompressobj(zlib.MAX_WBITS | 16 if self._coding == "gzip" else zlib.MAX_WBITS)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Raises StreamLimitExceeded for a bomb, DecompressionError for what is damaged."""
        if self._coding in {"", "identity"}:
            yield chunk
            return
        self._packed += len(chunk)
        while chunk:
            yield from self._counted(self._inflated(chunk))
            while self._inflating.unconsumed_tail:
                yield from self._counted(self._inflated(self._inflating.unconsumed_tail))
            chunk = self._inflating.unused_data
            if self._inflating.eof and chunk:
                if self._coding != "gzip":  # gzip alone may go on with another member
                    return
                self._inflating = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def _inflated(self, chunk: bytes) -> bytes:
        try:
            return self._inflating.decompress(chunk, PIECE)
        except zlib.error as error:
            if self._coding == "deflate" and not self._unpacked:  # without zlib's own head, as some servers send it
                self._inflating = zlib.decompressobj(-zlib.MAX_WBITS)
                self._coding = "raw deflate"
                return self._inflated(chunk)
            raise DecompressionError("it is damaged: it cannot be unpacked") from error

    def _counted(self, piece: bytes) -> Iterator[bytes]:
        self._unpacked += len(piece)
        if self._unpacked > MEGABYTE and self._unpacked > self._times * self._packed:
            raise StreamLimitExceeded("what its compressed answer unpacks to", "unpacked_times", self._times)
        if piece:
            yield piece
