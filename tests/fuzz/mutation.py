"""Mutations of bytes, from a seed: the same seed gives the same inputs."""

import random
from collections.abc import Sequence

LONGEST = 2**16  # bytes of a mutated input, unless its seed is longer
_ODD = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1)
_SIGNS = (
    b"\x00",
    b"\xff",
    b"\n",
    b"\r\n",
    b'"',
    b"{",
    b"[",
    b"]",
    b"}",
    b":",
    b",",
    b"&",
    b"*",
    b"<",
    b">",
    b"-",
    b" ",
)
_NUMBERS = (b"0", b"-1", b"1e999", b"9" * 30, b"9" * 5000, b"null", b"true", b'"\\ud800"', b"NaN")


def mutated(seeds: Sequence[bytes], words: Sequence[bytes], chance: random.Random) -> bytes:
    """One of the seeds with one to eight changes, or parts of two of them."""
    data = bytearray(chance.choice(seeds))
    if len(seeds) > 1 and chance.random() < 0.1:
        other = chance.choice(seeds)
        data = data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]
    for _ in range(min(8, 1 + int(chance.expovariate(0.7)))):
        _change(data, words, chance)
    return bytes(data[: max(LONGEST, *map(len, seeds))])


def _change(data: bytearray, words: Sequence[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(data) + 1)
    length = min(len(data) - at, 1 + int(chance.expovariate(0.1)))
    match chance.randrange(9):
        case 0 if at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        case 1 if at < len(data):
            data[at] = chance.randrange(256)
        case 2:
            del data[at : at + length]
        case 3:
            data[at:at] = chance.choice(words or _SIGNS)
        case 4:
            data[at:at] = chance.choice(_SIGNS + _NUMBERS)
        case 5:  # a piece again, up to a thousand times
            piece = bytes(data[at : at + length])
            data[at:at] = piece * min(chance.choice((1, 2, 30, 1000)), 1 + LONGEST // max(1, len(piece)))
        case 6:  # a number of some width
            width = chance.choice((1, 2, 4, 8))
            value = (chance.choice(_ODD) + chance.choice((-1, 0, 1))) % 2 ** (8 * width)
            data[at : at + width] = value.to_bytes(width, chance.choice(("little", "big")))
        case 7:
            other = chance.randrange(len(data) + 1)
            data[at : at + length] = data[other : other + length]
        case _:
            del data[at:]
