"""What a page's own glyphs say about its doubtful ones: a page of English has few Cherokee letters."""

import numpy as np
from numpy.typing import NDArray

from memory.archive.shapes import Floats, Shapes

_BLOCK = 256  # code points that count as one script
_OWN, _KIN = 0.6, 0.35  # how much of the expectation is the page's glyphs, and how much their scripts; the rest is any
_COMMON = ((0x20, 0x7E, 1e-3), (0x4E00, 0x9FFF, 1e-5), (0x3000, 0x30FF, 1e-4), (0xAC00, 0xD7A3, 1e-5), (0xA1, 0x24F, 1e-4))


def penalties(shapes: Shapes, codes: NDArray[np.int32]) -> Floats:
    """Nats for each of the glyphs, given the codes that the page seems to hold (its blanks left out)."""
    inked = codes[codes != 0x20]
    if not len(inked):
        return np.zeros(len(shapes.codes), np.float32)
    own = np.bincount(inked, minlength=int(shapes.codes.max()) + 1)[shapes.codes] / len(inked)
    kin = np.bincount(inked // _BLOCK, minlength=int(shapes.codes.max()) // _BLOCK + 1)[shapes.codes // _BLOCK]
    anyone = np.full(len(shapes.codes), 1e-7)
    for first, last, share in _COMMON:
        anyone[(shapes.codes >= first) & (shapes.codes <= last)] = share
    chance = _OWN * own + _KIN * kin / len(inked) / _BLOCK + (1 - _OWN - _KIN) * anyone
    return (-np.log(chance)).astype(np.float32)
