"""Splits a text at sentence ends into passages that fit an embedder's input.

passages("Long text. …")  →  ["Long text. …", "…"]
"""

from itertools import pairwise

from foundation.privacy import Cleared, edited, part_of
from foundation.text.sentences import boundaries
from models.tokens import estimate

VERSION = 1  # a change of it makes all vectors anew
TOKENS = 200  # small embedders were trained on 128 to 256
MOST = 64  # passages of one entry; the rest of so long a text is found by its terms


def passages(text: Cleared) -> list[Cleared]:
    """The passages of a text, at most `MOST`; empty for a blank text."""
    text = edited(text, str.strip)
    if len(text) <= 2 * TOKENS or (len(text) <= 8 * TOKENS and estimate(text) <= TOKENS):
        return [text] if text else []
    pieces: list[Cleared] = []
    start = used = 0
    for first, last in _pieces(text):
        tokens = estimate(text[first:last])
        if used and used + tokens > TOKENS:
            pieces.append(part_of(text, start, first))
            start, used = first, 0
            if len(pieces) == MOST:
                return _not_blank(pieces)
        used += tokens
    return _not_blank([*pieces, part_of(text, start)])


def _pieces(text: str) -> list[tuple[int, int]]:
    """Sentences and lines; longer ones are split into parts of a passage each."""
    edges = [0]
    for offset in (*boundaries(text), len(text)):
        while offset - edges[-1] > TOKENS and estimate(text[edges[-1] : offset]) > TOKENS:
            edges.append(_cut(text, edges[-1]))
        if offset > edges[-1]:
            edges.append(offset)
        if len(edges) > MOST * TOKENS:  # far more than can be taken
            break
    return list(pairwise(edges))


def _cut(text: str, start: int) -> int:
    """End of a full piece that begins at `start`, at a blank where there is one."""
    length = 4 * TOKENS
    while length > TOKENS // 4 and estimate(text[start : start + length]) > TOKENS:
        length //= 2
    blank = text.rfind(" ", start + length // 2, start + length)
    return blank + 1 if blank > 0 else start + length


def _not_blank(pieces: list[Cleared]) -> list[Cleared]:
    return [piece for candidate in pieces if (piece := edited(candidate, str.strip))]
