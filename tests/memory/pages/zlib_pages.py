"""Pages with the stored blocks that Python's zlib made until 0.3.2."""

import struct

import numpy as np

from memory.pages.render.png import decode_own, encode_png

BLOCKS = {512: (33280,), 640: (51840,), 1024: (65531, 32773, 33792), 1280: (65531, 32773, 65535, 42241)}


def page_of_zlib(png: bytes) -> bytes:
    """The same picture as an older program wrote it."""
    ink = decode_own(png)
    assert ink is not None
    (side,) = struct.unpack_from(">I", png, 16)
    return encode_png(np.ascontiguousarray(ink), BLOCKS[side])
