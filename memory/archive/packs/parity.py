"""Parity files of packs: blocks that recover as many lost or damaged blocks of the pack.

    magic │ head │ checks │ parity blocks │ checks │ head │ magic

The pack is split into blocks, assigned to groups round-robin, so that a hole or a truncated end is spread over all
groups. Every block has a checksum of eight bytes; head and checksums are stored twice.

Up to 4 percent, a group has one parity block, the XOR of its blocks: it recovers one of them, with no library. Above,
each group of k blocks has m parity blocks, and any k of the k + m recover all: Reed–Solomon.
https://pypi.org/project/zfec/
"""

import hashlib
import struct
from collections.abc import Iterable
from typing import Any, cast

from msgspec import Struct

from foundation.install_hints import install_extra
from foundation.program import PROGRAM
from memory.archive.packs.storage import Storage
from memory.errors import Damaged, MemoryFailure
from models.errors import MissingLibrary

SUFFIX = ".parity"
MAGIC = b"palparity\x00\x01"

_HEAD = struct.Struct("<32sQIHH32s")  # SHA-256 of the pack, its bytes, bytes a block, k, m, SHA-256 of these
_CHECK = 8
_SMALL, _BLOCK, _LARGE = 256, 4096, 2**18  # bytes a block in packs up to so many, and above
_XOR_BLOCK, _XOR_GROUPS = 1024, 5  # five groups at least: a damaged stretch of 4 KiB touches five blocks
_MOST_XOR = 4  # percent
_MOST_SHARES = 256  # of one group: zfec counts in GF(256)
_LARGEST_PACK, _LARGEST = 2**26, 2**27  # bytes


