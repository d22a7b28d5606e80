"""A snippet taken apart, each way when it is first needed: its shingles, its values, its statements, its words."""

from collections.abc import Callable
from functools import cached_property
from zlib import crc32

from foundation.text.analysis import token_spans
from foundation.text.similarity import Shingles, shingles
from memory.search.query.query import Hit
from memory.search.results.statements import Statement, statements
from memory.search.results.values import ClaimValues, said

_ONE_IN = 4  # shingles are sampled by their hash: those of a part are sampled in the whole too
_AT_LEAST = 4  # of a short text
BYTES_A_CHARACTER = 60  # about what all of it takes


class TextFeatures:
    """Of one text."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def shingles(self) -> Shingles:
        return shingles(self.text)

    @cached_property
    def sample(self) -> list[int]:
        """Some of the shingles' hashes: alike texts share one."""
        hashes = sorted(crc32(" ".join(one).encode("utf-8", "surrogatepass")) for one in self.shingles)
        kept = [one for one in hashes if one % _ONE_IN == 0]
        return kept if len(kept) >= _AT_LEAST else list({*kept, *hashes[:_AT_LEAST]})

    @cached_property
    def said(self) -> ClaimValues:
        return said(self.text)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(statements(self.text))

    @cached_property
    def spans(self) -> tuple[tuple[tuple[str, ...], int, int], ...]:
        return tuple(token_spans(self.text))


FeaturesOf = Callable[[Hit], TextFeatures]
"""Gives a hit's snippet, taken apart."""


def afresh(hit: Hit) -> TextFeatures:
    return TextFeatures(hit.snippet)
