"""zstd with a bound on the size of every decompressed frame. The library is loaded with the first frame."""

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol, cast

from memory.errors import Damaged

_CODED_PAGE = 10_000  # bytes of a coded page of 1024×1024, of English or code
FRAME_HEAD = 18
"""Bytes of a frame in which its declared size is."""


@cache
def _zstandard() -> Any:
    import zstandard

    return zstandard  # its types are not declared


class FramePacker(Protocol):
    """Compresses one frame, piece by piece."""

    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


def packer() -> Callable[[bytes], bytes]:
    """A function that compresses to zstd-6 frames with size and checksum. For one thread, which may use it often.

    Pages coded by symbols take 10 to 30 kB. Level 9 makes them half a percent smaller in twice the time.
    """
    zstd = _zstandard()
    six = zstd.ZstdCompressionParameters.from_level(6, source_size=_CODED_PAGE, write_checksum=True)
    return cast("Callable[[bytes], bytes]", zstd.ZstdCompressor(compression_params=six).compress)


def cold_packer(size: int) -> FramePacker:
    """Compressor of one zstd-19 frame of `size` bytes. The window spans all of it: a page may repeat any before it."""
    zstd = _zstandard()
    nineteen = zstd.ZstdCompressionParameters.from_level(
        19, source_size=size, enable_ldm=True, window_log=24, write_checksum=True, write_content_size=True
    )
    return cast("FramePacker", zstd.ZstdCompressor(compression_params=nineteen).compressobj(size=size))


def pack_against(base: bytes, body: bytes) -> bytes:
    """A zstd-6 frame of the body that repeats what it can from `base`; `unpack` needs the same base."""
    zstd = _zstandard()
    window = max(10, (len(base) + len(body)).bit_length())  # so that it reaches the whole base
    six = zstd.ZstdCompressionParameters.from_level(
        6, source_size=len(body), write_checksum=True, write_content_size=True, window_log=min(window, 27)
    )
    known = zstd.ZstdCompressionDict(base, dict_type=zstd.DICT_TYPE_RAWCONTENT)
    return cast("bytes", zstd.ZstdCompressor(dict_data=known, compression_params=six).compress(body))


def declared_size(head: bytes) -> int:
    """The size that a frame declares, by its first FRAME_HEAD bytes; 0 where they declare none or are no frame."""
    zstd = _zstandard()
    try:
        return max(0, zstd.frame_content_size(head))
    except zstd.ZstdError:
        return 0


def unpack(frame: bytes, *, limit: int, base: bytes = b"") -> bytes:
    """The frame's content, at most `limit` bytes. Raises Damaged where it is longer, cut off or no frame.

    The declared size is checked first, and the bytes are counted as they come: a declared size may lie. `base` is what
    the frame was packed against.
    """
    zstd = _zstandard()
    known = zstd.ZstdCompressionDict(base, dict_type=zstd.DICT_TYPE_RAWCONTENT) if base else None
    try:
        declared = zstd.frame_content_size(frame)
        if declared < 0 or declared > limit:
            raise Damaged("Packed data", f"A frame declares {declared} bytes where {limit} are allowed.")
        data = cast("bytes", zstd.ZstdDecompressor(dict_data=known).decompress(frame, max_output_size=limit))
    except zstd.ZstdError as error:
        raise Damaged("Packed data", f"A zstd frame cannot be read: {error}.") from error
    if len(data) != declared:
        raise Damaged("Packed data", f"A frame declares {declared} bytes and holds {len(data)}.")
    return data
