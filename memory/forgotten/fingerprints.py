"""Fingerprints of words that are to be found in any bytes, without keeping the words.

A fingerprint is the length of some bytes, a hash of them under the workspace's secret, and twenty bits of a rolling
hash that also depends on the secret. Every position of a file is looked up by those bits, and the few that fit are
compared by the keyed hash. So the journal of a forgetting can go on after a crash, and tells nobody what it looks for.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, cast

from msgspec import Struct

FORGOTTEN: Final = "[forgotten]"
"""What stands in the place of forgotten words."""
SHORTEST: Final = 3  # bytes of what can be looked for
LONGEST: Final = 512
_BITS: Final = 20
_WINDOWS: Final = (2, 4, 8, 16, 32)  # bytes that the rolling hash spans: a power of two, by doubling
_ESCAPED: Final = re.compile(rb"\\(?:[bfnrt]|u[0-9a-fA-F]{4})\Z")
_LONGEST_ESCAPE: Final = 6  # bytes
BLOCK: Final = 2**22  # bytes that are hashed together: some 60 MB of arrays


class Fingerprint(Struct, frozen=True, order=True, omit_defaults=True):
    """Of `length` bytes: the bits of the rolling hash over their beginning, and half of an HMAC-SHA256 in hex.

    `whole`: bytes between letters or digits do not count, such as `4821` in `48210`.
    """

    length: int
    bits: int
    check: str
    whole: bool = False


class ByteSpan(NamedTuple):
    """From `start` up to `end`, in bytes."""

    start: int
    end: int


class Fingerprints:
    """Finds what the fingerprints are of. `secret` is the one under which they were made."""

    def __init__(self, prints: Iterable[Fingerprint], secret: bytes) -> None:
        self.prints = tuple(sorted(set(prints)))
        self._secret = secret
        self._by_window: dict[int, list[Fingerprint]] = {}
        self._tables: dict[int, tuple[Any, dict[int, list[Fingerprint]]]] = {}
        for each in self.prints:
            self._by_window.setdefault(_window(each.length), []).append(each)

    @classmethod
    def of(cls, words: Iterable[bytes], secret: bytes, *, whole: bool = False) -> "Fingerprints":
        """Fingerprints of these bytes; what is too short to be looked for is left out, what is long is cut."""
        kept = {word[:LONGEST] for word in words if len(word) >= SHORTEST}
        multiplier = _multiplier(secret)
        prints = (_fingerprint(word, multiplier, secret, whole=whole and len(word) < LONGEST) for word in kept)
        return cls(prints, secret)

    def __bool__(self) -> bool:
        return bool(self.prints)

    def without(self, others: Iterable[Fingerprint]) -> "Fingerprints":
        """These less those, whether they count as whole words or not."""
        checks = {print_.check for print_ in others}
        return Fingerprints((print_ for print_ in self.prints if print_.check not in checks), self._secret)

    @property
    def distinctive(self) -> "Fingerprints":
        """Those that are found in any place, so not short words."""
        return Fingerprints((print_ for print_ in self.prints if not print_.whole), self._secret)

    def holds(self, data: bytes) -> bool:
        """Whether any of them is in the data."""
        return next(iter(self._hits(data)), None) is not None

    def found(self, data: bytes) -> set[Fingerprint]:
        """Those that are in the data."""
        return {print_ for _, print_ in self._hits(data)}

    def spans(self, data: bytes) -> list[ByteSpan]:
        """Where they are in the data, in order; those that touch are one."""
        spans: list[ByteSpan] = []
        for start, print_ in sorted(self._hits(data)):
            if spans and start <= spans[-1].end:
                spans[-1] = ByteSpan(spans[-1].start, max(spans[-1].end, start + print_.length))
            else:
                spans.append(ByteSpan(start, start + print_.length))
        return spans

    def _hits(self, data: bytes) -> Iterable[tuple[int, Fingerprint]]:
        if not self._by_window:
            return
        longest = max(print_.length for print_ in self.prints)
        for begin in range(0, len(data), BLOCK):
            block = data[begin : begin + BLOCK + longest - 1]
            for position, print_ in self._hits_in(block):
                if position < BLOCK and not (print_.whole and _is_within_a_word(data, begin + position, print_.length)):
                    yield begin + position, print_

    def _hits_in(self, block: bytes) -> Iterable[tuple[int, Fingerprint]]:
        import numpy as np

        multiplier = _multiplier(self._secret)
        hashes: Any = np.frombuffer(block, np.uint8).astype(np.uint32)
        span = 1
        for window in _WINDOWS[: _WINDOWS.index(max(self._by_window)) + 1]:
            if len(hashes) <= window - span:
                return
            power: Any = np.uint32(_power(multiplier, span))
            hashes, span = hashes[: len(hashes) - span] * power + hashes[span:], window
            if window not in self._by_window:
                continue
            wanted, by_bits = self._table(window)
            bits = hashes >> np.uint32(32 - _BITS)
            for position in _positions(wanted[bits]):
                for print_ in by_bits[int(bits[position])]:
                    word = block[position : position + print_.length]
                    if len(word) == print_.length and _check(word, self._secret) == print_.check:
                        yield position, print_

    def _table(self, window: int) -> "tuple[Any, dict[int, list[Fingerprint]]]":
        """Which bits are wanted, and the fingerprints of them; made once, for it takes longer than a short text."""
        if window not in self._tables:
            import numpy as np

            wanted: Any = np.zeros(2**_BITS, bool)
            by_bits: dict[int, list[Fingerprint]] = {}
            for print_ in self._by_window[window]:
                wanted[print_.bits] = True
                by_bits.setdefault(print_.bits, []).append(print_)
            self._tables[window] = wanted, by_bits
        return self._tables[window]


def replaced(prints: Fingerprints, text: str) -> str:
    """The text with `[forgotten]` in the place of what is found in it."""
    raw = text.encode("utf-8", "surrogatepass")
    parts: list[bytes] = []
    at = 0
    for span in prints.spans(raw):
        parts += (raw[at : span.start], FORGOTTEN.encode())
        at = span.end
    return b"".join([*parts, raw[at:]]).decode("utf-8", "replace") if parts else text


def _is_within_a_word(data: bytes, start: int, length: int) -> bool:
    """Whether the bytes begin or end in the middle of a run of ASCII letters and digits. One of an escape is none."""
    end = start + length
    if data[end - 1 : end].isalnum() and data[end : end + 1].isalnum():
        return True
    begins_within = start > 0 and data[start : start + 1].isalnum() and data[start - 1 : start].isalnum()
    return begins_within and not _ESCAPED.search(data[max(0, start - _LONGEST_ESCAPE) : start])


def _positions(hits: Any) -> Sequence[int]:
    return cast("list[int]", hits.nonzero()[0].tolist())


def _power(multiplier: int, span: int) -> int:
    return pow(multiplier, span, 2**32)


def _window(length: int) -> int:
    return max(window for window in _WINDOWS if window <= length)


def _multiplier(secret: bytes) -> int:
    return int.from_bytes(hashlib.sha256(b"rolling" + secret).digest()[:4], "big") | 5


def _fingerprint(word: bytes, multiplier: int, secret: bytes, *, whole: bool) -> Fingerprint:
    rolling = 0
    for byte in word[: _window(len(word))]:
        rolling = (rolling * multiplier + byte) % 2**32
    return Fingerprint(len(word), rolling >> (32 - _BITS), _check(word, secret), whole)


def _check(word: bytes, secret: bytes) -> str:
    return hmac.digest(secret, b"word" + word, "sha256").hex()[:32]
