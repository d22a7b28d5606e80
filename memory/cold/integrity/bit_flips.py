"""Repair of single bit flips: tries every flip of a damaged row, and accepts the one that matches the hash.

Failing disks and memory mostly flip single bits, which are few enough to try each.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from memory.cold.encoding import digest, to_bytes, unpack
from memory.cold.integrity.row_hashes import seal_of
from memory.errors import Damaged

LONGEST = 4096  # bytes of one column; a longer one would take seconds

Values = tuple[Any, ...]


def row_before(values: Sequence[Any], seal: bytes) -> Values | None:
    """The sealed columns before the flip; None where more than one bit differs."""
    return values_before(values, seal, seal_of)


def values_before(values: Sequence[Any], seal: bytes, seal_of: Callable[[Sequence[Any]], bytes]) -> Values | None:
    """The same for a row of any table, by its seal."""
    for at, value in enumerate(values):
        for variant in _flipped(value):
            candidate = (*values[:at], variant, *values[at + 1 :])
            if seal_of(candidate) == seal:
                return candidate
    return None


def text_before(body: bytes, packed: int, chars: int, sha256: bytes) -> str | None:
    """The stored text of a body, by its SHA-256; None where more than one bit differs."""
    for variant, encoding in chain([(body, 1 - packed)], ((variant, packed) for variant in _flipped(body))):
        try:
            text = unpack(variant, encoding, chars)
        except Damaged:
            continue
        if digest(to_bytes(text)) == sha256:
            return text
    return None


def _flipped(value: object) -> Iterator[Any]:
    match value:
        case int():
            yield from (value ^ bit for bit in _BITS if -(2**63) <= value ^ bit < 2**63)
        case bytes() if len(value) <= LONGEST:
            held = bytearray(value)
            for at in range(len(held)):
                for bit in range(8):
                    held[at] ^= 1 << bit
                    yield bytes(held)
                    held[at] ^= 1 << bit
        case _:
            return


_BITS = [1 << bit for bit in range(63)]
