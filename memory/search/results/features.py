"""Features of a snippet, each computed on first use: shingles, values, statements, token spans."""

from collections.abc import Callable
from functools import cached_property
from zlib import crc32

from foundation.text.analysis import token_spans
from foundation.text.similarity import Shingles, shingles
from memory.search.query.query import Hit
from memory.search.results.statements import Statement, statements
from memory.search.results.utterances import Utterance, read_utterance
from memory.search.results.values import ClaimValues, extract_claims

_ONE_IN = 4  # shingles are sampled by their hash: the sample of a part is within that of the whole
_AT_LEAST = 4  # of a short text
BYTES_A_CHARACTER = 120  # approximate size of all features


class TextFeatures:
    """Features of one text."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def shingles(self) -> Shingles:
        return shingles(self.text)

    @cached_property
    def sample(self) -> list[int]:
        """Hashes of some shingles: similar texts share one."""
        hashes = sorted(crc32(" ".join(shingle).encode("utf-8", "surrogatepass")) for shingle in self.shingles)
        sampled = [shingle for shingle in hashes if shingle % _ONE_IN == 0]
        return sampled if len(sampled) >= _AT_LEAST else list({*sampled, *hashes[:_AT_LEAST]})

    @cached_property
    def claims(self) -> ClaimValues:
        return extract_claims(self.text)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(statements(self.text))

    @cached_property
    def utterance(self) -> Utterance:
        return read_utterance(self.text)

    @cached_property
    def spans(self) -> tuple[tuple[tuple[str, ...], int, int], ...]:
        return tuple(token_spans(self.text))


FeaturesOf = Callable[[Hit], TextFeatures]
"""Gives the features of a hit's snippet."""


def features_of(hit: Hit) -> TextFeatures:
    return TextFeatures(hit.snippet)
