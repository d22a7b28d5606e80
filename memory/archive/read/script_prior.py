"""What a page's own glyphs say about its doubtful ones: a page of English has few Cherokee letters."""

import numpy as np
from numpy.typing import NDArray

from memory.archive.draw.glyphs import FILLER
from memory.archive.read.shapes import Floats, Shapes

_BLOCK = 256  # code points that count as one script
_OWN, _KIN = 0.6, 0.35  # how much of the expectation is the page's glyphs, and how much their scripts; the rest is any
_ESTABLISHED, _LEAST_SHARE = 6, 0.01  # different glyphs, and share of the page, of a script that is really there
_EVERYWHERE = 0.05
_COMMON = (  # first, last, and how much of any text they are together
    (0x20, 0x7E, 0.5),
    (0x0A, 0x0A, 0.02),
    (0x4E00, 0x9FFF, 0.3),
    (0x3000, 0x30FF, 0.05),
    (0xAC00, 0xD7A3, 0.05),
    (0xA1, 0x24F, 0.02),
    (0x370, 0x4FF, 0.02),
    (0x2010, 0x2026, 0.01),
    (0x2500, 0x259F, 0.01),
    (0xFF00, 0xFFEF, 0.01),
)


def penalties(shapes: Shapes, codes: NDArray[np.int32]) -> Floats:
    """Nats for each of the glyphs, given the codes that the page seems to hold."""
    anyone = np.full(len(shapes.codes), 1e-8)
    for first, last, share in _COMMON:
        anyone[(shapes.codes >= first) & (shapes.codes <= last)] = share / (last - first + 1)
    inked = codes[codes != FILLER]
    if not len(inked):
        return (-np.log(anyone)).astype(np.float32)
    most = int(shapes.codes.max())
    of_block = np.bincount(np.unique(inked) // _BLOCK, minlength=most // _BLOCK + 1)
    share = np.bincount(inked // _BLOCK, minlength=most // _BLOCK + 1) / len(inked)
    there = (of_block >= _ESTABLISHED) & (share >= _LEAST_SHARE)
    inked = inked[there[inked // _BLOCK] | _is_common(inked)]
    own = np.bincount(inked, minlength=most + 1)[shapes.codes]
    kin = np.bincount(inked // _BLOCK, minlength=most // _BLOCK + 1)[shapes.codes // _BLOCK]
    chance = (_OWN * own + _KIN * kin / _BLOCK) / max(len(inked), 1) + (1 - _OWN - _KIN) * anyone
    return (-np.log(chance)).astype(np.float32)


def _is_common(codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    within = np.zeros(len(codes), np.bool_)
    for first, last, share in _COMMON:
        if share >= _EVERYWHERE:
            within |= (codes >= first) & (codes <= last)
    return within
