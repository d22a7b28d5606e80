"""zstd with a bound on the size of every decompressed frame."""

from collections.abc import Callable
from typing import Any, Protocol, cast

import zstandard

from memory.errors import Damaged

_zstd = cast("Any", zstandard)  # its types are not declared
_PAGE = 131_500  # bytes of a stored 1024×1024 page


class FramePacker(Protocol):
    """One frame, made piece by piece."""

    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


def packer() -> Callable[[bytes], bytes]:
    """What makes zstd-9 frames that declare their size and carry a checksum. For one thread, which may use it often.

    Of level 9's parameters two differ: matches of five bytes at least, and a search half as long. On pages that packs
    as tightly (English and code a little more so, Chinese 3 % less) in three quarters of the time.
    """
    nine = _zstd.ZstdCompressionParameters.from_level(
        9, source_size=_PAGE, search_log=4, min_match=5, write_checksum=True
    )
    return cast("Callable[[bytes], bytes]", _zstd.ZstdCompressor(compression_params=nine).compress)


def cold_packer(size: int) -> FramePacker:
    """What makes one zstd-19 frame of `size` bytes, whose window spans all of it: a page may repeat any before it."""
    nineteen = _zstd.ZstdCompressionParameters.from_level(
        19, source_size=size, enable_ldm=True, window_log=24, write_checksum=True, write_content_size=True
    )
    return cast("FramePacker", _zstd.ZstdCompressor(compression_params=nineteen).compressobj(size=size))


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