class ParityLayout(Struct, frozen=True):
    """Layout of a pack of `size` bytes: each group has k blocks of `block` bytes, and m of parity."""

    sha256: bytes
    size: int
    block: int
    k: int
    m: int

    @property
    def blocks(self) -> int:
        return -(-self.size // self.block)

    @property
    def groups(self) -> int:
        return -(-self.blocks // self.k)

    @property
    def is_xor(self) -> bool:
        return self.block == _XOR_BLOCK


def parity_name(pack: str) -> str:
    return pack.partition(".")[0] + SUFFIX


def write_parity(storage: Storage, pack: str, percent: int) -> int:
    """Writes a parity file of `percent` of the pack's size; gives its size. Raises MissingLibrary, Damaged."""
    body = storage.read(pack)
    layout = _layout(body, percent)
    data = _blocks(body, layout)
    parity: list[bytes] = []
    for group in range(layout.groups):
        parity += _encoded(data[group :: layout.groups], layout)
    head, checks = _head(layout), b"".join(map(_check, [*data, *parity]))
    file = b"".join([MAGIC, head, checks, *parity, checks, head, MAGIC])
    storage.write(parity_name(pack), file)
    return len(file)


def parity_is_sound(storage: Storage, pack: str, sha256: bytes) -> bool:
    """Whether the parity file is intact to the last bit, and of a pack with this hash."""
    parity = _opened(storage, pack)
    return parity.whole and parity.layout.sha256 == sha256


def recover_pack(storage: Storage, pack: str, sha256: bytes, size: int) -> bytes | None:
    """Recovers a pack of known hash and size from its remains and its parity.

    None where it has no parity file, or too much is lost. Raises MissingLibrary where zfec is not installed.
    """
    names = storage.names()
    if parity_name(pack) not in names:
        return None
    try:
        parity = _opened(storage, pack)
        if (parity.layout.sha256, parity.layout.size) != (sha256, size):
            return None
        body = storage.read(pack, 0, min(size, storage.size(pack))) if pack in names else b""
    except Damaged:
        return None
    mended = _mended(body, parity)
    return mended if mended is not None and hashlib.sha256(mended).digest() == parity.layout.sha256 else None


def _opened(storage: Storage, pack: str) -> "_Parity":
    name = parity_name(pack)
    if storage.size(name) > _LARGEST:
        raise _damaged(f"it has {storage.size(name):,} bytes")
    return _Parity(storage.read(name))


def _mended(body: bytes, parity: "_Parity") -> bytes | None:
    layout = parity.layout
    data = [block if parity.is_sound(at, block) else None for at, block in enumerate(_blocks(body, layout))]
    for group in range(layout.groups):
        group_blocks = data[group :: layout.groups]
        if None not in group_blocks:
            continue
        shares = [(at, block) for at, block in enumerate(group_blocks) if block is not None]
        shares += [(layout.k + at, block) for at, block in parity.intact_blocks(group)]
        if len(shares) < layout.k:
            return None
        data[group :: layout.groups] = _decoded(sorted(shares[: layout.k]), layout)
    return b"".join(block for block in data if block is not None)[: layout.size]


class _Parity:
    """A parsed parity file. Raises Damaged where both heads are damaged, or contradict the file's size."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.layout = self._read_head()
        layout = self.layout
        self._count = layout.groups * (layout.k + layout.m)
        self._data = layout.groups * layout.k
        length = self._count * _CHECK
        self._start = len(MAGIC) + _HEAD.size
        self._parity_at = self._start + length
        end = self._parity_at + layout.groups * layout.m * layout.block
        if len(body) != end + length + _HEAD.size + len(MAGIC):
            raise _damaged("its length is wrong")
        self._checks = (body[self._start : self._parity_at], body[end : end + length])

    @property
    def whole(self) -> bool:
        head, checks = _head(self.layout), self._checks[0]
        sound = all(self.is_sound(self._data + at, self._block(at)) for at in range(self.layout.groups * self.layout.m))
        return (
            sound
            and checks == self._checks[1]
            and self._body.startswith(MAGIC + head)
            and self._body.endswith(head + MAGIC)
        )

    def is_sound(self, at: int, block: bytes) -> bool:
        """Whether the block matches one of its two checksums. `at` counts data blocks, then parity, group by group."""
        check, where = _check(block), slice(at * _CHECK, (at + 1) * _CHECK)
        return any(checks[where] == check for checks in self._checks)

    def intact_blocks(self, group: int) -> list[tuple[int, bytes]]:
        """Intact parity blocks of the group, with their numbers within it."""
        first = group * self.layout.m
        found = [(at, self._block(first + at)) for at in range(self.layout.m)]
        return [(at, block) for at, block in found if self.is_sound(self._data + first + at, block)]

    def _block(self, at: int) -> bytes:
        start = self._parity_at + at * self.layout.block
        return self._body[start : start + self.layout.block]

    def _read_head(self) -> ParityLayout:
        ends = (len(MAGIC), len(self._body) - len(MAGIC) - _HEAD.size)
        for at in ends:
            words = self._body[at : at + _HEAD.size] if at >= 0 else b""
            if len(words) == _HEAD.size and hashlib.sha256(words[:-32]).digest() == words[-32:]:
                sha256, size, block, k, m, _ = _HEAD.unpack(words)
                is_known = m == 1 if block == _XOR_BLOCK else block in (_SMALL, _BLOCK) and 0 < m <= _MOST_SHARES - k
                if not (0 < size <= _LARGEST_PACK and k > 0 and is_known):
                    raise _damaged("it does not match its pack")
                return ParityLayout(sha256, size, block, k, m)
        raise _damaged("its head is damaged")


def _layout(body: bytes, percent: int) -> ParityLayout:
    if not 0 < percent <= 100:
        raise ValueError(f"parity of {percent} percent")
    if percent <= _MOST_XOR:
        blocks = -(-len(body) // _XOR_BLOCK)
        groups = max(_XOR_GROUPS, -(-blocks * percent // 100))
        k = -(-blocks // groups)
        if -(-blocks // k) < groups:
            k = max(1, blocks // groups)
        return ParityLayout(hashlib.sha256(body).digest(), len(body), _XOR_BLOCK, k, 1)
    block = _SMALL if len(body) <= _LARGE else _BLOCK
    blocks, most = -(-len(body) // block), _MOST_SHARES * 100 // (100 + percent)
    groups = -(-blocks // most)
    k = -(-blocks // groups)
    m = -(-k * percent // 100) + 1  # a hole of that share begins and ends within a block
    return ParityLayout(hashlib.sha256(body).digest(), len(body), block, k, min(m, _MOST_SHARES - k))


def _blocks(body: bytes, layout: ParityLayout) -> list[bytes]:
    """All blocks of all groups; those past the pack's end are zeros."""
    size = layout.block
    count = layout.groups * layout.k
    return [body[at * size : (at + 1) * size].ljust(size, b"\x00") for at in range(count)]


def _encoded(group: list[bytes], layout: ParityLayout) -> list[bytes]:
    """The group's parity blocks."""
    if layout.is_xor:
        return [_xor(group)]
    numbers = list(range(layout.k, layout.k + layout.m))
    return _zfec().Encoder(layout.k, layout.k + layout.m).encode(group, numbers)


def _decoded(shares: list[tuple[int, bytes]], layout: ParityLayout) -> list[bytes]:
    """The group's blocks, from k numbered blocks of it; those from k on are parity."""
    numbers, blocks = [number for number, _ in shares], [block for _, block in shares]
    if not layout.is_xor:
        return _zfec().Decoder(layout.k, layout.k + layout.m).decode(blocks, numbers)
    (lost,) = set(range(layout.k)) - set(numbers)
    return [*blocks[:lost], _xor(blocks), *blocks[lost:-1]]


def _xor(blocks: Iterable[bytes]) -> bytes:
    bits = 0
    for block in blocks:
        bits ^= int.from_bytes(block, "little")
    return bits.to_bytes(_XOR_BLOCK, "little")


def _head(layout: ParityLayout) -> bytes:
    words = struct.pack("<32sQIHH", layout.sha256, layout.size, layout.block, layout.k, layout.m)
    return words + hashlib.sha256(words).digest()


def _check(block: bytes) -> bytes:
    return hashlib.blake2b(block, digest_size=_CHECK).digest()


def _zfec() -> Any:
    try:
        import zfec  # pyright: ignore[reportMissingImports,reportUnknownVariableType] -- it has no types
    except ImportError as error:
        raise MissingLibrary(
            "Parity needs zfec",
            "The packs have parity data, but the library that reads it is not installed.",
            install_extra("parity"),
        ) from error
    return cast("Any", zfec)


def _damaged(why: str) -> MemoryFailure:
    hint = f"`{PROGRAM} check --repair` makes it again."
    return Damaged("Damaged parity", f"The parity of a pack cannot be used: {why}.", hint)
