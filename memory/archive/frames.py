"""zstd with a bound: no frame of ours, or of anyone else's, may grow past what was asked for."""

from typing import Any, cast

import zstandard

from memory.errors import Damaged

_zstd = cast("Any", zstandard)  # its types are not declared


def pack(data: bytes, level: int = 9) -> bytes:
    """One zstd frame that declares its size and carries a checksum."""
    return _zstd.ZstdCompressor(level=level, write_checksum=True).compress(data)


def unpack(frame: bytes, *, limit: int) -> bytes:
    """The frame's content, at most `limit` bytes. Raises Damaged where it is longer, cut off or no frame.

    The declared size is checked first, and the bytes are counted as they come: a declared size may lie.
    """
    try:
        declared = _zstd.frame_content_size(frame)
        if declared < 0 or declared > limit:
            raise Damaged("Packed data", f"A frame declares {declared} bytes where {limit} are allowed.")
        data = cast("bytes", _zstd.ZstdDecompressor().decompress(frame, max_output_size=limit))
    except _zstd.ZstdError as error:
        raise Damaged("Packed data", f"A zstd frame cannot be read: {error}.") from error
    if len(data) != declared:
        raise Damaged("Packed data", f"A frame declares {declared} bytes and holds {len(data)}.")
    return data
