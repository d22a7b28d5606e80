"""What of an entry is embedded: its text, cut at sentence ends into passages that an embedder can hold whole.

passages("Long text. …")  →  ["Long text. …", "…"]
"""

from itertools import pairwise

from foundation.privacy import Cleared, edited, part_of
from foundation.text.sentences import boundaries
from models.tokens import estimate

VERSION = 1  # another one makes all vectors anew
TOKENS = 200  # small embedders were trained on 128 to 256
MOST = 64  # passages of one entry; what follows in so long a text is found by its words


def passages(text: Cleared) -> list[Cleared]:
    """None where there is nothing to embed; at most `MOST`."""
    text = edited(text, str.strip)
    if len(text) <= 2 * TOKENS or (len(text) <= 8 * TOKENS and estimate(text) <= TOKENS):
        return [text] if text else []
    found: list[Cleared] = []
    start = used = 0
    for first, last in _pieces(text):
        tokens = estimate(text[first:last])
        if used and used + tokens > TOKENS:
            found.append(part_of(text, start, first))
            start, used = first, 0
            if len(found) == MOST:
                return _said(found)
        used += tokens
    return _said([*found, part_of(text, start)])


def _pieces(text: str) -> list[tuple[int, int]]:
    """Sentences and lines, and parts of what is too long for one passage."""
    edges = [0]
    for at in (*boundaries(text), len(text)):
        while at - edges[-1] > TOKENS and estimate(text[edges[-1] : at]) > TOKENS:
            edges.append(_cut(text, edges[-1]))
        if at > edges[-1]:
            edges.append(at)
        if len(edges) > MOST * TOKENS:  # far more than can be taken
            break
    return list(pairwise(edges))


def _cut(text: str, start: int) -> int:
    """Where a piece that begins there is full, at a blank where there is one."""
    length = 4 * TOKENS
    while length > TOKENS // 4 and estimate(text[start : start + length]) > TOKENS:
        length //= 2
    blank = text.rfind(" ", start + length // 2, start + length)
    return blank + 1 if blank > 0 else start + length


def _said(found: list[Cleared]) -> list[Cleared]:
    return [piece for each in found if (piece := edited(each, str.strip))]
